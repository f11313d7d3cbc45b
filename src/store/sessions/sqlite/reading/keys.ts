import type { PageRequest } from '../../../../core/page.ts'
import { type RunStatus, runStatuses } from '../../../../core/run.ts'
import type { SessionListFilter } from '../../../../core/store.ts'
import { decodeCursor, type Keyset } from '../../../rules/cursor.ts'
import { cutKeys, type KeyPage, scanKeys } from '../../../rules/key-page.ts'
import type { SqlRow, SqlValue } from '../../../sqlite/connection.ts'
import { ownersOf } from '../../rows/rows.ts'
import { lastReadable } from './handovers.ts'
import { listedKeys, newestFirst, ownedBy } from './lists.ts'
import { lastTurn } from './queries.ts'
import type { All } from './records.ts'

/**
 * Which sessions a list has, and how many. A filter by status has no index of its own, which every run would pay for: where
 * few runs have the status, their sessions are looked at; otherwise the list, as far as one page may cost.
 */

/** Up to so many runs with a status are looked at for each page. */
const fewRuns = 5_000

export async function listKeys(all: All, filter: SessionListFilter, page: PageRequest): Promise<KeyPage> {
  const { status } = filter
  const after = decodeCursor(page.cursor)
  if (status === undefined) {
    const { listed, params } = listedKeys(filter, after)
    return cutKeys((await all(`${listed} ${newestFirst} LIMIT ?`, [...params, page.limit + 1])).map(toKey), page.limit)
  }
  if (!runStatuses.includes(status)) return { keys: [], next: null }
  if (status === 'completed' || (await countRuns(all, status, fewRuns + 1)) > fewRuns) {
    return scan(all, filter, after, page.limit)
  }
  const { from, params } = candidates(filter, status)
  const later = after === undefined ? '' : 'AND (updated_at, session_id) < (?, ?)'
  const rows = await all(
    `SELECT updated_at AS listed_at, session_id AS listed_id ${from} ${later} ${newestFirst} LIMIT ?`,
    [...params, ...(after === undefined ? [] : [after.time, after.id]), page.limit + 1],
  )
  return cutKeys(rows.map(toKey), page.limit)
}

export async function countSessions(all: All, filter: SessionListFilter): Promise<number> {
  const { status } = filter
  const { listed, params } = listedKeys(filter, undefined)
  const count = async (from: string, values: readonly SqlValue[]): Promise<number> => {
    const [row] = await all(`SELECT count(*) AS session_count ${from}`, values)
    return row?.session_count as number
  }
  const total = () => count(`FROM (${listed})`, params)
  if (status === undefined) return total()
  if (!runStatuses.includes(status)) return 0
  const isCompleted = status === 'completed'
  const whole = `FROM (${listed}) CROSS JOIN sessions ON session_id = listed_id WHERE`
  const most = await total()
  const runs = await countRuns(all, isCompleted ? undefined : status, 2 * most)
  // A session that is looked at costs as much as two runs.
  if (runs >= 2 * most || (isCompleted && filter.as_user === true)) {
    const seen = seenStatus(filter)
    return count(`${whole} ${seen.sql} = ?`, [...params, ...seen.params, status])
  }
  if (!isCompleted) {
    const found = candidates(filter, status)
    return count(found.from, found.params)
  }
  const isPlain = ownersOf(filter).length === 0 && filter.updated_before === undefined
  const used = isPlain ? 'FROM sessions WHERE run_count > 0' : `${whole} run_count > 0`
  const others = candidates(filter)
  return (await count(used, isPlain ? [] : params)) - (await count(others.from, others.params))
}

/** The status of a session's last turn, as the reader sees it; refers to a row of `sessions`. */
function seenStatus({ as_user, user_id }: SessionListFilter): { sql: string; params: SqlValue[] } {
  const present = lastTurn('status')
  if (as_user !== true || user_id === undefined) return { sql: present, params: [] }
  return {
    sql: `iif(user_id = ?, ${present}, ${lastReadable('status', 'session_id')})`,
    params: [user_id, user_id, user_id],
  }
}

const isLast = `replaced_by IS NULL AND NOT EXISTS (SELECT 1 FROM runs AS later
  WHERE later.run_session_id = runs.run_session_id AND later.run_number > runs.run_number
    AND later.parent_run_id IS NULL AND later.replaced_by IS NULL)`

/** The sessions with the status, or with any but `completed`: the runs that have it and are the last of their session. */
function candidates(filter: SessionListFilter, status?: RunStatus): { from: string; params: SqlValue[] } {
  const { user_id: userId, as_user, updated_before: before } = filter
  const owned = ownedBy(filter)
  const params: SqlValue[] = status === undefined ? [] : [status]
  params.push(...owned.params)
  if (before !== undefined) params.push(before)
  let last = isLast
  if (as_user === true && userId !== undefined) {
    last = `iif(user_id = ?, ${isLast}, run_number = ${lastReadable('run_number', 'session_id')})`
    params.push(userId, userId, userId)
  }
  const from = `FROM runs CROSS JOIN sessions ON session_id = run_session_id
    WHERE ${status === undefined ? '' : 'status = ? AND'} status <> 'completed' AND parent_run_id IS NULL
      ${owned.conditions} ${before === undefined ? '' : 'AND updated_at < ?'} AND ${last}`
  return { from, params }
}

/** At most `most` are counted. Undefined: all that are not completed. */
async function countRuns(all: All, status: RunStatus | undefined, most: number): Promise<number> {
  const which = status === undefined ? '?1 IS NULL' : 'status = ?1'
  const [row] = await all(
    `SELECT count(*) AS run_count FROM (SELECT 1 FROM runs WHERE ${which} AND status <> 'completed' LIMIT ?2)`,
    [status ?? null, most],
  )
  return row?.run_count as number
}

function scan(all: All, filter: SessionListFilter, after: Keyset | undefined, limit: number): Promise<KeyPage> {
  const seen = seenStatus(filter)
  return scanKeys(after, limit, async (last, most) => {
    const { listed, params } = listedKeys(filter, last)
    const rows = await all(
      `SELECT listed_at, listed_id, ${seen.sql} = ? AS fits FROM (${listed} ${newestFirst} LIMIT ?)
         CROSS JOIN sessions ON session_id = listed_id ${newestFirst}`,
      [...seen.params, filter.status ?? null, ...params, most],
    )
    return rows.map((row) => ({ ...toKey(row), fits: row.fits === 1 }))
  })
}

function toKey(row: SqlRow): Keyset {
  return { time: row.listed_at as string, id: row.listed_id as string }
}
