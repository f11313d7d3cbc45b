import type { RunRecord } from '../../../../core/run.ts'
import type { History } from '../../../../core/store.ts'
import type { SqlRow, SqlValue } from '../../../sqlite/connection.ts'
import { takeStep } from '../../rows/budget.ts'
import { withLater } from '../../rows/later-fields.ts'
import { oldestFirst, type RecordRow, type RunRow, toRunRecord } from '../../rows/rows.ts'
import { selectRecords, selectRun, selectTurns } from './queries.ts'

export type All = (sql: string, params: readonly SqlValue[]) => Promise<SqlRow[]>

/** Replaces a record that is too large for a shared statement. */
export type LargeRow = [runNumber: number, bytes: number]

export function isLargeRow(row: RecordRow | LargeRow): row is LargeRow {
  return typeof row[1] === 'number'
}

/** Unordered, in statements of a bounded size. Leaves out records that were deleted meanwhile. */
export async function* readNumbered(
  all: All,
  looks: readonly { runNumber: number; bytes: number }[],
  select = selectRecords,
  toRecord = (row: SqlRow) => toWholeRecord(row),
): AsyncGenerator<[runNumber: number, RunRecord]> {
  const waiting = [...looks]
  while (waiting.length > 0) {
    const numbers = takeStep(waiting).map(({ runNumber }) => runNumber)
    for (const row of await all(select, [JSON.stringify(numbers)])) {
      yield [row.run_number as number, toRecord(row)]
    }
  }
}

/** `whole`: includes what only the run may see. */
export async function readRecord(all: All, runId: string, whole = false): Promise<RunRecord | undefined> {
  const [row] = await all(selectRun, [runId])
  return row && toWholeRecord(row, whole)
}

/** A whole record for a copy. */
export function toCopied(row: SqlRow): RunRecord {
  const [, , , , , , , , , begun, ended] = JSON.parse(row.run_row as string) as RunRow
  return withLater(toWholeRecord(row), begun, ended)
}

function toWholeRecord(row: SqlRow, whole = false): RunRecord {
  const { run_number, run_row, input, output, given } = row
  const parsed = [run_row, input, output ?? 'null', given ?? 'null'].map((text) => JSON.parse(text as string))
  return toRunRecord([run_number, ...parsed] as RecordRow, whole)
}

/** At most `limit` of the newest runs within `maxBytes`, but at least one. `text` may hold one run more. */
export async function readTurns(all: All, text: string, limit: number, maxBytes: number): Promise<History> {
  const rows = oldestFirst(JSON.parse(text) as (RecordRow | LargeRow)[])
  const shown = rows.slice(-limit)
  const large: { runNumber: number; bytes: number }[] = []
  let left = maxBytes - text.length
  let from = shown.length
  for (; from > 0; from--) {
    const row = shown[from - 1]
    if (row === undefined || !isLargeRow(row)) continue
    const [runNumber, bytes] = row
    left -= bytes
    if (left < 0 && from < shown.length) break
    large.push({ runNumber, bytes })
  }
  const records = new Map<number, RunRecord>()
  for await (const [runNumber, record] of readNumbered(all, large, selectTurns)) records.set(runNumber, record)
  const runs = shown.slice(from).flatMap((row) => {
    const record = isLargeRow(row) ? records.get(row[0]) : toRunRecord(row)
    return record === undefined ? [] : [record]
  })
  return { runs, has_more: rows.length > limit || from > 0 }
}
