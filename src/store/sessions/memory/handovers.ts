import { isEnded } from '../../../core/run.ts'
import type { Handover, OwnerKind, SessionHead } from '../../../core/session.ts'
import type { MemoryState, RunRow, SessionRow } from './rows.ts'
import { runOf, turnsOf } from './rows.ts'

/** The runs that an earlier user may read, and the later ones; undefined if the user never had the session. */
function splitFor(row: SessionRow | undefined, userId: string): { readable: RunRow[]; later: RunRow[] } | undefined {
  if (row?.owners.user_ids.includes(userId) !== true) return undefined
  const last = row.readUntil.get(userId)
  const turns = turnsOf(row)
  const count = last === undefined ? 0 : turns.indexOf(last) + 1
  return { readable: turns.slice(0, count), later: turns.slice(count) }
}

export function findHandover(
  state: MemoryState,
  sessionId: string,
  userId: string,
  newest: number,
): Handover | undefined {
  const split = splitFor(state.sessions.get(sessionId), userId)
  if (split === undefined) return undefined
  const next = split.later[0]?.record
  const later = new Set(split.later.map(({ record }) => record.run_id))
  const last = split.readable.findLast(({ record: { replaced_by: by } }) => by === null || later.has(by))
  return {
    last: last?.record.run_id ?? null,
    run_count: split.readable.length,
    runs: split.readable.slice(-newest).map(runOf),
    next: next === undefined ? null : { run_id: next.run_id, created_at: next.created_at },
  }
}

export function listHandovers(state: MemoryState, sessionId: string): Record<string, string | null> {
  const row = state.sessions.get(sessionId)
  const last = (user: string) => splitFor(row, user)?.readable.findLast(({ record }) => isEnded(record.status))
  return Object.fromEntries((row?.owners.user_ids ?? []).map((user) => [user, last(user)?.record.run_id ?? null]))
}

/** The turns that a user may read, and those of the conversation as the user sees it; undefined for a stranger. */
export function turnsFor(row: SessionRow, userId?: string): { turns: RunRow[]; shown: RunRow[] } | undefined {
  if (userId === undefined || row.user_id === userId) {
    const turns = turnsOf(row)
    return { turns, shown: turns.filter(({ record }) => record.replaced_by === null) }
  }
  const split = splitFor(row, userId)
  if (split === undefined) return undefined
  const later = new Set<string | null>(split.later.map(({ record }) => record.run_id))
  const isShown = ({ record: { replaced_by: by } }: RunRow) => by === null || later.has(by)
  return { turns: split.readable, shown: split.readable.filter(isShown) }
}

/** Whether a reader learns that the turn was replaced: an earlier user does when it was so at the handover. */
export function isReplacedFor(
  row: SessionRow,
  { record: { replaced_by: by } }: RunRow,
  userId: string | undefined,
): boolean {
  if (by === null || userId === undefined || row.user_id === userId) return by !== null
  return splitFor(row, userId)?.readable.some(({ record }) => record.run_id === by) === true
}

/** For searches: the present user sees all messages, an earlier one those up to the handover. */
export function isReadableBy(row: SessionRow, run: RunRow, userId: string): boolean {
  return row.user_id === userId || splitFor(row, userId)?.readable.includes(run) === true
}

export function isBefore(state: MemoryState, runId: string, otherId: string): boolean {
  const [run, other] = [state.runs.get(runId), state.runs.get(otherId)]
  if (run === undefined || other === undefined) return false
  const runs = state.sessions.get(other.record.session_id)?.runs ?? []
  return runs.includes(run) && runs.indexOf(run) < runs.indexOf(other)
}

/** Call it before a handover: records how far the present user may read afterwards. */
export function keepReach(row: SessionRow): void {
  const last = turnsOf(row).at(-1)
  if (row.user_id === null) return
  if (last === undefined) row.readUntil.delete(row.user_id)
  else row.readUntil.set(row.user_id, last)
}

export function restoreHandovers(row: SessionRow, { session, handovers = {} }: SessionHead): void {
  const turns = turnsOf(row)
  for (const user of session.shared_with.user_ids) {
    const last = Object.hasOwn(handovers, user)
      ? turns.find(({ record }) => record.run_id === handovers[user])
      : turns.findLast(({ record }) => record.user_id === user)
    if (last !== undefined) row.readUntil.set(user, last)
  }
}

/** False unless the session was handed over by that owner. */
export function removeOwner(row: SessionRow, kind: OwnerKind, owner: string): boolean {
  const list = `${kind}_ids` as const
  if (row[`${kind}_id`] === owner || !row.owners[list].includes(owner)) return false
  row.owners[list] = row.owners[list].filter((id) => id !== owner)
  if (kind === 'user') row.readUntil.delete(owner)
  return true
}
