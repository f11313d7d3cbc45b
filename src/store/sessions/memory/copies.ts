import { AppError } from '../../../core/error.ts'
import { isTurn, type RunRecord } from '../../../core/run.ts'
import type { CopiedFile, RunPiece, SessionHead } from '../../../core/session.ts'
import { hashOf } from '../../rules/file-pieces.ts'
import { takeWithin } from './budget.ts'
import { keepFile } from './files.ts'
import { restoreHandovers } from './handovers.ts'
import { takeTry } from './keep-try.ts'
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

export interface Gathered {
  runs: RunRow[]
  files: { file: CopiedFile; runId: string; hash: string }[]
}

export async function gatherRuns(pieces: AsyncIterable<RunPiece>): Promise<Gathered> {
  const rows: RunRow[] = []
  const files: Gathered['files'] = []
  for await (const piece of pieces) {
    if ('file' in piece) {
      files.push({ file: piece.file, runId: piece.run_id, hash: await hashOf(piece.file.bytes) })
      continue
    }
    if ('run' in piece) {
      const { run } = piece
      const reserveUntil = run.end_seq ?? 0
      rows.push({ record: copy(run), owner: '', fence: 1, reserveUntil, startState: null, events: [] })
      continue
    }
    const row = rows.at(-1)
    if (row !== undefined) keepEvents(row, piece.events)
  }
  return { runs: rows, files }
}

/** `instead`: the try that goes with it. */
export function restoreSession(
  state: MemoryState,
  head: SessionHead,
  { runs, files }: Gathered,
  instead?: string,
): SessionRow {
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
  const tried = instead === undefined ? undefined : takeTry(state, instead)
  const row = insertSession(state, seed)
  if (tried?.replacedState !== undefined) row.state = tried.replacedState
  row.updated_at = updated_at
  row.summary = copy(summary)
  for (const list of ['agent_ids', 'team_ids', 'workflow_ids', 'user_ids'] as const) {
    row.owners[list] = [...new Set([...shared_with[list], ...row.owners[list]])]
  }
  for (const run of runs) {
    row.runs.push(run)
    state.runs.set(run.record.run_id, run)
    if (isTurn(run.record)) row.latest = run
  }
  for (const { file, runId, hash } of files) {
    keepFile(state, { ...file, session_id, run_id: runId, size: file.bytes.byteLength }, hash)
  }
  restoreHandovers(row, head)
  return row
}
