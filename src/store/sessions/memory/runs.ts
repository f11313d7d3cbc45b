import { AppError } from '../../../core/error.ts'
import { endEvent, isFinalEvent, type RunEvent, startEvent } from '../../../core/event.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { Page, PageRequest } from '../../../core/page.ts'
import { hideMessage } from '../../../core/refusal.ts'
import { isEnded, isTry, isTurn, type Run } from '../../../core/run.ts'
import type {
  RunBegun,
  RunEnd,
  RunFinished,
  RunResume,
  RunResumed,
  RunStart,
  RunStarted,
} from '../../../core/run-write.ts'
import type { SessionSeed } from '../../../core/session.ts'
import type { History, HistoryView, RunFilter } from '../../../core/store.ts'
import { jsonSize } from '../../../runtime/json-size.ts'
import { eventPageCharacters } from '../../rules/page-size.ts'
import { judgeEnd, mayResume, startReserve } from '../../rules/run-rules.ts'
import { takeWithin } from './budget.ts'
import { insertClaim, readClaim } from './claims.ts'
import { isBefore } from './handovers.ts'
import { refuseRuns } from './refuse.ts'
import { copy, type MemoryState, type RunRow, runOf, type SessionRow, turnsOf } from './rows.ts'
import { getSession, insertSession, pageOf, touch } from './sessions.ts'
import {
  bringBack,
  conversationOf,
  isShown,
  keepStateBefore,
  replaceTurns,
  rewindState,
  whyNotReplaced,
} from './turns.ts'

export function startRun(state: MemoryState, start: RunStart, now: string): RunStarted {
  const claimed = start.claim === null ? undefined : readClaim(state, start.claim.key, now)
  if (claimed !== undefined && claimed.run_id !== start.claim?.over) return { outcome: 'claimed', claim: claimed }
  const known = state.sessions.get(start.run.session_id)
  const seed = isTry(start.run) ? null : start.session
  if (known === undefined && seed === null) return { outcome: 'session_missing' }
  const { replaces } = start
  const refused = replaces === undefined ? undefined : whyNotReplaced(known, replaces)
  if (refused !== undefined) return refused
  const running = start.run.status === 'running'
  const takesTurn = isTurn(start.run)
  if (running && takesTurn && known !== undefined && isBusy(known)) return { outcome: 'busy' }
  if (state.runs.has(start.run.run_id)) {
    throw new AppError('conflict', `Run '${start.run.run_id}' already exists.`)
  }
  // Throws for values that are not JSON before anything is stored.
  const startState = copy(start.state)
  const row: RunRow = {
    record: copy(start.run),
    owner: start.owner,
    fence: 1,
    reserveUntil: startReserve,
    startState: running || isTry(start.run) ? null : startState,
    events: [],
  }
  const [message] = row.record.messages
  if (start.unchecked === true && message !== undefined) {
    row.unchecked = message
    row.record.messages = [hideMessage(message)]
  }
  const session = known ?? insertSession(state, seed as SessionSeed)
  row.record.user_id ??= session.user_id
  const { run_id: runId, created_at: at } = row.record
  const superseded = replaces === undefined ? undefined : replaceTurns(state, session, replaces, runId, at)
  if (running && !isTry(row.record)) takeState(session, row, startState)
  state.runs.set(row.record.run_id, row)
  session.runs.push(row)
  if (running && takesTurn) session.latest = row
  touchFor(row, session, start.run.created_at)
  if (start.claim !== null) insertClaim(state, start.claim, { run_id: start.run.run_id })
  const outcome = running ? 'started' : 'queued'
  return { outcome, fence: row.fence, created_session: known === undefined, ...(superseded && { superseded }) }
}

/** The run begins: the state of the session becomes the one that the run starts with. */
function takeState(session: SessionRow, row: RunRow, state: JsonObject | null): void {
  rewindState(session, row.record.run_id)
  if (state === null) return
  keepStateBefore(row, session)
  session.state = { ...session.state, ...state }
}

/** A try changes nothing of its session. */
export function touchFor({ record }: RunRow, session: SessionRow, at: string): void {
  if (!isTry(record)) touch(session, at)
}

export function setModelUsage(record: RunRow['record'], usage: RunEnd['usage_by_model']): void {
  if (usage === undefined) delete record.usage_by_model
  else record.usage_by_model = copy([...usage])
}

function isBusy(session: SessionRow): boolean {
  return session.latest?.record.status === 'running'
}

export function beginRun(state: MemoryState, runId: string, fence: number, at: string): RunBegun {
  const row = state.runs.get(runId)
  if (row === undefined || row.record.status !== 'queued' || row.fence !== fence) return 'gone'
  const session = getSession(state, row.record.session_id)
  const takesTurn = isTurn(row.record)
  if (takesTurn && isBusy(session)) return 'wait'
  row.record.status = 'running'
  row.record.started_at = at
  if (takesTurn) session.latest = row
  takeState(session, row, row.startState)
  row.startState = null
  touchFor(row, session, at)
  return 'begun'
}

/** Adds new events; skips numbers that are recorded already and events that are derived. */
export function keepEvents(row: RunRow, events: readonly RunEvent[]): void {
  for (const event of newEvents(row, events)) row.events.push(event)
}

function newEvents(row: RunRow, events: readonly RunEvent[]): RunEvent[] {
  const copies: RunEvent[] = []
  let last = row.events.at(-1)?.seq ?? 1
  for (const event of events) {
    if (event.seq <= last || event.type === 'run_start' || isFinalEvent(event)) continue
    copies.push(copy(event))
    last = event.seq
  }
  return copies
}

