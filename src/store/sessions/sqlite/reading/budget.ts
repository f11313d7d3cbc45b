import type { SqlValue } from '../../../sqlite/connection.ts'

/*
 * One read is bounded by bytes, however large the rows are. A result longer than V8's longest string ends the process,
 * since the binding throws where no code can catch it, and one that just fits blocks the event loop.
 */

/** What one read may give, unless the store is told otherwise. */
export const usualReadBytes = 32 * 1024 * 1024
/** What one statement may give; a single larger row is read by itself. */
const statementBytes = 1024 * 1024
/** What one reader's part of a shared statement may have, since it is parsed in one turn of the event loop. */
const partBytes = 4 * 1024 * 1024
/** With more rows in one statement, most would be too large to come with the others. */
const rowsAtOnce = 4096

/** How many requests for so many rows each share a statement. */
export function requestsAtOnce(rows: number): number {
  return Math.max(1, Math.floor(rowsAtOnce / rows))
}

/** The most bytes of a row that comes with others, when so many requests for so many rows are answered together. */
export function rowBytes(maxBytes: number, requests: number, rows: number): number {
  return Math.floor(Math.min(Math.min(partBytes, maxBytes) / rows, maxBytes / (requests * rows)))
}

/** Takes as many from the front as one statement reads; at least one, if there is one. */
export function takeStep<Row extends { bytes?: SqlValue }>(rows: Row[], maxBytes = statementBytes): Row[] {
  let count = 0
  for (let bytes = 0; count < rows.length; count++) {
    bytes += Number(rows[count]?.bytes)
    if (count > 0 && bytes > maxBytes) break
  }
  return rows.splice(0, count)
}
