import type { RunHead, RunRecord } from '../../../../core/run.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { BatchedReads } from '../../rows/batched-reads.ts'
import { rowBytes, takeStep } from '../../rows/budget.ts'
import {
  type HeadColumns,
  headColumns,
  largeHeadColumns,
  type RecordColumns,
  recordBytes,
  recordColumns,
  type SizedColumns,
  sizedRecords,
  toCopied,
  toHead,
  toRecord,
  toSmallRecord,
  turnColumns,
} from './rows.ts'

export type Reader = Pick<Sql, 'all'>

/** Names its request by its index. */
export interface Requested {
  request_key: number
}

/** One row or more per request; a LATERAL with LIMIT is a probe per request, whatever the planner knows of the table. */
export const perRequest = (found: string) =>
  `SELECT request.place - 1 AS request_key, found.* FROM unnest($1::text[]) WITH ORDINALITY AS request(id, place)
   CROSS JOIN LATERAL (${found}) AS found`

const selectRun = `SELECT ${recordColumns} FROM run WHERE run_id = $1`

/** In a transaction or by itself. `whole`: includes what only the run may see. */
export async function readRecord(sql: Reader, runId: string, whole = false): Promise<RunRecord | undefined> {
  const [row] = await sql.all<RecordColumns>(selectRun, [runId])
  return row && toRecord(row, whole)
}

const selectRecords = perRequest(sizedRecords('$2', 'WHERE run_id = request.id LIMIT 1'))

/** Runs by their ids; those of one turn share a statement. */
export function recordReads(sql: Reader, maxBytes: number): (runId: string) => Promise<RunRecord | undefined> {
  const reads = new BatchedReads((ids) =>
    sql.all<SizedColumns & Requested>(selectRecords, [ids, rowBytes(maxBytes, ids.length, 1)]),
  )
  return async (runId) => {
    const [row] = await reads.read(runId)
    return row && (toSmallRecord(row) ?? readRecord(sql, runId))
  }
}

const selectHeads = perRequest(`SELECT ${headColumns} FROM run WHERE run_id = request.id LIMIT 1`)

/** The same for heads. */
export function headReads(sql: Reader): (runId: string) => Promise<RunHead | undefined> {
  const reads = new BatchedReads((ids) => sql.all<HeadColumns & Requested>(selectHeads, [ids]))
  return async (runId) => {
    const [head] = await wholeHeads(sql, await reads.read(runId))
    return head && toHead(head)
  }
}

/** A run whose texts a shared statement left out. */
export interface LargeRun {
  runNumber: number
  bytes: number
}

const numbered = (columns: string) => `SELECT ${columns} FROM run WHERE run_number = ANY($1::bigint[])`
const selectNumbered = numbered(recordColumns)
export const selectNumberedTurns = numbered(turnColumns)
const selectNumberedHeads = numbered(largeHeadColumns)

/** Unordered, in statements of a bounded size. Leaves out runs that were deleted meanwhile. */
export async function* readNumbered<Row = RecordColumns>(
  sql: Reader,
  looks: readonly LargeRun[],
  select = selectNumbered,
): AsyncGenerator<Row> {
  const waiting = [...looks]
  while (waiting.length > 0) {
    const numbers = takeStep(waiting).map(({ runNumber }) => runNumber)
    yield* await sql.all<Row>(select, [numbers])
  }
}

/** With the ends that the statement left out because they are large. */
export async function wholeHeads<Row extends HeadColumns>(sql: Reader, rows: readonly Row[]): Promise<readonly Row[]> {
  const large = rows.flatMap(({ run_number: runNumber, ended, ended_bytes: bytes }) =>
    ended === null && bytes !== null ? [{ runNumber, bytes }] : [],
  )
  if (large.length === 0) return rows
  const whole = new Map<number, HeadColumns>()
  for await (const row of readNumbered<HeadColumns>(sql, large, selectNumberedHeads)) {
    const { sources: _sources, ...ended } = JSON.parse(row.ended ?? 'null') ?? {}
    whole.set(row.run_number, row.ended === null ? row : { ...row, ended: JSON.stringify(ended) })
  }
  return rows.flatMap((row) => {
    if (row.ended !== null || row.ended_bytes === null) return [row]
    const found = whole.get(row.run_number)
    return found === undefined ? [] : [{ ...row, ...found }]
  })
}

const selectSizes = `SELECT run_number, ${recordBytes} AS bytes FROM run WHERE session_id = $1
  AND run_number > coalesce((SELECT run_number FROM run WHERE run_id = $2), 0) ORDER BY run_number LIMIT $3`

/** All runs of a session in stored order from after one of them, as a copy has them. */
export async function readRecords(
  sql: Reader,
  sessionId: string,
  after: string | undefined,
  limit: number,
  maxBytes: number,
): Promise<RunRecord[]> {
  const rows = await sql.all<{ run_number: number; bytes: number }>(selectSizes, [sessionId, after ?? null, limit])
  const looks = rows.map(({ run_number: runNumber, bytes }) => ({ runNumber, bytes }))
  const records: RecordColumns[] = []
  for await (const row of readNumbered(sql, takeStep(looks, maxBytes))) records.push(row)
  return records.sort((a, b) => a.run_number - b.run_number).map(toCopied)
}
