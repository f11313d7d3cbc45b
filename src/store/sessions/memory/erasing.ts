import { isEnded } from '../../../core/run.ts'
import { deleteFacts } from './facts.ts'
import { deleteFiles } from './files.ts'
import { deletePushConfigs } from './push.ts'
import type { MemoryState, RunRow } from './rows.ts'

/** Erases everything in one step; returns the number of changes. */
export function eraseUser(state: MemoryState, userId: string): number {
  let count = deleteFacts(state, userId)
  for (const [key, { answer, run_id }] of state.claims) {
    const told = (answer as { session?: { user_id?: unknown } } | null)?.session?.user_id
    const run = run_id === null ? undefined : state.runs.get(run_id)?.record
    const owners = [told, run?.user_id, run && state.sessions.get(run.session_id)?.user_id]
    if (!owners.includes(userId) && !key.includes(` ${userId} `)) continue
    state.claims.delete(key)
    count++
  }
  for (const session of state.sessions.values()) {
    const { user_ids } = session.owners
    if (session.user_id === userId) continue
    const isNamed = user_ids.includes(userId)
    if (isNamed) session.owners.user_ids = user_ids.filter((id) => id !== userId)
    const own = session.runs.filter(
      ({ record }) => record.user_id === userId && isEnded(record.status) && record.status !== 'input_required',
    )
    const ownIds = new Set(own.map(({ record }) => record.run_id))
    deleteFiles(state, ({ run_id }) => ownIds.has(run_id), session.session_id)
    deletePushConfigs(state, ownIds)
    for (const row of own) empty(row)
    for (const [key, answer] of state.answers) if (ownIds.has(answer.run_id)) state.answers.delete(key)
    if (own.length > 0) {
      session.summary = null
      session.revision++
    }
    count += own.length + (isNamed ? 1 : 0)
  }
  return count
}

function empty(row: RunRow): void {
  const { error } = row.record
  row.events = []
  row.startState = null
  row.stateBefore = undefined
  row.replacedState = undefined
  row.record = {
    ...row.record,
    user_id: null,
    metadata: null,
    later: undefined,
    messages: [],
    sources: [],
    given: null,
    cancellation_reason: null,
    error: error && { ...error, message: 'erased' },
  }
}
