import type { Handover } from '../../../../core/session.ts'
import { type Reader, wholeHeads } from './records.ts'
import { type HeadColumns, headColumns, toListed } from './rows.ts'
import { isReadable, turnOf } from './turns.ts'

/** Earlier users of a session may read the runs up to the latest one at the time of the handover. */

/** The number of the newest run: the limit for the present user after a handover. */
export const newestTurn = (session: string) =>
  `(SELECT max(run_number) FROM run WHERE run.session_id = ${session} AND run.parent_run_id IS NULL)`

const reachInSession = (user: string) => `(SELECT mine.read_until FROM session_owner AS mine
  WHERE mine.session_id = session.session_id AND mine.kind = 'user' AND mine.owner_id = ${user})`

/** The last turn of a row of `session` that an earlier user may read. */
export const lastReadable = (fields: string, user: string) =>
  turnOf(fields, 'session.session_id', isReadable(reachInSession(user)), 'DESC')

/** The number of the last run that an earlier user may read, 0 for none; no row for a stranger. */
export const selectReach = `SELECT coalesce(read_until, 0) AS reach FROM session_owner
  WHERE session_id = $1 AND kind = 'user' AND owner_id = $2`

const turns = (which: string) => `FROM run WHERE session_id = $1 AND parent_run_id IS NULL AND run_number ${which}`
const runsIn = (which: string) =>
  `(SELECT coalesce(json_agg(found), '[]') FROM (SELECT ${headColumns} ${turns(which)}) AS found)`

const selectHandover = `SELECT
  (SELECT count(*) ${turns('<= reach')}) AS run_count,
  ${turnOf('turn.run_id', '$1', isReadable('reach'), 'DESC')} AS last,
  ${runsIn('> reach ORDER BY run_number LIMIT 1')} AS next,
  ${runsIn('<= reach ORDER BY run_number DESC LIMIT $3')} AS runs
  FROM (${selectReach}) AS reader`

interface HandoverColumns {
  run_count: number
  last: string | null
  next: HeadColumns[]
  runs: HeadColumns[]
}

export async function findHandover(
  sql: Reader,
  sessionId: string,
  userId: string,
  newest: number,
): Promise<Handover | undefined> {
  const [row] = await sql.all<HandoverColumns>(selectHandover, [sessionId, userId, newest])
  if (row === undefined) return undefined
  const runs = (await wholeHeads(sql, row.runs)).map(toListed).reverse()
  const [next] = (await wholeHeads(sql, row.next)).map(toListed)
  return {
    last: row.last,
    run_count: row.run_count,
    runs,
    next: next === undefined ? null : { run_id: next.run_id, created_at: next.created_at },
  }
}

const selectHandovers = `SELECT owner_id,
    (SELECT run_id ${turns('<= read_until')} AND ended IS NOT NULL ORDER BY run_number DESC LIMIT 1) AS last
  FROM session_owner WHERE session_id = $1 AND kind = 'user' ORDER BY position`

export async function listHandovers(sql: Reader, sessionId: string): Promise<Record<string, string | null>> {
  const rows = await sql.all<{ owner_id: string; last: string | null }>(selectHandovers, [sessionId])
  return Object.fromEntries(rows.map(({ owner_id, last }) => [owner_id, last]))
}

const selectBefore = `SELECT 1 FROM run WHERE run_id = $1
  AND run_number < (SELECT run_number FROM run AS other WHERE other.run_id = $2)`

export async function isBefore(sql: Reader, runId: string, otherId: string): Promise<boolean> {
  return (await sql.all(selectBefore, [runId, otherId])).length > 0
}
