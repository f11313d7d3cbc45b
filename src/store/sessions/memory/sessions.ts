import { AppError, notFound } from '../../../core/error.ts'
import type { Page, PageRequest } from '../../../core/page.ts'
import type {
  OwnerKind,
  Session,
  SessionChange,
  SessionOwners,
  SessionRecord,
  SessionSeed,
} from '../../../core/session.ts'
import type { SessionFilter, SessionListFilter } from '../../../core/store.ts'
import type { Summary } from '../../../core/summary.ts'
import { decodeCursor, encodeCursor, isAfter, type Keyset } from '../../rules/cursor.ts'
import { deleteFiles } from './files.ts'
import { keepReach, removeOwner, turnsFor } from './handovers.ts'
import { deletePushConfigs } from './push.ts'
import { copy, type MemoryState, type RunRow, type SessionRow, sessionOf } from './rows.ts'

const ownerLists = [
  ['agent_id', 'agent_ids'],
  ['team_id', 'team_ids'],
  ['workflow_id', 'workflow_ids'],
  ['user_id', 'user_ids'],
] as const

export function insertSession(state: MemoryState, seed: SessionSeed): SessionRow {
  const row: SessionRow = {
    ...copy(seed),
    updated_at: seed.created_at,
    revision: 1,
    owners: { agent_ids: [], team_ids: [], workflow_ids: [], user_ids: [] },
    readUntil: new Map(),
    runs: [],
    latest: null,
    summary: null,
  }
  for (const [field, list] of ownerLists) if (row[field] !== null) row.owners[list].push(row[field])
  state.sessions.set(row.session_id, row)
  return row
}

/** Throws `session_not_found`. */
export function getSession(state: MemoryState, sessionId: string): SessionRow {
  const row = state.sessions.get(sessionId)
  if (row === undefined) throw notFound('session', sessionId)
  return row
}

export function recordOf(row: SessionRow): SessionRecord {
  return { session: sessionOf(row, 100), revision: row.revision }
}

export function changeSession(row: SessionRow, change: SessionChange, at: string, revision?: number): SessionRecord {
  if (revision !== undefined && revision !== row.revision) {
    throw new AppError(
      'precondition_failed',
      `The session '${row.session_id}' has changed since it was read. Read it again, then retry.`,
    )
  }
  const { name, metadata, state } = change
  if (name === undefined && metadata === undefined && state === undefined) return recordOf(row)
  if (name !== undefined) row.name = name
  if (metadata !== undefined) row.metadata = copy(metadata)
  if (state !== undefined) row.state = copy(state)
  touch(row, at)
  return recordOf(row)
}

export function shareSession(
  state: MemoryState,
  row: SessionRow,
  owners: Partial<SessionOwners>,
  at: string,
): SessionRecord {
  if (typeof owners.user_id === 'string' && owners.user_id !== row.user_id) {
    const mayGoOn = row.runs.filter(({ record }) => !['completed', 'failed', 'cancelled'].includes(record.status))
    deletePushConfigs(
      state,
      mayGoOn.map(({ record }) => record.run_id),
    )
  }
  keepReach(row)
  for (const [field, list] of ownerLists) {
    const owner = owners[field]
    if (owner === undefined || owner === null) continue
    row[field] = owner
    if (!row.owners[list].includes(owner)) row.owners[list].push(owner)
  }
  touch(row, at)
  return recordOf(row)
}

export function unshareSession(row: SessionRow, kind: OwnerKind, owner: string, at: string): boolean {
  const removed = removeOwner(row, kind, owner)
  if (removed) touch(row, at)
  return removed
}

export function touch(row: SessionRow, at: string): void {
  row.updated_at = at
  row.revision += 1
}

export function removeSession(state: MemoryState, sessionId: string): boolean {
  const row = state.sessions.get(sessionId)
  if (row === undefined) return false
  deleteFiles(state, ({ run_id }) => state.runs.has(run_id), sessionId)
  for (const run of row.runs) state.runs.delete(run.record.run_id)
  deletePushConfigs(
    state,
    row.runs.map(({ record }) => record.run_id),
  )
  state.summaryJobs.delete(sessionId)
  return state.sessions.delete(sessionId)
}

export function setSummary(state: MemoryState, summary: Summary, last: string | undefined): boolean {
  const row = getSession(state, summary.session_id)
  if (last !== undefined && state.runs.get(last)?.record.replaced_by !== null) return false
  row.summary = copy(summary)
  row.revision += 1
  state.summaryJobs.delete(summary.session_id)
  return true
}

export function pageOfSessions(state: MemoryState, filter: SessionListFilter, page: PageRequest): Page<Session> {
  return pageOf(listed(state, filter), keysetOf, (row) => sessionOf(row, 10), page)
}

export function keysetOf(row: SessionRow): Keyset {
  return { time: row.updated_at, id: row.session_id }
}

/** Unordered. */
export function listed(state: MemoryState, filter: SessionListFilter): SessionRow[] {
  const { updated_before, status } = filter
  return [...state.sessions.values()].filter(
    (row) =>
      belongsTo(row, filter) &&
      (updated_before === undefined || row.updated_at < updated_before) &&
      (status === undefined || lastOf(row, readerOf(filter))?.record.status === status),
  )
}

export function readerOf({ as_user, user_id }: SessionListFilter): string | undefined {
  return as_user === true ? user_id : undefined
}

function lastOf(row: SessionRow, reader: string | undefined): RunRow | undefined {
  return turnsFor(row, reader)?.shown.at(-1)
}

/** Whether the owners of the filter have, or had, the session. */
export function belongsTo(row: SessionRow, filter: SessionFilter): boolean {
  return ownerLists.every(([field, list]) => {
    const wanted = filter[field]
    return wanted === undefined || row.owners[list].includes(wanted)
  })
}

/** Sorts newest first and takes one page. */
export function pageOf<Row, Item>(
  rows: Row[],
  keysetOf: (row: Row) => Keyset,
  itemOf: (row: Row) => Item,
  { limit, cursor }: PageRequest,
): Page<Item> {
  const after = decodeCursor(cursor)
  const keyed = rows.map((row) => ({ row, keyset: keysetOf(row) }))
  const rest = after === undefined ? keyed : keyed.filter(({ keyset }) => isAfter(keyset, after))
  rest.sort((a, b) => (isAfter(a.keyset, b.keyset) ? 1 : -1))
  const last = rest.length > limit ? rest[limit - 1] : undefined
  return {
    items: rest.slice(0, limit).map(({ row }) => itemOf(row)),
    next: last === undefined ? null : encodeCursor(last.keyset),
  }
}
