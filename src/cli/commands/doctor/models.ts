import type { ResolvedConfig } from '../../../config/types.ts'
import { modelLacks, sentenceModelState } from '../../../server/model-needs.ts'
import { servedModels, unusedModels } from '../../../server/served-models.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

/** The models in use and the ones that could be. Keys are reported as set, never shown. */
export async function checkModels(config: ResolvedConfig): Promise<Finding[]> {
  const served = servedModels(config).map(({ name, entityIds, reason }) => {
    const lacking = modelLacks(name, config.root)
    if (lacking !== undefined) return wrong('model', `${name} for ${entityIds.join(', ')} ${lacking.lack}`, lacking.fix)
    return ok('model', `${name} for ${entityIds.join(', ')}: ${reason}`)
  })
  const unused = (await unusedModels(config)).map(({ evidence, install, write }) =>
    warning(
      'model',
      `${evidence}, but no model is configured`,
      [install, `write ${write}`].filter(Boolean).join(', and '),
    ),
  )
  return [...served, ...unused]
}

export async function checkSentenceModel({ server }: ResolvedConfig): Promise<Finding[]> {
  if (!['auto', 'transformers'].includes(server.embedding?.provider ?? '')) return []
  const { model, folder, missing } = await sentenceModelState()
  if (missing === undefined) return [ok('embedder', `${model} is in ${folder}`)]
  const fix = 'agentserve knowledge reindex --embedder transformers'
  if (server.embedding?.provider === 'transformers') return [wrong('embedder', missing, fix)]
  return [warning('embedder', `${missing}, so search compares words instead of meanings`, fix)]
}
