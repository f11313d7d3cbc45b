import { jsonSize } from '../../../runtime/json-size.ts'
import type { RunRow } from './rows.ts'

const usualReadBytes = 32 * 1024 * 1024

/** The first rows that one read may return; at least one, if there is one. `whole`: with what callers gave. */
export function takeWithin(rows: readonly RunRow[], maxBytes = usualReadBytes, whole = false): RunRow[] {
  let left = maxBytes
  const end = rows.findIndex(({ record: { messages, metadata, sources, given } }, place) => {
    left -= jsonSize([messages.map(({ parts }) => parts), metadata, sources, whole ? given : null], maxBytes)
    return left < 0 && place > 0
  })
  return end === -1 ? [...rows] : rows.slice(0, end)
}
