import type { RunBatch, RunEnd } from '../../../../core/run-write.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { judgeEnd, judgeEvents } from '../../../rules/run-rules.ts'
import { encodeLargeBatch, type StoredBatch, type StoredPart } from '../../rows/event-batch.ts'
import { type HotAnswer, HotWrite } from './hot-write.ts'
import { type LockedRun, lockRun, Overtaken } from './look.ts'
import { madeTexts } from './made-texts.ts'
import { lockRefusedRuns, refuseRuns } from './refuse.ts'
import { reopen } from './reopen.ts'
import type { Settled } from './settle.ts'
import { bringBack } from './turns.ts'

export interface EndContext {
  /** It was sent before, and may have been written. */
  again: boolean
  isLarge: boolean
  /** Whether to look for the runs that may be next. */
  turns: boolean
}

export async function settleAppend(
  sql: Sql,
  batch: RunBatch,
  { isLarge }: EndContext,
): Promise<Settled<'ok' | 'gone' | 'fenced'>> {
  const run = await lockRun(sql, batch.run_id)
  const verdict = judgeEvents(run, batch.fence)
  if (run === undefined || verdict !== 'ok') return { outcome: verdict, recorded: [], turns: [] }
  const encoded = await encodeLargeBatch(batch.events, run.recorded_seq)
  await writeBatch(sql, run, batch, encoded, isLarge)
  return { outcome: 'ok', recorded: [batch.run_id], turns: [] }
}

/** `encoded`: with numbers after those that the run has recorded. */
export async function writeBatch(
  sql: Sql,
  run: LockedRun,
  batch: Pick<RunBatch, 'run_id' | 'fence' | 'reserve_until' | 'checked'>,
  encoded: StoredBatch | undefined,
  isLarge: boolean,
): Promise<void> {
  const rows = new HotWrite(isLarge)
  rows.addBatch(batch as RunBatch, encoded && { ...encoded, parts: [encoded.parts[0]] })
  if (!(await rows.write(sql, 0, false)).appends.has(batch.run_id)) throw new Overtaken()
  await addParts(sql, run.run_number, encoded?.parts.slice(1) ?? [])
}

export async function settleEnd(sql: Sql, given: RunEnd, context: EndContext): Promise<Settled> {
  const { bringsBack, refused, ...end } = given
  if (bringsBack === true) delete end.state
  if (refused !== undefined) await lockRefusedRuns(sql, [...refused, end.run_id])
  const run = await lockRun(sql, end.run_id)
  const verdict = judgeEnd(run, end.fence)
  if (run === undefined || verdict !== 'ok') {
    const isMine = context.again && run !== undefined && isWritten(run, end)
    return { outcome: isMine ? 'ok' : verdict, recorded: [], turns: [] }
  }
  const kept = run.is_ended ? await reopen(sql, end.run_id) : []
  const turns = await writeEnd(sql, run, { ...end, fence: run.fence, messages: [...kept, ...end.messages] }, context)
  if (bringsBack === true) await bringBack(sql, end.run_id, run.session_id, end.completed_at)
  if (refused !== undefined) await refuseRuns(sql, refused)
  return { outcome: 'ok', recorded: [end.run_id], turns }
}

/** Gives the runs that may be next. */
async function writeEnd(
  sql: Sql,
  run: LockedRun,
  end: RunEnd,
  { isLarge, turns }: EndContext,
): Promise<HotAnswer['turns']> {
  const batch = await encodeLargeBatch(end.events, run.recorded_seq)
  await addParts(sql, run.run_number, batch?.parts.slice(0, -1) ?? [])
  const rows = new HotWrite(isLarge)
  const last = batch?.parts.at(-1)
  rows.addEnd(end, batch && last && { ...batch, parts: [last] }, await madeTexts(end.messages))
  const answer = await rows.write(sql, 0, turns)
  if (!answer.ends.has(end.run_id)) throw new Overtaken()
  return answer.turns
}

/** Whether the run has this very end. */
function isWritten(run: LockedRun, end: RunEnd): boolean {
  return run.status === end.status && run.end_seq === end.end_seq && (end.fence === null || run.fence === end.fence)
}

const partCharacters = 4 * 1024 * 1024

/** The parts of a batch that are neither in the row of the run nor in the batch's own. */
async function addParts(sql: Sql, runNumber: number, parts: readonly StoredPart[]): Promise<void> {
  for (let from = 0; from < parts.length; ) {
    let to = from
    for (let characters = 0; to < parts.length && characters < partCharacters; to++)
      characters += parts[to]?.text.length ?? 0
    const some = parts.slice(from, to)
    await sql.run(
      `INSERT INTO event (run_number, first_seq, batch) SELECT $1::bigint, x.q, x.t
       FROM unnest($2::int[], $3::text[]) AS x(q, t)`,
      [runNumber, some.map(({ firstSeq }) => firstSeq), some.map(({ text }) => text)],
    )
    from = to
  }
}
