import type { ResolvedConfig } from '../../../config/types.ts'
import { modelTroubles, rerankerProblem, sentenceModelState } from '../../../server/served/model-needs.ts'
import { servedModels, unusedModels } from '../../../server/served/models.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

/** The models in use and the ones that could be. Keys are reported as set, never shown. */
export async function checkModels(config: ResolvedConfig, signal: AbortSignal): Promise<Finding[]> {
  const troubles = await modelTroubles(config, { signal })
  const served = servedModels(config).flatMap(({ name, entityIds, reason }) => {
    const found = troubles.filter((trouble) => trouble.name === name)
    if (found.length === 0) return ok('model', `${name} for ${entityIds.join(', ')}: ${reason}`)
    return found.map(({ entityIds, problem, fix, isLasting }) =>
      (isLasting ? wrong : warning)('model', `${name} for ${entityIds.join(', ')}: ${problem}`, fix),
    )
  })
  const unused = (await unusedModels(config, signal)).map(({ evidence, install, write }) =>
    warning(
      'model',
      `${evidence}, but no model is configured`,
      [install, `write ${write}`].filter(Boolean).join(', and '),
    ),
  )
  return [...served, ...unused]
}

export async function checkSentenceModel({ server }: ResolvedConfig): Promise<Finding[]> {
  const provider = server.embedding?.provider
  if (provider === 'auto' || provider === 'static')
    return [ok('embedder', 'static, which is built in and knows English; for other languages: transformers')]
  if (provider !== 'transformers') return []
  const { model, folder, missing } = await sentenceModelState()
  if (missing === undefined) return [ok('embedder', `${model} is in ${folder}`)]
  return [wrong('embedder', missing, 'agentserve knowledge reindex --embedder transformers')]
}

export async function checkReranker(config: ResolvedConfig): Promise<Finding[]> {
  const { rerank } = config.knowledge
  if (rerank === undefined) return []
  const problem = await rerankerProblem(config)
  if (problem === undefined) return [ok('reranker', `${rerank.model} orders the best ${rerank.candidates} results`)]
  const fix = 'put its files there and install @huggingface/transformers, or take knowledge.rerank out of the config'
  return [warning('reranker', `searches go on without a reranker: ${problem}`, fix)]
}
