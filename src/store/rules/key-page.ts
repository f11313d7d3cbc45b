import { cutPage, encodeCursor, type Keyset } from './cursor.ts'

/** The places of the items of a page, in its order. `next` is set while there may be more; the page may then be short. */
export interface KeyPage {
  keys: Keyset[]
  next: string | null
}

export interface ScannedKey extends Keyset {
  fits: boolean
}

/** A page ends after so many items that don't fit. */
const scannedAtMost = 4_000

/** `found` has one more than the limit if there are more. */
export function cutKeys(found: Keyset[], limit: number): KeyPage {
  const { items, next } = cutPage(found, limit, (key) => key)
  return { keys: items, next }
}

/** Those that fit, from a list that has no index for that. `read` gets at most `most` of the list; the pieces grow. */
export async function scanKeys(
  after: Keyset | undefined,
  limit: number,
  read: (after: Keyset | undefined, most: number) => Promise<ScannedKey[]>,
): Promise<KeyPage> {
  const keys: Keyset[] = []
  let last = after
  let left = scannedAtMost
  for (let atOnce = 2 * limit; left > 0; atOnce *= 2) {
    const most = Math.min(atOnce, left)
    const scanned = await read(last, most)
    for (const { time, id, fits } of scanned) {
      last = { time, id }
      if (fits) keys.push(last)
      if (keys.length > limit) return cutKeys(keys, limit)
    }
    if (scanned.length < most) return { keys, next: null }
    left -= most
  }
  return { keys, next: last === undefined ? null : encodeCursor(last) }
}
