import { AppError } from '../../../../core/error.ts'
import { RunFold } from '../../../../core/events/fold.ts'
import { createId } from '../../../../core/id.ts'
import type { Run } from '../../../../core/run.ts'
import type { RunEnd } from '../../../../core/run-write.ts'
import type { Recovered } from '../../../../core/store.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { maxRecoveredCharacters } from '../../../rules/run-rules.ts'
import { readBatches } from '../../rows/batches.ts'
import type { Database } from '../database.ts'
import { batchSource } from '../reading/batches.ts'
import { readRecord } from '../reading/records.ts'
import { type HeadColumns, largeHeadColumns, toListed } from '../reading/rows.ts'
import type { Settled } from '../writing/settle.ts'
import { settleEnd } from '../writing/settle-end.ts'

/** Larger output is written in several ticks. */
const largeCharacters = 1024 * 1024

interface TakenRow {
  run_number: number
  run_id: string
  status: 'running' | 'queued'
  background: boolean
  fence: number
  reserve_until: number
  unchecked: boolean
}

type WaitingRow = Pick<TakenRow, 'run_number' | 'run_id' | 'fence' | 'unchecked'>

/** What came of a run that was taken, in stored order by `runNumber`. */
export type Taken = { runNumber: number } & (
  | { interrupted: Run; settled: Settled }
  | { queued: Recovered['queued'][number] }
)

// Who else takes runs leaves out the locked one. A write of the old owner waits, and then finds another fence.
const take = `UPDATE run SET owner = $2, fence = fence + 1, truncated = truncated OR status = 'running'
  WHERE run_number = (SELECT run_number FROM run WHERE owner = $1 AND status IN ('running', 'queued')
    ORDER BY run_number LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING run_number, run_id, status, background, fence, reserve_until, unchecked`

/** Takes the oldest run of an owner that can't write any more, in one transaction. Undefined: no more are there. */
export async function takeRun(
  database: Database,
  owner: number,
  taker: number,
  at: string,
): Promise<Taken | undefined> {
  // Other writes of this process must not wait for many takeovers.
  const taken = await database.work(async (sql) => {
    const [row] = await sql.all<TakenRow>(take, [owner, taker])
    if (row === undefined) return undefined
    return row.status === 'queued' && row.background ? toWaiting(sql, row) : interrupt(sql, row, at)
  }, 'bulk')
  if (taken !== undefined && 'settled' in taken) {
    for (const runId of taken.settled.recorded) database.commits.recorded(runId)
    for (const [runId, key] of taken.settled.turns) database.commits.freed(runId, key)
  }
  return taken
}

const selectWaiting = `SELECT run_number, run_id, fence, unchecked FROM run
  WHERE run_id = $1 AND owner = $2 AND fence = $3 AND status = 'queued'`

/** A run that was taken earlier and still waits under that fence. */
export async function findWaiting(sql: Sql, runId: string, owner: number, fence: number): Promise<Taken | undefined> {
  const [row] = await sql.all<WaitingRow>(selectWaiting, [runId, owner, fence])
  return row && toWaiting(sql, row)
}

async function toWaiting(sql: Sql, { run_number: runNumber, run_id, fence, unchecked }: WaitingRow): Promise<Taken> {
  const run = await readRecord(sql, run_id, true)
  if (run === undefined) throw new AppError('internal', `The run '${run_id}' has no record.`)
  return { runNumber, queued: { run, fence, ...(unchecked && { unchecked: true }) } }
}

async function interrupt(sql: Sql, row: TakenRow, at: string): Promise<Taken> {
  const { run_number: runNumber, run_id: runId } = row
  const fold = new RunFold(maxRecoveredCharacters)
  let characters = 0
  for await (const batch of readBatches(batchSource(sql, runId), 0)) {
    fold.addRecorded(batch.events)
    characters += batch.characters
  }
  const end = toEnd(row, fold, at)
  const settled = await settleEnd(sql, end, { again: false, isLarge: characters > largeCharacters, turns: true })
  const [head] = await sql.all<HeadColumns>(`SELECT ${largeHeadColumns} FROM run WHERE run_id = $1`, [runId])
  if (head === undefined) throw new AppError('internal', `The run '${runId}' has no record.`)
  return { runNumber, interrupted: toListed(head), settled }
}

/** A message that was never checked is refused. Turns come back that a silent run had replaced. */
function toEnd({ run_id: runId, fence, reserve_until, unchecked }: TakenRow, fold: RunFold, at: string): RunEnd {
  const messages = fold.messages(runId, createId('msg'), at)
  return {
    run_id: runId,
    fence,
    status: 'interrupted',
    completed_at: at,
    end_seq: reserve_until + 1,
    cancellation_reason: null,
    error: null,
    cache_hit: false,
    ...fold.used(),
    events: [],
    messages,
    sources: fold.sources,
    ...(messages.length === 0 && { bringsBack: true }),
    ...(unchecked && { refused: [runId] }),
  }
}
