import { isEnded, isTry, type RunRecord } from '../../../core/run.ts'
import type { PruneRule } from '../../../core/store.ts'
import { takeSmall } from '../../rules/prune.ts'
import { removeRuns } from './keep-try.ts'
import type { MemoryState } from './rows.ts'
import { belongsTo, removeSession } from './sessions.ts'

export function pruneSessions(
  state: MemoryState,
  { olderThan, maxSessions, filter = {}, presentUser }: PruneRule,
  limit: number,
): number {
  const excess = maxSessions === undefined ? 0 : Math.max(0, state.sessions.size - maxSessions)
  const quiet = [...state.sessions.values()]
    .filter((row) => row.runs.every(({ record }) => isEnded(record.status)))
    .sort((a, b) => (`${a.updated_at} ${a.session_id}` < `${b.updated_at} ${b.session_id}` ? -1 : 1))
  const due = quiet.filter(
    (row, place) =>
      place < excess ||
      (olderThan !== undefined &&
        row.updated_at < olderThan &&
        belongsTo(row, filter) &&
        (presentUser === undefined || row.user_id === presentUser)),
  )
  const taken = takeSmall(due.slice(0, limit).map((row) => ({ id: row.session_id, runs: row.runs.length })))
  for (const sessionId of taken) removeSession(state, sessionId)
  return taken.length
}

/** With their child runs. */
export function deleteTries(state: MemoryState, before: string, limit: number): number {
  const isDue = ({ parent_run_id, status, completed_at, ...record }: RunRecord) =>
    parent_run_id === null && isTry(record) && isEnded(status) && (completed_at ?? before) < before
  const due = [...state.runs.values()].filter(({ record }) => isDue(record)).slice(0, limit)
  return removeRuns(
    state,
    due.map(({ record }) => record.run_id),
  )
}
