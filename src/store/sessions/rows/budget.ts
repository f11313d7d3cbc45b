/**
 * Limits one read by bytes. A result longer than V8's longest string ends the process with SQLite, since its binding throws
 * where no code can catch it; one that just fits blocks the event loop.
 */

/** Maximum size of a read by default. */
export const usualReadBytes = 32 * 1024 * 1024
/** Maximum size of one statement's result; a larger row is read by itself. */
const statementBytes = 1024 * 1024
/** Maximum size of one caller's part of a shared statement, because it is parsed in one go. */
const partBytes = 4 * 1024 * 1024
/** With more rows per statement, most would be too large to share it. */
const rowsAtOnce = 4096

/** How many requests of this many rows share a statement. */
export function requestsAtOnce(rows: number): number {
  return Math.max(1, Math.floor(rowsAtOnce / rows))
}

/** Maximum size of a row in a shared statement of this many requests and rows. */
export function rowBytes(maxBytes: number, requests: number, rows: number): number {
  return Math.floor(Math.min(Math.min(partBytes, maxBytes) / rows, maxBytes / (requests * rows)))
}

/** The first rows that fit one statement; at least one, if there is one. */
export function takeStep<Row extends { bytes?: unknown }>(rows: Row[], maxBytes = statementBytes): Row[] {
  let count = 0
  for (let bytes = 0; count < rows.length; count++) {
    bytes += Number(rows[count]?.bytes)
    if (count > 0 && bytes > maxBytes) break
  }
  return rows.splice(0, count)
}
