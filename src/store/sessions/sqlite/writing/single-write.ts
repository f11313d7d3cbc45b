import { AppError } from '../../../../core/error.ts'
import type { JsonObject } from '../../../../core/json.ts'
import type { Message } from '../../../../core/message.ts'
import { type EntityKind, isTry, isTurn, type RunGiven, type RunStatus } from '../../../../core/run.ts'
import type {
  EventsAppended,
  RunBatch,
  RunBegun,
  RunEnd,
  RunFinished,
  RunResume,
  RunResumed,
  RunStart,
  RunStarted,
} from '../../../../core/run-write.ts'
import { stringifyLarge } from '../../../../runtime/json.ts'
import { judgeEnd, judgeEvents, mayResume } from '../../../rules/run-rules.ts'
import { type BeginRun, isLarge, type RunWrite } from '../../../rules/run-writes.ts'
import type { Connection } from '../../../sqlite/connection.ts'
import { encodeLargeBatch } from '../../rows/event-batch.ts'
import { fromJson, messageRows, toJson } from '../../rows/rows.ts'
import { readRecord } from '../reading/records.ts'
import { inTheWay, isHidden } from '../schema/hidden.ts'
import { type MadeTexts, type RowLookup, type RunWriteOutcome, WriteBatch } from './batch.ts'
import { insertBatch, toLargeParams } from './batch-insert.ts'
import { dropClaim, freeClaim } from './claims.ts'
import { bringBack, findReplaced, replaceTurns, rewindState } from './turns.ts'
import { takeBackUsage } from './usage.ts'

/**
 * Writes one item by itself inside the writer's transaction: reads the present rows, then uses the same statement as a
 * whole batch. No other write can come in between. A large statement is built in several ticks.
 */

export async function writeSingly(writer: Connection, write: RunWrite, now: string): Promise<RunWriteOutcome> {
  switch (write.kind) {
    case 'start':
      return startRun(writer, write.start, now)
    case 'begin':
      return beginRun(writer, write.begin)
    case 'append':
      return appendEvents(writer, write.batch)
    case 'finish':
      return finishRun(writer, write.end, isLarge(write))
  }
}

async function startRun(writer: Connection, start: RunStart, now: string): Promise<RunStarted> {
  const { run, claim, replaces } = start
  const session = isTry(run) ? null : start.session
  if (claim !== null) {
    const taken = await freeClaim(writer, claim.key, now)
    if (taken !== undefined && taken.run_id !== claim.over) return { outcome: 'claimed', claim: taken }
  }
  const [present] = await writer.all('SELECT 1 FROM sessions WHERE session_id = ?', [run.session_id])
  if (present === undefined && session === null) return { outcome: 'session_missing' }
  if (present === undefined && (await isHidden(writer, run.session_id))) throw inTheWay(run.session_id)
  const turns = replaces === undefined ? undefined : await findReplaced(writer, run.session_id, replaces)
  if (turns !== undefined && 'outcome' in turns) return turns
  const running = run.status === 'running'
  if (running && isTurn(run) && (await isBusy(writer, run.session_id))) return { outcome: 'busy' }
  if ((await writer.all('SELECT 1 FROM runs WHERE run_id = ?', [run.run_id])).length > 0) {
    throw new AppError('conflict', `Run '${run.run_id}' already exists.`)
  }
  if (claim?.over !== undefined) await dropClaim(writer, claim.key)
  const superseded = turns && (await replaceTurns(writer, turns, run))
  if (running && turns !== undefined) await rewindState(writer, run.run_id, run.session_id)
  // A queued run that replaces turns always has a state, so that its beginning comes here.
  const state = isTry(run) ? null : (start.state ?? (turns === undefined || running ? null : {}))
  const becomes =
    present !== undefined && running && state !== null
      ? { ...(await readState(writer, run.session_id)), ...state }
      : undefined
  const rows = new WriteBatch(
    knowing(run.session_id, present !== undefined),
    await madeTexts(run.messages, start.unchecked, run.given),
  )
  rows.addStart({ ...start, state }, undefined, becomes)
  await writeRows(writer, rows)
  const outcome = running ? 'started' : 'queued'
  return { outcome, fence: 1, created_session: present === undefined, ...(superseded && { superseded }) }
}

