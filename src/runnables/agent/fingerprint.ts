import { createHash } from 'node:crypto'
import { version } from '../../core/version.ts'

/** A hash of settings that are pure data. Undefined for functions and class instances, which can't be compared. */
export function fingerprint(settings: unknown): string | undefined {
  const data = toData(settings)
  if (data === undefined) return undefined
  return createHash('sha256').update(version).update(JSON.stringify(data)).digest('base64url')
}

/** Sorts keys and drops undefined fields; undefined for anything that is not data. */
function toData(value: unknown): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return [value]
  if (typeof value === 'number') return { number: `${value}` }
  if (Array.isArray(value)) {
    const items = value.map(toData)
    return items.includes(undefined) ? undefined : { items }
  }
  if (typeof value !== 'object' || ![Object.prototype, null].includes(Object.getPrototypeOf(value))) return undefined
  if (Object.getOwnPropertySymbols(value).length > 0) return undefined
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => [key, toData(item)] as const)
  return entries.some(([, item]) => item === undefined) ? undefined : { entries }
}
