import { noConfig } from '../core/entity/config.ts'
import { AppError, notFound } from '../core/error.ts'
import type { EntityInfo, Runnable } from '../core/runnable.ts'
import { isRunnable } from '../core/runnable.ts'
import type { Registry } from './services.ts'

export function createRegistry(): Registry {
  let entities = new Map<string, Runnable>()
  let listed: { file: string | undefined; ids: ReadonlySet<string> } = { file: undefined, ids: new Set() }

  function current(): (id: string) => Runnable {
    const among = entities
    return (id) => {
      const entity = among.get(id)
      if (entity === undefined) throw notFound('agent', id)
      return entity
    }
  }
  const get = (id: string) => current()(id)

  return {
    register(id, entity) {
      if (typeof id !== 'string' || id.trim() === '')
        throw new AppError('invalid_request', 'An agent id must not be empty.')
      if (entities.has(id)) throw new AppError('conflict', `The agent id '${id}' is already taken.`)
      if (!isRunnable(entity)) {
        throw new AppError(
          'invalid_request',
          `'${id}' is not an agent, a team or a workflow: create it with agent(), team() or workflow().`,
        )
      }
      entities.set(id, entity)
    },
    replace(replacement, file) {
      entities = new Map(replacement)
      listed = { file, ids: new Set(replacement.keys()) }
    },
    find: (id) => entities.get(id),
    get,
    current,
    info: (id) => toInfo(id, get(id)),
    async config(id) {
      const config = (await get(id).describe?.()) ?? noConfig
      const { file, ids } = listed
      return { ...config, source: file === undefined || !ids.has(id) ? null : { file, line: null } }
    },
    list: (kind) =>
      [...entities]
        .filter(([, entity]) => kind === undefined || entity.kind === kind)
        .map(([id, entity]) => toInfo(id, entity)),
    ids: () => [...entities.keys()],
  }
}

function toInfo(id: string, entity: Runnable): EntityInfo {
  return {
    id,
    kind: entity.kind,
    name: entity.name ?? null,
    description: entity.description ?? null,
    model: entity.model ?? null,
    tools: entity.tools.map((tool) => ({ name: tool.name, description: tool.description ?? null })),
    knowledge: entity.knowledge,
    streaming: true,
  }
}
