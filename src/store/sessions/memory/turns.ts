import type { JsonObject } from '../../../core/json.ts'
import { isEnded } from '../../../core/run.ts'
import type { TurnRestored } from '../../../core/run-write.ts'
import {
  busyTurn,
  covers,
  fromTurn,
  isBarren,
  pathTo,
  replacement,
  restoration,
  type StandingTurn,
  type TurnChange,
  withdrawal,
} from '../../rules/turns.ts'
import { copy, type MemoryState, type RunRow, type SessionRow, turnsOf } from './rows.ts'
import { touch } from './sessions.ts'

interface MemoryTurn extends StandingTurn {
  row: RunRow
}

export function treeOf(session: SessionRow): MemoryTurn[] {
  return turnsOf(session).map(turnOf)
}

export function turnOf(row: RunRow): MemoryTurn {
  const { run_id, created_at, replaced_by, follows = null, status, messages } = row.record
  return { run_id, created_at, replaced_by, follows, isBarren: isBarren(status, messages.length < 2), status, row }
}

/** The conversation as the run saw it, with the run. */
export function conversationOf(session: SessionRow, runId: string): RunRow[] {
  return pathTo(treeOf(session), runId).map(({ row }) => row)
}

export function findStateBefore(state: MemoryState, runId: string): JsonObject | null | undefined {
  return findState(state, runId, 0)
}

export function findStateAfter(state: MemoryState, runId: string): JsonObject | null | undefined {
  return findState(state, runId, 1)
}

/** From before the first change by the turns from the `first` one on, counted from the run. */
function findState(state: MemoryState, runId: string, first: number): JsonObject | null | undefined {
  const session = state.sessions.get(state.runs.get(runId)?.record.session_id ?? '')
  const rows = session === undefined ? [] : fromTurn(treeOf(session), runId).map(({ row }) => row)
  const last = rows.at(-1)
  if (session === undefined || last === undefined) return undefined
  const changing = rows.slice(first).find(({ stateBefore }) => stateBefore !== undefined)
  if (changing?.stateBefore !== undefined) return copy(changing.stateBefore)
  return copy(isShown(last) || last.replacedState === undefined ? session.state : last.replacedState)
}

export function isShown({ record }: RunRow): boolean {
  return record.replaced_by === null
}

/** Undefined when the turn can be replaced. */
export function whyNotReplaced(session: SessionRow | undefined, runId: string) {
  const turn = session && turnsOf(session).find(({ record }) => record.run_id === runId)
  if (turn === undefined) return { outcome: 'turn_missing' as const }
  const { replaced_by: by } = turn.record
  return by === null ? undefined : { outcome: 'replaced' as const, by }
}

/** Call it before the new run is stored. Gives the replaced turns that have not ended. */
export function replaceTurns(state: MemoryState, session: SessionRow, runId: string, by: string, at: string): string[] {
  const change = replacement(
    treeOf(session).filter(({ row }) => isShown(row)),
    runId,
    by,
  )
  mark(state, session, change, at)
  return change.away.filter(({ row }) => !isEnded(row.record.status)).map(({ run_id }) => run_id)
}

/** When the run begins: gives the session the state from before the turns that it replaced. */
export function rewindState(session: SessionRow, runId: string): void {
  const replaced = turnsOf(session).filter(({ record }) => record.replaced_by === runId)
  const last = replaced.at(-1)
  if (last === undefined) return
  last.replacedState = session.state
  const first = replaced.find(({ stateBefore }) => stateBefore !== undefined)
  if (first?.stateBefore !== undefined) session.state = first.stateBefore
}

/** Keeps the state from before the run first changed it. */
export function keepStateBefore(row: RunRow, session: SessionRow): void {
  if (row.stateBefore === undefined) row.stateBefore = session.state
}

/** After a run ended that said nothing. */
export function bringBack(state: MemoryState, session: SessionRow, runId: string, at: string): void {
  const change = withdrawal(treeOf(session), runId)
  if (change !== undefined) move(state, session, change, at)
}

export function restoreTurn(state: MemoryState, runId: string, at: string): TurnRestored {
  const row = state.runs.get(runId)
  const session = row && state.sessions.get(row.record.session_id)
  if (row === undefined || session === undefined) return { outcome: 'missing' }
  if (isShown(row)) return { outcome: 'current' }
  const turns = treeOf(session)
  const change = restoration(turns, runId)
  const busy = busyTurn(turns, change)
  if (busy !== undefined) return { outcome: 'busy', run_id: busy.run_id }
  move(state, session, change, at)
  touch(session, at)
  return { outcome: 'restored' }
}

/** The state goes with the conversation. */
export function move(state: MemoryState, session: SessionRow, change: TurnChange<MemoryTurn>, at: string): void {
  const [left, joined] = [change.away.at(-1)?.row, change.back.at(-1)?.row]
  const restored = joined?.replacedState
  if (left !== undefined) left.replacedState = session.state
  if (joined !== undefined) joined.replacedState = undefined
  if (restored !== undefined) session.state = restored
  mark(state, session, change, at)
}

function mark(state: MemoryState, session: SessionRow, change: TurnChange<MemoryTurn>, at: string): void {
  const first = change.away[0]
  const { summary } = session
  if (summary !== null && first !== undefined && covers(summary, change.place, first)) {
    session.summary = null
    const { session_id } = session
    state.summaryJobs.set(session_id, { at: state.summaryJobs.get(session_id)?.at ?? at, attempts: 0 })
  }
  for (const { run_id, replaced_by, follows } of change.marks) {
    const record = state.runs.get(run_id)?.record
    if (record === undefined) continue
    record.replaced_by = replaced_by
    if (follows !== null) record.follows = follows
  }
}
