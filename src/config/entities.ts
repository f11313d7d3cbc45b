import { isAppError } from '../core/error.ts'
import type { EntityKind } from '../core/run.ts'
import type { Runnable } from '../core/runnable.ts'
import type { ConfigParts, EntityBinding } from './parts.ts'
import { type Complain, show } from './settings/check.ts'
import type { UserConfig } from './types.ts'

const kinds = [
  ['agents', 'agent'],
  ['teams', 'team'],
  ['workflows', 'workflow'],
] as const satisfies readonly (readonly [keyof UserConfig, EntityKind])[]

const entityId = /^[^\s/?#\p{Cc}]{1,128}$/u

/** All entities of a config, in its order. What is wrong with one is complained about; the others are still looked at. */
export function resolveEntities(
  user: UserConfig,
  binding: Omit<EntityBinding, 'id'>,
  parts: Pick<ConfigParts, 'toRunnable'>,
  complain: Complain,
): Map<string, Runnable> {
  const entities = new Map<string, Runnable>()
  const owners = new Map<string, string>()
  for (const [key, kind] of kinds) {
    for (const [id, value] of Object.entries(user[key] ?? {})) {
      const path = `${key}.${id}`
      const owner = owners.get(id)
      if (!entityId.test(id)) complain(path, "is no id; allowed: 1 to 128 characters without spaces, '/', '?' and '#'")
      else if (owner !== undefined) complain(path, `has an id that is taken by ${owner}`)
      else {
        owners.set(id, path)
        const entity = resolveEntity(value, kind, { ...binding, id }, parts, (message) => complain(path, message))
        if (entity !== undefined) entities.set(id, entity)
      }
    }
  }
  return entities
}

function resolveEntity(
  value: unknown,
  kind: EntityKind,
  binding: EntityBinding,
  parts: Pick<ConfigParts, 'toRunnable'>,
  complain: (message: string) => void,
): Runnable | undefined {
  const allowed = `${kind}({ … })${kind === 'agent' ? ' or an AI SDK Agent' : ''}`
  if (typeof value !== 'object' || value === null) {
    complain(`is ${show(value)}; allowed: ${allowed}`)
    return undefined
  }
  try {
    const entity = parts.toRunnable(value, kind, binding)
    if (entity === undefined) complain(`is nothing that runs; allowed: ${allowed}`)
    else if (entity.kind !== kind) complain(`is of kind ${entity.kind}; write it under ${entity.kind}s`)
    else return entity
  } catch (error) {
    if (!isAppError(error)) throw error
    complain(error.message)
  }
  return undefined
}
