import type { Page, PageRequest } from '../../../../core/page.ts'
import type { Session, SessionRecord } from '../../../../core/session.ts'
import type { SessionListFilter } from '../../../../core/store.ts'
import { encodeCursor } from '../../../rules/cursor.ts'
import type { SqlRow } from '../../../sqlite/connection.ts'
import { rowBytes } from '../../rows/budget.ts'
import { type SessionTexts, toSessionRecord } from '../../rows/rows.ts'
import { listKeys } from './keys.ts'
import { listedSessions } from './lists.ts'
import { selectSessionPage, selectSessions, selectSessionsOf } from './queries.ts'
import type { All } from './records.ts'

const shownRuns = 100
const listedRuns = 10

export function readSessions(all: All, requests: readonly string[], maxBytes: number): Promise<SqlRow[]> {
  return all(selectSessions, [rowBytes(maxBytes, requests.length, 1), shownRuns, JSON.stringify(requests)])
}

export async function readSession(
  all: All,
  sessionId: string,
  newestRuns = shownRuns,
): Promise<SessionRecord | undefined> {
  const [row] = await all(selectSessions, [Number.MAX_SAFE_INTEGER, newestRuns, JSON.stringify([sessionId])])
  return row && toSessionRecord(row as unknown as SessionTexts)
}

/** A session that was too large for the shared statement is read by itself. */
export async function toFoundSession(all: All, row: SqlRow): Promise<SessionRecord | undefined> {
  if (row.session_row === null) return readSession(all, row.found_id as string)
  return toSessionRecord(row as unknown as SessionTexts)
}

/** Returns fewer than `limit` when sessions are large. */
export async function sessionPage(
  all: All,
  filter: SessionListFilter,
  page: PageRequest,
  maxBytes: number,
): Promise<Page<Session>> {
  const most = rowBytes(maxBytes, 1, 100)
  if (filter.status !== undefined) {
    const { keys, next } = await listKeys(all, filter, page)
    const rows = await all(selectSessionsOf(most), [JSON.stringify(keys.map(({ id }) => id))])
    const { items, isWhole } = await readListed(all, rows, maxBytes)
    const cut = keys.find(({ id }) => id === items.at(-1)?.session_id)
    return { items, next: isWhole || cut === undefined ? next : encodeCursor(cut) }
  }
  const { from, params } = listedSessions(filter, page)
  const rows = await all(selectSessionPage(from, most), params)
  const { items, isWhole } = await readListed(all, rows.slice(0, page.limit), maxBytes)
  const last = items.at(-1)
  return {
    items,
    next:
      (isWhole && rows.length <= page.limit) || last === undefined
        ? null
        : encodeCursor({ time: last.updated_at, id: last.session_id }),
  }
}

/** As many as one read may give; at least one. */
async function readListed(
  all: All,
  rows: readonly SqlRow[],
  maxBytes: number,
): Promise<{ items: Session[]; isWhole: boolean }> {
  const items: Session[] = []
  let left = maxBytes
  for (const row of rows) {
    left -= row.bytes as number
    if (left < 0 && items.length > 0) return { items, isWhole: false }
    const found =
      row.session_row === null
        ? await readSession(all, row.found_id as string, listedRuns)
        : toSessionRecord(row as unknown as SessionTexts)
    if (found !== undefined) items.push(found.session)
  }
  return { items, isWhole: true }
}