/** Makes the message visible to all readers. */
export function showMessage(row: RunRow): void {
  if (row.unchecked !== undefined) row.record.messages = [row.unchecked, ...row.record.messages.slice(1)]
  row.unchecked = undefined
}

export function lookOf({ record, fence }: RunRow) {
  return { status: record.status, entity_kind: record.entity_kind, end_seq: record.end_seq, fence }
}

export function finishRun(state: MemoryState, end: RunEnd): RunFinished {
  const row = state.runs.get(end.run_id)
  const verdict = judgeEnd(row && lookOf(row), end.fence)
  if (row === undefined || verdict !== 'ok') return verdict
  // Throws for values that are not JSON before anything is stored.
  const events = newEvents(row, end.events)
  const messages = copy([...end.messages])
  const sources = copy([...end.sources])
  const waiting = copy([...(end.waiting ?? [])])
  const kept = end.state === undefined ? undefined : copy(end.state)
  for (const event of events) row.events.push(event)
  if (end.checked === true) showMessage(row)
  const { record } = row
  record.status = end.status
  record.completed_at = end.completed_at
  record.end_seq = end.end_seq
  record.cancellation_reason = end.cancellation_reason
  record.error = copy(end.error)
  record.cache_hit = end.cache_hit
  record.usage = copy(end.usage)
  setModelUsage(record, end.usage_by_model)
  record.messages.push(...messages)
  record.sources = sources
  record.waiting = waiting
  const session = getSession(state, record.session_id)
  if (end.bringsBack === true) bringBack(state, session, record.run_id, end.completed_at)
  else if (isTry(record)) {
    if (kept !== undefined) row.replacedState = kept
  } else if (kept !== undefined) {
    keepStateBefore(row, session)
    session.state = kept
  }
  touchFor(row, session, end.completed_at)
  if (end.refused !== undefined) refuseRuns(state, end.refused)
  return 'ok'
}

export function resumeRun(state: MemoryState, resume: RunResume): RunResumed {
  const row = state.runs.get(resume.run_id)
  if (row === undefined) return { outcome: 'missing' }
  const { record } = row
  if (!mayResume(lookOf(row), resume.end_seq) || record.replaced_by !== null) return { outcome: 'moved_on' }
  const session = getSession(state, record.session_id)
  const takesTurn = isTurn(record)
  if (takesTurn && isBusy(session)) return { outcome: 'busy' }
  row.owner = resume.owner
  row.fence += 1
  row.reserveUntil = Math.max(row.reserveUntil, resume.reserve_until)
  record.status = 'running'
  record.completed_at = null
  record.end_seq = null
  record.error = null
  record.usage = null
  setModelUsage(record, undefined)
  record.sources = []
  record.waiting = []
  record.messages = record.messages.slice(0, 1)
  keepEvents(row, resume.events)
  if (takesTurn) session.latest = row
  touchFor(row, session, resume.at)
  return { outcome: 'resumed', fence: row.fence }
}

export function pageOfRuns(state: MemoryState, filter: RunFilter, page: PageRequest): Page<Run> {
  const rows = [...state.runs.values()].filter(
    ({ record }) =>
      (filter.status === undefined || record.status === filter.status) &&
      (filter.agent_id === undefined || record.entity_id === filter.agent_id) &&
      (filter.session_id === undefined || record.session_id === filter.session_id) &&
      (filter.user_id === undefined || record.user_id === filter.user_id) &&
      (filter.parent_run_id === undefined
        ? filter.again === true || !isTry(record)
        : record.parent_run_id === filter.parent_run_id) &&
      (filter.before === undefined || isBefore(state, record.run_id, filter.before)),
  )
  return pageOf(rows, ({ record }) => ({ time: record.created_at, id: record.run_id }), runOf, page)
}

export function readEvents(row: RunRow | undefined, after: number, limit: number): RunEvent[] {
  if (row === undefined || limit <= 0) return []
  const { record } = row
  const result: RunEvent[] = after < 1 ? [startEvent(record)] : []
  let characters = 0
  for (const event of row.events) {
    if (result.length === limit || characters >= eventPageCharacters) return result
    if (event.seq <= after) continue
    result.push(copy(event))
    characters += jsonSize(event, eventPageCharacters)
  }
  const ended = isEnded(record.status) && record.end_seq !== null && record.end_seq > after
  if (ended && result.length < limit) result.push(copy(endEvent(record, record.end_seq ?? 0)))
  return result
}

export function readHistory(
  state: MemoryState,
  sessionId: string,
  limit: number,
  view: HistoryView,
  maxBytes: number | undefined,
): History {
  const session = state.sessions.get(sessionId)
  const rows = session === undefined ? [] : viewOf(session, view)
  const shown = takeWithin(rows.slice(-limit).toReversed(), maxBytes).toReversed()
  return { runs: shown.map(({ record }) => copy({ ...record, given: null })), has_more: rows.length > shown.length }
}

function viewOf(session: SessionRow, { before, upTo, replaced }: HistoryView): RunRow[] {
  const turns = turnsOf(session)
  if (replaced === true) {
    const place = turns.findIndex(({ record }) => record.run_id === before)
    return before === undefined ? turns : turns.slice(0, Math.max(0, place))
  }
  if (before !== undefined) return conversationOf(session, before).slice(0, -1)
  return upTo === undefined ? turns.filter(isShown) : conversationOf(session, upTo)
}
