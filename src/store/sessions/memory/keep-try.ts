import { isTry } from '../../../core/run.ts'
import type { KeptTry, TryKept } from '../../../core/run-write.ts'
import { keeping, tryGone, whyNotKept } from '../../rules/turns.ts'
import { deleteFiles } from './files.ts'
import { deletePushConfigs } from './push.ts'
import type { MemoryState, RunRow } from './rows.ts'
import { touch } from './sessions.ts'
import { findStateBefore, move, treeOf, turnOf } from './turns.ts'

export function keepTry(state: MemoryState, { run_id: runId, turn, at }: KeptTry): TryKept {
  const row = state.runs.get(runId)
  const session = row && state.sessions.get(row.record.session_id)
  if (row === undefined || session === undefined) return { outcome: 'missing' }
  const refused = whyNotKept(lookOf(row))
  if (refused !== undefined) return refused
  const decided = keeping(treeOf(session), turnOf(row), turn)
  if ('outcome' in decided) return decided
  const before = findStateBefore(state, turn) ?? null
  const rows = withChildren(state, [runId])
  const ids = new Set(rows.map(({ record }) => record.run_id))
  session.runs = [...session.runs.filter(({ record }) => !ids.has(record.run_id)), ...rows]
  for (const one of rows) {
    const { record } = one
    record.again_of = one === row && record.again_of !== null ? { ...record.again_of, keep: 'replace' } : null
    // The order of all runs is that in which they are stored.
    state.runs.delete(record.run_id)
    state.runs.set(record.run_id, one)
  }
  const { replaced_by, follows } = decided.own
  row.record.replaced_by = replaced_by
  if (follows !== null) row.record.follows = follows
  row.stateBefore = before
  row.replacedState ??= before
  move(state, session, decided.change, at)
  touch(session, at)
  return { outcome: 'kept' }
}

/** With all that belongs to it. Throws `conflict` when it is no ended try (any more). */
export function takeTry(state: MemoryState, runId: string): RunRow {
  const row = state.runs.get(runId)
  if (row === undefined || whyNotKept(lookOf(row)) !== undefined) {
    throw tryGone(runId)
  }
  removeRuns(state, [runId])
  return row
}

/** With their child runs. Gives how many they were. */
export function removeRuns(state: MemoryState, runIds: readonly string[]): number {
  const gone = new Set(withChildren(state, runIds).map(({ record }) => record.run_id))
  deleteFiles(state, ({ run_id }) => gone.has(run_id))
  deletePushConfigs(state, gone)
  for (const id of gone) {
    const session = state.sessions.get(state.runs.get(id)?.record.session_id ?? '')
    if (session !== undefined) session.runs = session.runs.filter(({ record }) => record.run_id !== id)
    state.runs.delete(id)
  }
  return gone.size
}

function lookOf({ record }: RunRow) {
  return { isTry: isTry(record), isChild: record.parent_run_id !== null, status: record.status }
}

/** Children are stored after their parents. */
function withChildren(state: MemoryState, runIds: readonly string[]): RunRow[] {
  const ids = new Set(runIds)
  const isOne = ({ record }: RunRow) => {
    const is = ids.has(record.run_id) || ids.has(record.parent_run_id ?? '')
    if (is) ids.add(record.run_id)
    return is
  }
  return [...state.runs.values()].filter(isOne)
}
