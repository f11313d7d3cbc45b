import { AppError, invalid } from '../../core/error.ts'
import type { Embedders, Embedding } from '../../core/knowledge-drivers.ts'
import { lexicalEmbedder, lexicalEmbedding } from './lexical.ts'
import { measureDimensions, openAiEmbedder } from './openai.ts'
import { defaultModel, findModel, modelCacheFolder, transformersEmbedder } from './transformers.ts'

export interface EmbedderOptions {
  provider?: 'auto' | 'transformers' | 'lexical' | 'openai' | undefined
  apiKey?: string | undefined
  model?: string | undefined
  baseUrl?: string | undefined
  /** Where models are looked for; default: the user's cache. */
  cacheFolder?: string | undefined
}

const openAiUrl = 'https://api.openai.com/v1'
const openAiModel = 'text-embedding-3-small'

/** All embedders behind one door. Nothing is downloaded: `transformers` needs its model in the cache. */
export function createEmbedders(options: EmbedderOptions): Embedders {
  const cacheFolder = options.cacheFolder ?? modelCacheFolder()
  const endpoint = { baseUrl: options.baseUrl ?? openAiUrl, apiKey: options.apiKey }

  const transformers = async (): Promise<Embedding | { missing: string }> =>
    findModel(cacheFolder, options.provider === 'openai' ? defaultModel : (options.model ?? defaultModel))

  const openAi = async (): Promise<Embedding> => {
    if (options.baseUrl === undefined && options.apiKey === undefined)
      throw new AppError(
        'unavailable',
        "The embedder 'openai' needs embedding.apiKey, or embedding.baseUrl of an endpoint without one.",
      )
    const model = options.model ?? openAiModel
    return { provider: 'openai', model, dimensions: await measureDimensions(endpoint, model) }
  }

  return {
    configured: { provider: options.provider ?? 'auto', model: options.model },
    async resolve(provider = options.provider ?? 'auto') {
      if (provider === 'lexical') return lexicalEmbedding
      if (provider === 'openai') return openAi()
      if (provider !== 'auto' && provider !== 'transformers')
        throw invalid(`'${provider}' is not an embedder: auto, transformers, lexical, openai`, 'embedder')
      const found = await transformers()
      if (!('missing' in found)) return found
      if (provider === 'auto') return lexicalEmbedding
      throw new AppError('unavailable', `The embedder 'transformers' can't be used: ${found.missing}.`)
    },
    async open(embedding) {
      if (embedding.provider === 'lexical') {
        if (embedding.model === lexicalEmbedding.model) return lexicalEmbedder()
        throw new AppError(
          'unavailable',
          `The lexical embedder '${embedding.model}' is of another version; run 'agentserve knowledge reindex'.`,
        )
      }
      if (embedding.provider === 'openai') return openAiEmbedder({ ...endpoint, embedding })
      return transformersEmbedder({ embedding, cacheFolder })
    },
  }
}
