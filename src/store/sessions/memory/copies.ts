import { AppError } from '../../../core/error.ts'
import type { RunRecord } from '../../../core/run.ts'
import type { RunPiece, SessionHead } from '../../../core/session.ts'
import { takeWithin } from './budget.ts'
import { restoreHandovers } from './handovers.ts'
import { copy, type MemoryState, type RunRow, recordOf, type SessionRow } from './rows.ts'
import { keepEvents } from './runs.ts'
import { insertSession } from './sessions.ts'

export function readRecords(
  state: MemoryState,
  sessionId: string,
  after: string | undefined,
  limit: number,
  maxBytes?: number,
): RunRecord[] {
  const runs = state.sessions.get(sessionId)?.runs ?? []
  const from = after === undefined ? 0 : runs.findIndex(({ record }) => record.run_id === after) + 1
  return takeWithin(runs.slice(from, from + limit), maxBytes, true).map(recordOf)
}

export async function gatherRuns(pieces: AsyncIterable<RunPiece>): Promise<RunRow[]> {
  const rows: RunRow[] = []
  for await (const piece of pieces) {
    if ('run' in piece) {
      const { run } = piece
      const reserveUntil = run.end_seq ?? 0
      rows.push({ record: copy(run), owner: '', fence: 1, reserveUntil, startState: null, events: [] })
      continue
    }
    const row = rows.at(-1)
    if (row !== undefined) keepEvents(row, piece.events)
  }
  return rows
}

export function restoreSession(state: MemoryState, head: SessionHead, runs: readonly RunRow[]): SessionRow {
  const { session, summary } = head
  const { shared_with, updated_at, ...seed } = session
  const { session_id } = seed
  if (state.sessions.has(session_id)) throw new AppError('conflict', `Session '${session_id}' already exists.`)
  const ids = new Set<string>()
  for (const { record } of runs) {
    const isTaken = ids.has(record.run_id) || state.runs.has(record.run_id)
    if (isTaken) throw new AppError('conflict', `Run '${record.run_id}' already exists.`)
    ids.add(record.run_id)
  }
  const row = insertSession(state, seed)
  row.updated_at = updated_at
  row.summary = copy(summary)
  for (const list of ['agent_ids', 'team_ids', 'workflow_ids', 'user_ids'] as const) {
    row.owners[list] = [...new Set([...shared_with[list], ...row.owners[list]])]
  }
  for (const run of runs) {
    row.runs.push(run)
    state.runs.set(run.record.run_id, run)
    if (run.record.parent_run_id === null) row.latest = run
  }
  restoreHandovers(row, head)
  return row
}
