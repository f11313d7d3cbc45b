import { invalidCursor } from '../../core/error.ts'
import type { Page } from '../../core/page.ts'

/** The position after which the next page begins: the sort time, and the id that breaks ties. */
export interface Keyset {
  time: string
  id: string
}

export function encodeCursor(keyset: Keyset): string {
  return Buffer.from(JSON.stringify([keyset.time, keyset.id])).toString('base64url')
}

/** Throws `invalid_request` at path `cursor` for anything that `encodeCursor` did not make. */
export function decodeCursor(cursor: string | undefined): Keyset | undefined {
  if (cursor === undefined) return undefined
  const value = parse(cursor)
  if (Array.isArray(value) && value.length === 2) {
    const [time, id]: unknown[] = value
    if (typeof time === 'string' && typeof id === 'string' && encodeCursor({ time, id }) === cursor) return { time, id }
  }
  throw invalidCursor()
}

/** The number of the run after which the next page of runs begins. */
export function decodeRunNumber(cursor: string | undefined): number | undefined {
  const after = decodeCursor(cursor)
  if (after === undefined) return undefined
  const number = Number(after.id)
  if (Number.isSafeInteger(number)) return number
  throw invalidCursor()
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}

export function isAfter(row: Keyset, keyset: Keyset): boolean {
  return row.time < keyset.time || (row.time === keyset.time && row.id < keyset.id)
}

/** The first `limit` of the items; with more than that, the next page begins after the last of them. */
export function cutPage<T>(items: T[], limit: number, keysetOf: (item: T) => Keyset): Page<T> {
  if (items.length <= limit) return { items, next: null }
  const shown = items.slice(0, limit)
  const last = shown.at(-1)
  return { items: shown, next: last === undefined ? null : encodeCursor(keysetOf(last)) }
}
