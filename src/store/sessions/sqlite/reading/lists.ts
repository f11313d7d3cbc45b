import type { Page, PageRequest } from '../../../../core/page.ts'
import { type Run, runStatuses } from '../../../../core/run.ts'
import type { RunFilter, SessionFilter, SessionListFilter } from '../../../../core/store.ts'
import { cutPage, decodeCursor, decodeRunNumber, type Keyset } from '../../../rules/cursor.ts'
import type { SqlValue } from '../../../sqlite/connection.ts'
import { noTurn, ownersOf, toRun } from '../../rows/rows.ts'
import { isShown } from '../schema/hidden.ts'
import { selectRunPage } from './queries.ts'
import type { All } from './records.ts'

/** Conditions for the sessions that all these owners have or had. */
export function ownedBy(filter: SessionFilter): { conditions: string; params: SqlValue[] } {
  let conditions = ''
  const params: SqlValue[] = []
  for (const [kind, owner] of ownersOf(filter)) {
    conditions += ` AND (${kind}_id = ? OR EXISTS (SELECT 1 FROM session_owners AS other
      WHERE other.owner_session_id = session_id AND other.owner_kind = ? AND other.owner_id = ?))`
    params.push(owner, kind, owner)
  }
  return { conditions, params }
}

export const newestFirst = 'ORDER BY listed_at DESC, listed_id DESC'

/** One page of whole rows, without regard to `status`. */
export function listedSessions(filter: SessionListFilter, page: PageRequest): { from: string; params: SqlValue[] } {
  const { listed, params } = listedKeys(filter, decodeCursor(page.cursor))
  const from = `FROM (${listed} ${newestFirst} LIMIT ?) CROSS JOIN sessions ON session_id = listed_id ${newestFirst}`
  return { from, params: [...params, page.limit + 1] }
}

/**
 * When they changed, and their ids. Reads the index of one owner's present and earlier sessions; other conditions are checked
 * per row.
 */
export function listedKeys(
  filter: SessionListFilter,
  after: Keyset | undefined,
): { listed: string; params: SqlValue[] } {
  const [first, ...others] = ownersOf(filter)
  const params: SqlValue[] = []
  const part = (table: string, time: string, id: string, conditions: string[]) => {
    for (const [kind, owner] of others) {
      conditions.push(`(${kind}_id = ? OR EXISTS (SELECT 1 FROM session_owners AS other
        WHERE other.owner_session_id = session_id AND other.owner_kind = ? AND other.owner_id = ?))`)
      params.push(owner, kind, owner)
    }
    if (filter.updated_before !== undefined) {
      conditions.push(`${time} < ?`)
      params.push(filter.updated_before)
    }
    if (after !== undefined) {
      conditions.push(`(${time}, ${id}) < (?, ?)`)
      params.push(after.time, after.id)
    }
    return `SELECT ${time} AS listed_at, ${id} AS listed_id FROM ${table}
      ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}`
  }
  if (first !== undefined) params.push(first[1])
  let listed = part('sessions', 'updated_at', 'session_id', first ? [`${first[0]}_id = ?`] : [])
  if (first !== undefined) {
    const [kind, owner] = first
    const earlier = ['owner_kind = ?', 'owner_id = ?', `${kind}_id IS NOT ?`]
    params.push(kind, owner, owner)
    const table = 'session_owners CROSS JOIN sessions ON session_id = owner_session_id'
    listed += ` UNION ALL ${part(table, 'owner_updated_at', 'owner_session_id', earlier)}`
  }
  return { listed, params }
}

// A turn is none: only child runs are looked into.
const isNoTry = `(parent_run_id IS NULL OR (parent_run_id <> '' AND begun ->> '$.again_of.keep' IS NOT 'no'))`

/** Newest first by the order of insertion, which does not depend on a clock. */
export async function runPage(
  all: All,
  filter: RunFilter,
  page: PageRequest,
  someAreHidden: boolean,
): Promise<Page<Run>> {
  const { status } = filter
  if (status !== undefined && !runStatuses.includes(status)) return { items: [], next: null }
  if (filter.parent_run_id === noTurn) return { items: [], next: null }
  const conditions: string[] = []
  const params: SqlValue[] = []
  const add = (condition: string, value: SqlValue | undefined) => {
    if (value === undefined) return
    conditions.push(condition)
    params.push(value)
  }
  add('run_session_id = ?', filter.session_id)
  add('run_user_id = ?', filter.user_id)
  add('entity_id = ?', filter.agent_id)
  add('parent_run_id = ?', filter.parent_run_id)
  if (filter.again !== true && filter.parent_run_id === undefined) conditions.push(isNoTry)
  // The second condition selects the index of the other states.
  add(status === 'completed' ? 'status = ?' : `status = ? AND status <> 'completed'`, status)
  add('run_number < (SELECT run_number FROM runs WHERE run_id = ?)', filter.before)
  add('run_number < ?', decodeRunNumber(page.cursor))
  if (someAreHidden) conditions.push(isShown)
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  params.push(page.limit + 1)
  const rows = await all(selectRunPage(`FROM runs ${where} ORDER BY run_number DESC LIMIT ?`), params)
  const items = rows.map((row) => ({
    run: toRun(JSON.parse(row.run_row as string)),
    number: row.run_number as number,
  }))
  const { items: shown, next } = cutPage(items, page.limit, ({ run, number }) => ({
    time: run.created_at,
    id: String(number),
  }))
  return { items: shown.map(({ run }) => run), next }
}
