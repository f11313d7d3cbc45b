import type { RunRecord } from '../../../../core/run.ts'
import type { History, HistoryView } from '../../../../core/store.ts'
import { BatchedReads } from '../../rows/batched-reads.ts'
import { requestsAtOnce, rowBytes } from '../../rows/budget.ts'
import { type LargeRun, perRequest, type Reader, type Requested, readNumbered, selectNumberedTurns } from './records.ts'
import { type SizedColumns, sizedTurns, toRecord, toSmallRecord } from './rows.ts'

const newest = (session: string, which = '') =>
  `WHERE session_id = ${session} AND parent_run_id IS NULL ${which} ORDER BY run_number DESC LIMIT $3`

/** Parameters: the session ids; the maximum size of a turn in a shared statement; the shared limit. */
const selectHistories = perRequest(sizedTurns('$2', newest('request.id', 'AND replaced_by IS NULL')))

const selectAllTurns = sizedTurns('$2', newest('$1'))
const selectAllTurnsBefore = sizedTurns(
  '$2',
  newest('$1', 'AND run_number < (SELECT run_number FROM run AS other WHERE other.run_id = $4)'),
)

/** The turn $4 and, while they are replaced, those before it; then one of the present conversation. */
const path = `WITH RECURSIVE path(place, number, is_shown) AS (
    SELECT 0, run_number, replaced_by IS NULL FROM run WHERE run_id = $4 AND session_id = $1 AND parent_run_id IS NULL
    UNION ALL SELECT place + 1, earlier.run_number, earlier.replaced_by IS NULL FROM path
      CROSS JOIN LATERAL (SELECT follows FROM run WHERE run_number = number LIMIT 1) AS later
      CROSS JOIN LATERAL (SELECT run_number, replaced_by FROM run WHERE run_id = later.follows LIMIT 1) AS earlier
      WHERE NOT is_shown AND place < $3)`
const along = (bound: '<' | '<=') =>
  `${path} ${sizedTurns(
    '$2',
    newest(
      '$1',
      `AND run_number ${bound} (SELECT number FROM path WHERE place = 0)
       AND (run_number IN (SELECT number FROM path)
         OR (replaced_by IS NULL AND run_number < (SELECT number FROM path WHERE is_shown)))`,
    ),
  )}`
const selectTurnsBefore = along('<')
const selectTurnsUpTo = along('<=')

/** Histories of sessions; those of the present conversations with one limit share a statement in one turn. */
export function historyReads(sql: Reader, maxBytes: number) {
  const histories = new Map<number, BatchedReads<SizedColumns & Requested>>()
  const historiesOf = (limit: number) => {
    const rows = limit + 1
    const known = histories.get(limit)
    if (known !== undefined) return known
    const select = (ids: readonly string[]) =>
      sql.all<SizedColumns & Requested>(selectHistories, [ids, rowBytes(maxBytes, ids.length, rows), rows])
    const made = new BatchedReads(select, requestsAtOnce(rows))
    histories.set(limit, made)
    return made
  }
  return async (sessionId: string, limit: number, { before, upTo, replaced }: HistoryView = {}): Promise<History> => {
    const one = (select: string, ...run: string[]) =>
      sql.all<SizedColumns>(select, [sessionId, rowBytes(maxBytes, 1, limit + 1), limit + 1, ...run])
    const rows = await (replaced === true
      ? before === undefined
        ? one(selectAllTurns)
        : one(selectAllTurnsBefore, before)
      : before !== undefined
        ? one(selectTurnsBefore, before)
        : upTo !== undefined
          ? one(selectTurnsUpTo, upTo)
          : historiesOf(limit).read(sessionId))
    return toHistory(sql, rows, limit, maxBytes)
  }
}

/** As many of the newest as one read may give, at least one. `rows`: newest first, with one more than the limit. */
async function toHistory(
  sql: Reader,
  rows: readonly SizedColumns[],
  limit: number,
  maxBytes: number,
): Promise<History> {
  const newestFirst = [...rows].sort((a, b) => b.run_number - a.run_number)
  const shown: SizedColumns[] = []
  const large: LargeRun[] = []
  let bytes = 0
  for (const row of newestFirst.slice(0, limit)) {
    bytes += row.bytes
    if (bytes > maxBytes && shown.length > 0) break
    shown.push(row)
    if (row.begun === null) large.push({ runNumber: row.run_number, bytes: row.bytes })
  }
  const whole = new Map<number, RunRecord>()
  for await (const row of readNumbered(sql, large, selectNumberedTurns)) whole.set(row.run_number, toRecord(row))
  const runs = shown.reverse().flatMap((row) => toSmallRecord(row) ?? whole.get(row.run_number) ?? [])
  return { runs, has_more: rows.length > shown.length }
}