async function readState(writer: Connection, sessionId: string): Promise<JsonObject | null> {
  const [session] = await writer.all('SELECT state FROM sessions WHERE session_id = ?', [sessionId])
  return fromJson<JsonObject>(session?.state)
}

async function beginRun(writer: Connection, begin: BeginRun): Promise<RunBegun> {
  const run = await lookUp(writer, begin.runId)
  if (run === undefined || run.status !== 'queued' || run.fence !== begin.fence) return 'gone'
  if (run.parent_run_id === null && (await isBusy(writer, run.sessionId))) return 'wait'
  let becomes: JsonObject | undefined
  if (run.startState !== null) {
    await rewindState(writer, begin.runId, run.sessionId)
    if (Object.keys(run.startState).length > 0)
      becomes = { ...(await readState(writer, run.sessionId)), ...run.startState }
    await writer.run('UPDATE runs SET start_state = NULL WHERE run_id = ?', [begin.runId])
  }
  const rows = new WriteBatch(knowing(run.sessionId, true))
  rows.addBegin(begin, run.isTry ? null : run.sessionId, becomes)
  await writeRows(writer, rows)
  return 'begun'
}

async function appendEvents(writer: Connection, batch: RunBatch): Promise<EventsAppended> {
  const run = await lookUp(writer, batch.run_id)
  const verdict = judgeEvents(run, batch.fence)
  if (run === undefined || verdict !== 'ok') return verdict
  const rows = new WriteBatch(knowing(run.sessionId, true))
  const encoded = await encodeLargeBatch(batch.events, run.recordedSeq)
  rows.addBatch(batch.run_id, batch.fence, batch.reserve_until, encoded, batch.checked)
  await writeRows(writer, rows)
  return 'ok'
}

async function finishRun(writer: Connection, given: RunEnd, large: boolean): Promise<RunFinished> {
  const { bringsBack, ...end } = given
  if (bringsBack === true) delete end.state
  const run = await lookUp(writer, end.run_id)
  const verdict = judgeEnd(run, end.fence)
  if (run === undefined || verdict !== 'ok') return verdict
  const kept = run.ended ? await reopen(writer, end.run_id) : []
  const whole = { ...end, fence: run.fence, messages: [...kept, ...end.messages] }
  const batch = await encodeLargeBatch(end.events, run.recordedSeq)
  const known = knowing(run.sessionId, true)
  // SQLite copies a statement's parameters at once. A paused run takes no batch, only an end.
  const apart = large && !run.ended
  if (apart) {
    const events = new WriteBatch(known)
    events.addBatch(end.run_id, run.fence, 0, batch)
    await writeRows(writer, events)
  }
  const rows = new WriteBatch(known, await madeTexts(whole.messages))
  rows.addEnd(whole, run.isTry ? null : run.sessionId, apart ? undefined : batch)
  await writeRows(writer, rows)
  if (run.isTry && end.state !== undefined) {
    const state = toJson(end.state) ?? 'null'
    await writer.run('UPDATE runs SET replaced_state = ? WHERE run_id = ?', [state, end.run_id])
  }
  if (bringsBack === true) await bringBack(writer, end.run_id, run.sessionId, end.completed_at)
  return 'ok'
}

function knowing(sessionId: string, exists: boolean): RowLookup {
  return { hasSession: (other) => exists && other === sessionId, sessionOf: () => sessionId, isHidden: () => false }
}

async function madeTexts(
  messages: readonly Message[],
  unchecked = false,
  given: RunGiven | null = null,
): Promise<MadeTexts> {
  const made = new Map<object, string>([[messages, await stringifyLarge(messageRows(messages, unchecked))]])
  if (given !== null) made.set(given, await stringifyLarge(given))
  return made
}

async function writeRows(writer: Connection, rows: WriteBatch): Promise<void> {
  await writer.run(insertBatch, await toLargeParams(rows.finish()))
}

