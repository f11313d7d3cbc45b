import type { PageRequest } from '../../../../core/page.ts'
import { type RunStatus, runStatuses } from '../../../../core/run.ts'
import type { SessionListFilter } from '../../../../core/store.ts'
import type { Keyset } from '../../../rules/cursor.ts'
import { cutKeys, type KeyPage, scanKeys } from '../../../rules/key-page.ts'
import { ownersOf } from '../../rows/rows.ts'
import { lastReadable } from './handovers.ts'
import { listedKeys, newestFirst, ownedBy, Values, withSession } from './listed.ts'
import type { Reader } from './records.ts'
import { lastTurn } from './turns.ts'

/**
 * Which sessions a list has, and how many. A filter by status has no index of its own, which every run would pay for: where
 * few runs have the status, their sessions are looked at; otherwise the list, as far as one page may cost.
 */

/** Up to so many runs with a status are looked at for each page. */
const fewRuns = 5_000

interface KeyColumns {
  listed_at: string
  listed_id: string
}

export async function listKeys(
  sql: Reader,
  filter: SessionListFilter,
  after: Keyset | undefined,
  { limit }: PageRequest,
): Promise<KeyPage> {
  const { status } = filter
  const values = new Values()
  if (status === undefined) {
    const listed = listedKeys(filter, after, values, limit + 1)
    return cutKeys((await sql.all<KeyColumns>(listed, values.all, 'fresh')).map(toKey), limit)
  }
  if (!runStatuses.includes(status)) return { keys: [], next: null }
  if (status === 'completed' || (await countRuns(sql, status, fewRuns + 1)) > fewRuns) {
    return scan(sql, filter, after, limit)
  }
  const found = candidates(filter, values, status)
  const later =
    after === undefined
      ? ''
      : `AND (session.updated_at, session.session_id) < (${values.add(after.time)}, ${values.add(after.id)})`
  const rows = await sql.all<KeyColumns>(
    `SELECT session.updated_at AS listed_at, session.session_id AS listed_id ${found} ${later}
     ${newestFirst} LIMIT ${values.add(limit + 1)}`,
    values.all,
    'fresh',
  )
  return cutKeys(rows.map(toKey), limit)
}

export async function countSessions(sql: Reader, filter: SessionListFilter): Promise<number> {
  const { status } = filter
  const count = async (fromWith: (values: Values) => string): Promise<number> => {
    const values = new Values()
    const [row] = await sql.all<{ session_count: number }>(
      `SELECT count(*) AS session_count ${fromWith(values)}`,
      values.all,
      'fresh',
    )
    return row?.session_count ?? 0
  }
  const total = () => count((values) => `FROM (${listedKeys(filter, undefined, values)}) AS listed`)
  if (status === undefined) return total()
  if (!runStatuses.includes(status)) return 0
  const isCompleted = status === 'completed'
  const whole = (values: Values) =>
    `FROM (${listedKeys(filter, undefined, values)}) AS listed ${withSession('listed_id')} WHERE`
  const most = await total()
  const runs = await countRuns(sql, isCompleted ? undefined : status, 2 * most)
  // A session that is looked at costs as much as two runs.
  if (runs >= 2 * most || (isCompleted && filter.as_user === true)) {
    return count((values) => `${whole(values)} ${seenStatus(filter, values)} = '${status}'`)
  }
  if (!isCompleted) return count((values) => candidates(filter, values, status))
  const isPlain = ownersOf(filter).length === 0 && filter.updated_before === undefined
  const used = await count((values) =>
    isPlain ? 'FROM session WHERE run_count > 0' : `${whole(values)} run_count > 0`,
  )
  return used - (await count((values) => candidates(filter, values)))
}

/** The status of a session's last turn, as the reader sees it; refers to a row of `session`. */
function seenStatus({ as_user, user_id }: SessionListFilter, { add }: Values): string {
  const present = lastTurn('status')
  if (as_user !== true || user_id === undefined) return present
  const user = add(user_id)
  return `CASE WHEN session.user_id = ${user} THEN ${present} ELSE ${lastReadable('status', user)} END`
}

// A sub-select, which probes an index per run: the planner could read all runs to find those without a later one.
const isLast = `run.replaced_by IS NULL AND run.run_number = ${lastTurn('run_number')}`
const active = `status IN ('running', 'queued')`
const stopped = `status NOT IN ('completed', 'running', 'queued')`

/** The sessions with the status, or with any but `completed`: the runs that have it and are the last of their session. */
function candidates(filter: SessionListFilter, values: Values, status?: RunStatus): string {
  const { user_id: userId, as_user, updated_before: before } = filter
  const conditions = ['run.parent_run_id IS NULL', ...ownedBy(filter, values)]
  if (before !== undefined) conditions.push(`session.updated_at < ${values.add(before)}`)
  if (as_user === true && userId !== undefined) {
    const user = values.add(userId)
    const readable = `run.run_number = ${lastReadable('run_number', user)}`
    conditions.push(`CASE WHEN session.user_id = ${user} THEN ${isLast} ELSE ${readable} END`)
  } else conditions.push(isLast)
  const runs =
    status === undefined
      ? `(SELECT * FROM run WHERE ${active} UNION ALL SELECT * FROM run WHERE ${stopped})`
      : `(SELECT * FROM run WHERE status = '${status}')`
  return `FROM ${runs} AS run ${withSession('run.session_id')} WHERE ${conditions.join(' AND ')}`
}

/** At most `most` are counted. Undefined: all that are not completed. */
async function countRuns(sql: Reader, status: RunStatus | undefined, most: number): Promise<number> {
  const runs = (which: string) => `SELECT 1 FROM run WHERE ${which}`
  const from = status === undefined ? `${runs(active)} UNION ALL ${runs(stopped)}` : runs(`status = '${status}'`)
  const [row] = await sql.all<{ run_count: number }>(`SELECT count(*) AS run_count FROM (${from} LIMIT $1) AS found`, [
    most,
  ])
  return row?.run_count ?? 0
}

function scan(sql: Reader, filter: SessionListFilter, after: Keyset | undefined, limit: number): Promise<KeyPage> {
  return scanKeys(after, limit, async (last, most) => {
    const values = new Values()
    const listed = listedKeys(filter, last, values, most)
    const rows = await sql.all<KeyColumns & { fits: boolean | null }>(
      `SELECT listed_at, listed_id, ${seenStatus(filter, values)} = ${values.add(filter.status)} AS fits
       FROM (${listed}) AS listed ${withSession('listed_id')} ${newestFirst}`,
      values.all,
      'fresh',
    )
    return rows.map((row) => ({ ...toKey(row), fits: row.fits === true }))
  })
}

function toKey({ listed_at, listed_id }: KeyColumns): Keyset {
  return { time: listed_at, id: listed_id }
}
