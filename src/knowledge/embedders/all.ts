import { AppError, invalid } from '../../core/error.ts'
import type { Embedders, Embedding } from '../../core/knowledge/drivers.ts'
import { lexicalEmbedder, lexicalEmbedding } from './lexical.ts'
import { downloadModel } from './model-download.ts'
import { type ModelType, modelCacheFolder } from './model-files.ts'
import { measureDimensions, openAiEmbedder } from './openai.ts'
import { shippedTable, staticEmbedder, staticEmbedding } from './static.ts'
import { defaultModel, findModel, lackOf, transformersEmbedder } from './transformers.ts'
import { describeLack, type Lack } from './transformers-process.ts'

export interface EmbedderOptions {
  provider?: 'auto' | 'static' | 'transformers' | 'lexical' | 'openai' | undefined
  apiKey?: string | undefined
  model?: string | undefined
  baseUrl?: string | undefined
  /** For the sentence model; default: the cached type, or `q8` for a download. */
  dtype?: ModelType | undefined
  /** Default: the user's cache. */
  cacheFolder?: string | undefined
  /** The source of downloads; default: `HF_ENDPOINT` in the environment, else Hugging Face. */
  hub?: string | undefined
  /** How long the hub may send nothing; default 30 s. */
  stallMs?: number | undefined
}

const openAiUrl = 'https://api.openai.com/v1'
const openAiModel = 'text-embedding-3-small'
const hubUrl = 'https://huggingface.co'

/** All embedders. Only `download` downloads: `transformers` needs its model in the cache. */
export function createEmbedders(options: EmbedderOptions): Embedders {
  const cacheFolder = options.cacheFolder ?? modelCacheFolder()
  const endpoint = { baseUrl: options.baseUrl ?? openAiUrl, apiKey: options.apiKey }
  const sentenceModel = options.provider === 'openai' ? defaultModel : (options.model ?? defaultModel)

  const openAi = async (): Promise<Embedding> => {
    if (options.baseUrl === undefined && options.apiKey === undefined)
      throw new AppError(
        'unavailable',
        "The embedder 'openai' needs embedding.apiKey, or embedding.baseUrl of an endpoint without one.",
      )
    const model = options.model ?? openAiModel
    return { provider: 'openai', model, dimensions: await measureDimensions(endpoint, model) }
  }
  const open = (embedding: Embedding, folder: string) =>
    transformersEmbedder({ embedding, cacheFolder: folder, type: options.dtype })

  return {
    beside: lexicalEmbedding,
    configured: { provider: options.provider ?? 'auto', model: options.model },
    async resolve(provider = options.provider ?? 'auto') {
      if (provider === 'auto' || provider === 'static') return staticEmbedding
      if (provider === 'lexical') return lexicalEmbedding
      if (provider === 'openai') return openAi()
      if (provider !== 'transformers')
        throw invalid(`'${provider}' is not an embedder: auto, static, transformers, lexical, openai`, 'embedder')
      const found = await findModel(cacheFolder, sentenceModel, options.dtype)
      if (!('lack' in found)) return found
      throw unusable(found.lack)
    },
    async problem({ provider, model }) {
      if (provider !== 'transformers') return undefined
      const found = await findModel(cacheFolder, model, options.dtype)
      return 'lack' in found ? describeLack(found.lack) : undefined
    },
    async download(provider, { progress, signal } = {}) {
      if (provider !== 'transformers') return
      const lack = lackOf(sentenceModel)
      if (lack !== undefined) throw unusable(lack)
      if (!('lack' in (await findModel(cacheFolder, sentenceModel, options.dtype)))) return
      const verify = async (folder: string) => {
        const embedding = await findModel(folder, sentenceModel, options.dtype)
        if ('lack' in embedding) throw new AppError('unavailable', 'Its config.json has no hidden_size.')
        const embedder = open(embedding, folder)
        await embedder.embedTexts(['ready'], signal).finally(() => embedder.close())
      }
      const hub = options.hub ?? (process.env.HF_ENDPOINT || hubUrl)
      await downloadModel({
        hub,
        model: sentenceModel,
        type: options.dtype ?? 'q8',
        cacheFolder,
        progress,
        signal,
        stallMs: options.stallMs,
        verify,
      })
    },
    async open(embedding) {
      const { provider, model } = embedding
      if (provider === 'lexical' && model === lexicalEmbedding.model) return lexicalEmbedder()
      if (provider === 'static' && model === staticEmbedding.model) return staticEmbedder(await shippedTable())
      if (provider === 'lexical' || provider === 'static')
        throw new AppError(
          'unavailable',
          `The ${provider} embedder '${model}' is of another version; run 'agentserve knowledge reindex'.`,
        )
      if (provider === 'openai') return openAiEmbedder({ ...endpoint, embedding })
      return open(embedding, cacheFolder)
    },
  }
}

function unusable(lack: Lack): AppError {
  return new AppError('unavailable', `The embedder 'transformers' can't be used: ${describeLack(lack)}.`)
}