async function isBusy(writer: Connection, sessionId: string): Promise<boolean> {
  const sql = `SELECT 1 FROM runs WHERE run_session_id = ? AND status = 'running' AND parent_run_id IS NULL`
  return (await writer.all(sql, [sessionId])).length > 0
}

/** Runs inside the writer's transaction, but not as part of a batch: a resumption is rare. */
export async function resumeRun(writer: Connection, resume: RunResume): Promise<RunResumed> {
  const { run_id: runId, owner, at, events, reserve_until } = resume
  const run = await lookUp(writer, runId)
  if (run === undefined) return { outcome: 'missing' }
  if (!mayResume(run, resume.end_seq) || run.isReplaced) return { outcome: 'moved_on' }
  if (run.parent_run_id === null && (await isBusy(writer, run.sessionId))) return { outcome: 'busy' }
  const fence = run.fence + 1
  await reopen(writer, runId)
  await writer.run(
    `UPDATE runs SET status = 'running', owner = ?, fence = ?, reserve_until = max(reserve_until, ?) WHERE run_id = ?`,
    [owner, fence, reserve_until, runId],
  )
  const rows = new WriteBatch(knowing(run.sessionId, true))
  rows.addBatch(runId, fence, reserve_until, await encodeLargeBatch(events, run.recordedSeq))
  await writeRows(writer, rows)
  if (!run.isTry) await touch(writer, run.sessionId, at)
  return { outcome: 'resumed', fence }
}

/** Removes what the pause wrote as an end, except its events; returns its messages. */
async function reopen(writer: Connection, runId: string): Promise<Message[]> {
  const record = await readRecord((sql, params) => writer.all(sql, params), runId)
  if (record !== undefined) await takeBackUsage(writer, record)
  await writer.run(
    `INSERT INTO events SELECT run_number, last_batch ->> '$[0].seq', last_batch FROM runs
     WHERE run_id = ? AND last_batch IS NOT NULL`,
    [runId],
  )
  await writer.run('UPDATE runs SET ended = NULL, output = NULL, last_batch = NULL WHERE run_id = ?', [runId])
  return record?.messages.filter(({ role }) => role === 'assistant') ?? []
}

interface RunLook {
  sessionId: string
  entity_kind: EntityKind
  /** Empty: a try that is no child run. */
  parent_run_id: string | null
  isTry: boolean
  end_seq: number | null
  status: RunStatus
  ended: boolean
  fence: number
  recordedSeq: number
  isReplaced: boolean
  startState: JsonObject | null
}

async function lookUp(writer: Connection, runId: string): Promise<RunLook | undefined> {
  const sql = `SELECT run_session_id, begun ->> 'entity_kind' AS entity_kind, parent_run_id, status, fence,
      begun ->> '$.again_of.keep' AS keep, ended ->> 'end_seq' AS end_seq, ended IS NOT NULL AS is_ended, recorded_seq, replaced_by, start_state
    FROM runs WHERE run_id = ? AND EXISTS (SELECT 1 FROM sessions WHERE session_id = run_session_id)`
  const [row] = await writer.all(sql, [runId])
  if (row === undefined) return undefined
  return {
    sessionId: row.run_session_id as string,
    entity_kind: row.entity_kind as EntityKind,
    parent_run_id: row.parent_run_id as string | null,
    isTry: row.keep === 'no',
    end_seq: row.end_seq as number | null,
    status: row.status as RunStatus,
    ended: row.is_ended === 1,
    fence: row.fence as number,
    recordedSeq: row.recorded_seq as number,
    isReplaced: row.replaced_by !== null,
    startState: fromJson<JsonObject>(row.start_state),
  }
}

/** Moves the session to the front of its lists and raises its revision. */
export async function touch(writer: Connection, sessionId: string, at: string): Promise<void> {
  await writer.run('UPDATE sessions SET updated_at = ?, revision = revision + 1 WHERE session_id = ?', [at, sessionId])
  await writer.run('UPDATE session_owners SET owner_updated_at = ? WHERE owner_session_id = ?', [at, sessionId])
}
