import type { Page, PageRequest } from '../../core/page.ts'
import { type Run, runStatuses } from '../../core/run.ts'
import type { Session } from '../../core/session.ts'
import type { RunFilter, SessionFilter } from '../../core/store.ts'
import { decodeCursor, encodeCursor } from '../cursor.ts'
import type { SqlRow, SqlValue } from './connection.ts'
import { ownersOf } from './group.ts'
import { type SessionTexts, toRun, toSessionRecord } from './rows.ts'
import { selectRunPage, selectSessionPage } from './selects.ts'

type All = (sql: string, params: readonly SqlValue[]) => Promise<SqlRow[]>

/** Walks the index of one owner's sessions when an owner is named; the other owners are looked up row by row. */
export async function sessionPage(all: All, filter: SessionFilter, page: PageRequest): Promise<Page<Session>> {
  const [first, ...others] = ownersOf(filter as Record<string, string>)
  const [time, id] = first ? ['owner_updated_at', 'owner_session_id'] : ['updated_at', 'session_id']
  const conditions: string[] = first ? ['owner_kind = ?', 'owner_id = ?'] : []
  const params: SqlValue[] = first ? [...first] : []
  for (const [kind, owner] of others) {
    conditions.push(`EXISTS (SELECT 1 FROM session_owners AS other WHERE other.owner_session_id = session_id
      AND other.owner_kind = ? AND other.owner_id = ?)`)
    params.push(kind, owner)
  }
  const table = first ? 'session_owners CROSS JOIN sessions ON session_id = owner_session_id' : 'sessions'
  const rows = await all(
    selectSessionPage(`FROM ${table} ${keyset(conditions, params, time ?? '', id ?? '', page)}`),
    params,
  )
  const items = rows.map((row) => toSessionRecord(row as unknown as SessionTexts).session)
  return cut(items, page.limit, (session) => ({ time: session.updated_at, id: session.session_id }))
}

export async function runPage(all: All, filter: RunFilter, page: PageRequest): Promise<Page<Run>> {
  if (filter.status !== undefined && !runStatuses.includes(filter.status)) return { items: [], next: null }
  const conditions: string[] = []
  const params: SqlValue[] = []
  const wanted: [string, string | undefined][] = [
    ['run_session_id', filter.session_id],
    ['run_user_id', filter.user_id],
    ['entity_id', filter.agent_id],
    ['status', filter.status],
  ]
  for (const [column, value] of wanted) {
    if (value === undefined) continue
    conditions.push(`${column} = ?`)
    params.push(value)
  }
  const from = `FROM runs ${keyset(conditions, params, 'run_created_at', 'run_id', page)}`
  const rows = await all(selectRunPage(from), params)
  const items = rows.map((row) => toRun(JSON.parse(row.run_row as string) as SqlValue[]))
  return cut(items, page.limit, (run) => ({ time: run.created_at, id: run.run_id }))
}

/** One row more than the page holds, newest first; adds what it binds to `params`. */
function keyset(conditions: string[], params: SqlValue[], time: string, id: string, page: PageRequest): string {
  const after = decodeCursor(page.cursor)
  if (after !== undefined) {
    conditions.push(`(${time}, ${id}) < (?, ?)`)
    params.push(after.time, after.id)
  }
  params.push(page.limit + 1)
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  return `${where} ORDER BY ${time} DESC, ${id} DESC LIMIT ?`
}

function cut<T>(items: T[], limit: number, keysetOf: (item: T) => { time: string; id: string }): Page<T> {
  if (items.length <= limit) return { items, next: null }
  const shown = items.slice(0, limit)
  const last = shown.at(-1)
  return { items: shown, next: last === undefined ? null : encodeCursor(keysetOf(last)) }
}
