import type { ResolvedConfig } from '../../config/types.ts'
import { modelsOf } from '../../core/model.ts'
import { type FoundModel, findModels } from '../../models/found.ts'
import { describeModel } from '../../models/name.ts'
import { offlineModelName } from '../../models/offline.ts'

export type { FoundModel }

export interface ServedModel {
  name: string
  entityIds: string[]
  /** The setting that chose it, or the missing one. */
  reason: string
}

/** The models in use, in the order of the entities. Entities without a model are skipped. */
export function servedModels({ entities, model }: ResolvedConfig): ServedModel[] {
  const common = model === undefined ? [] : modelsOf(model).map(describeModel)
  const models = new Map<string, ServedModel>()
  for (const [id, { model: first, fallbackModels = [] }] of entities) {
    for (const name of first === undefined ? [] : new Set([first, ...fallbackModels])) {
      const known = models.get(name)
      if (known !== undefined) known.entityIds.push(id)
      else models.set(name, { name, entityIds: [id], reason: reasonOf(name, common) })
    }
  }
  return [...models.values()]
}

/** Models that could be configured when none is. Asks servers on this machine, for at most half a second. */
export async function unusedModels(config: ResolvedConfig, signal?: AbortSignal): Promise<FoundModel[]> {
  const isOffline = servedModels(config).some(({ name }) => name === offlineModelName)
  return isOffline ? findModels({ root: config.root, signal }) : []
}

/** The first model that could be configured for a project, of those that `findModels` finds. */
export async function modelAtHand(root: string): Promise<FoundModel | undefined> {
  const [found] = await findModels({ root })
  return found
}

function reasonOf(name: string, common: readonly string[]): string {
  if (name === offlineModelName) return 'no model is configured, so answers quote the knowledge base'
  return common.includes(name) ? '`model` of the config' : 'a `model` of its own'
}
