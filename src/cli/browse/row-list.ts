import type { Role } from '../../core/message.ts'
import type { EntityKind, RunStatus } from '../../core/run.ts'

/** A line of a list: a session, or a search result in one. All texts are safe for the terminal. */
export interface Row {
  key: string
  sessionId: string
  /** A message that a search has found. */
  hit: { runId: string; role: Role } | undefined
  title: string
  /** Who answers in it; undefined: no run yet. */
  owner: { id: string; kind: EntityKind | undefined } | undefined
  runs: number | undefined
  /** The status of the last turn. */
  last: RunStatus | undefined
  at: string
  /** Set in search results; for sessions it is loaded when the row is visible. */
  words: string | undefined
}

export interface RowList {
  rows: readonly Row[]
  /** Cursor of the next page; null: no more pages; undefined: nothing is loaded yet. */
  cursor: string | null | undefined
  selected: number
  top: number
}

export const emptyList: RowList = { rows: [], cursor: undefined, selected: 0, top: 0 }

/** Maximum rows kept; older sessions are found by search. */
export const maxRows = 100_000
/** Of the page before: pages follow each other, so a row can be in two neighbours only. */
const overlap = 200

export function addPage(list: RowList, rows: readonly Row[], cursor: string | null): RowList {
  const known = new Set(list.rows.slice(-overlap).map(({ key }) => key))
  const all = [...list.rows, ...rows.filter(({ key }) => !known.has(key))]
  return { ...list, rows: all.slice(0, maxRows), cursor: all.length >= maxRows ? null : cursor }
}

/** Merges a refreshed first page. Rows missing from it were deleted. The same row stays selected. */
export function renew(list: RowList, rows: readonly Row[], cursor: string | null): RowList {
  const oldest = rows.at(-1)?.at ?? ''
  const fresh = new Set(rows.map(({ key }) => key))
  const below = cursor === null ? [] : list.rows.filter(({ key, at }) => !fresh.has(key) && at <= oldest)
  const all = [...rows, ...below].slice(0, maxRows)
  return select({ ...list, rows: all, cursor: below.length === 0 ? cursor : list.cursor }, list.rows[list.selected])
}

export function remove(list: RowList, sessionId: string): RowList {
  const rows = list.rows.filter((row) => row.sessionId !== sessionId)
  const selected = list.rows.slice(0, list.selected).filter((row) => row.sessionId !== sessionId).length
  return { ...list, rows, selected: Math.max(0, Math.min(selected, rows.length - 1)) }
}

export function move(list: RowList, by: number): RowList {
  return { ...list, selected: Math.max(0, Math.min(list.selected + by, list.rows.length - 1)) }
}

export function keepInSight(list: RowList, shown: number): RowList {
  const last = Math.max(0, list.rows.length - shown)
  const top = Math.max(list.selected - shown + 1, Math.min(list.top, list.selected, last))
  return top === list.top ? list : { ...list, top }
}

export function wantsPage(list: RowList, shown: number): boolean {
  return list.cursor !== null && list.selected + 2 * shown >= list.rows.length
}

/** Other rows; the same one stays selected. */
export function replace(list: RowList, rows: readonly Row[]): RowList {
  return select({ ...list, rows }, list.rows[list.selected])
}

function select(list: RowList, row: Row | undefined): RowList {
  const place = row === undefined ? -1 : list.rows.findIndex(({ key }) => key === row.key)
  return { ...list, selected: place === -1 ? Math.min(list.selected, Math.max(0, list.rows.length - 1)) : place }
}
