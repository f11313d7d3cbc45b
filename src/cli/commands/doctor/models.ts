import type { ResolvedConfig } from '../../../config/types.ts'
import { sentenceModelsLack } from '../../../server/served/libraries.ts'
import {
  modelTroubles,
  rerankerProblem,
  type SentenceModel,
  sentenceModelState,
} from '../../../server/served/model-needs.ts'
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
  return provider === 'transformers' ? [await checkTransformers(server.embedding)] : []
}

/** What the embedder of a collection needs, or of the configuration. */
export async function checkTransformers(wanted: SentenceModel): Promise<Finding> {
  const { model, folder, lack } = await sentenceModelState(wanted)
  return lack ? wrong('embedder', lack.problem, lack.fix) : ok('embedder', `${model} is in ${folder}`)
}

/** The package is for those who want it: without it only what uses it is wrong. */
export function checkTransformersPackage(): Finding {
  const lack = sentenceModelsLack()
  if (lack === undefined) return ok('library', '@huggingface/transformers is installed (embeds sentences)')
  return ok('library', `@huggingface/transformers is not installed; for sentence models: ${lack.fix}`)
}

export async function checkReranker(config: ResolvedConfig): Promise<Finding[]> {
  const { rerank } = config.knowledge
  if (rerank === undefined) return []
  const problem = await rerankerProblem(config)
  if (problem === undefined) return [ok('reranker', `${rerank.model} orders the best ${rerank.candidates} results`)]
  const fix = 'put its files there, or take knowledge.rerank out of the config'
  return [warning('reranker', `searches go on without a reranker: ${problem}`, fix)]
}
