import { isAppError } from '../core/error.ts'
import type { EntityKind } from '../core/run.ts'
import type { Runnable } from '../core/runnable.ts'
import { nearest } from '../core/text/nearest.ts'
import { show } from '../schema/field.ts'
import type { ConfigParts, EntityBinding } from './parts.ts'
import type { CheckedConfig } from './settings/user.ts'

const kinds = [
  ['agents', 'agent'],
  ['teams', 'team'],
  ['workflows', 'workflow'],
] as const satisfies readonly (readonly [keyof CheckedConfig, EntityKind])[]

const entityId = /^[^\s/?#\p{Cc}]{1,128}$/u

/** All entities of a config, in its order. Collects the problems of all of them. */
export function resolveEntities(
  user: CheckedConfig,
  binding: Omit<EntityBinding, 'id'>,
  parts: Pick<ConfigParts, 'toRunnable'>,
  complain: (path: string, message: string) => void,
): Map<string, Runnable> {
  const entities = new Map<string, Runnable>()
  const owners = new Map<string, string>()
  for (const [key, kind] of kinds) {
    for (const [id, value] of Object.entries(user[key])) {
      const path = `${key}.${id}`
      const owner = owners.get(id)
      if (!entityId.test(id)) complain(path, "is not an id: write 1 to 128 characters without spaces, '/', '?' and '#'")
      else if (owner !== undefined) complain(path, `has the same id as ${owner}: give it another`)
      else {
        owners.set(id, path)
        const entity = resolveEntity(value, kind, { ...binding, id }, parts, (message) => complain(path, message))
        if (entity !== undefined) entities.set(id, entity)
      }
    }
  }
  for (const [id, entity] of entities) {
    for (const member of memberIds(entity)) {
      if (owners.has(member)) continue
      complain(`${owners.get(id)}.members`, unknownId(member, [...owners.keys()]))
    }
  }
  return entities
}

/** Schedules and webhooks name entities of the config. */
export function checkNamed(
  { schedules, webhooks }: CheckedConfig,
  ids: readonly string[],
  complain: (path: string, message: string) => void,
): void {
  for (const [name, { agent }] of Object.entries(schedules)) {
    if (!ids.includes(agent)) complain(`schedules.${name}.agent`, unknownId(agent, ids))
  }
  for (const [name, { agents = [] }] of Object.entries(webhooks)) {
    for (const agent of agents) {
      if (!ids.includes(agent)) complain(`webhooks.${name}.agents`, unknownId(agent, ids))
    }
  }
}

function unknownId(id: string, ids: readonly string[]): string {
  const meant = nearest(id, ids)
  const hint = meant === undefined ? `; ids: ${ids.join(', ')}` : `; did you mean '${meant}'`
  return `names '${id}', which is not an agent, team or workflow of this config${hint}`
}

function memberIds(entity: Runnable & { memberIds?: readonly string[] }): readonly string[] {
  return entity.memberIds ?? []
}

function resolveEntity(
  value: unknown,
  kind: EntityKind,
  binding: EntityBinding,
  parts: Pick<ConfigParts, 'toRunnable'>,
  complain: (message: string) => void,
): Runnable | undefined {
  const expected = `${kind}({ … })${kind === 'agent' ? ' or an AI SDK Agent' : ''}`
  if (typeof value !== 'object' || value === null) {
    complain(`must be ${expected}, not ${show(value)}`)
    return undefined
  }
  try {
    const entity = parts.toRunnable(value, kind, binding)
    if (entity === undefined) complain(`is not ${kind === 'agent' ? 'an agent' : `a ${kind}`}; expected ${expected}`)
    else if (entity.kind !== kind) complain(`is a ${entity.kind}: write it under ${entity.kind}s`)
    else return entity
  } catch (error) {
    if (!isAppError(error)) throw error
    complain(error.message)
  }
  return undefined
}
