import type { RunError } from '../../../core/run.ts'
import type { Sql } from '../../postgres/connection.ts'
import { erasedBegun, erasedEnded } from '../rows/later-fields.ts'
import { deleteFacts } from './facts.ts'
import { deleteFilesOfRuns } from './files/delete.ts'
import { renewWords } from './writing/words.ts'

/** At most `limit` rows of each kind, in one transaction; gives how many there were. */
export async function eraseUser(sql: Sql, userId: string, limit: number): Promise<number> {
  const runs = await emptyRuns(sql, userId, limit)
  const keys = (await releaseKeys(sql, userId, limit)) + (await releaseAnswers(sql, userId, limit))
  const names = await sql.run(
    `DELETE FROM session_owner WHERE kind = 'user' AND owner_id = $1 AND session_id = ANY (ARRAY(
       SELECT session_id FROM session_owner WHERE kind = 'user' AND owner_id = $1
       ORDER BY session_id LIMIT $2 FOR UPDATE))`,
    [userId, limit],
  )
  return runs + keys + names + (await deleteFacts(sql, userId))
}

/** Of the user's runs, and of runs in the user's sessions: keys outlive them. */
function releaseKeys(sql: Sql, userId: string, limit: number): Promise<number> {
  return sql.run(
    `DELETE FROM claim WHERE claim_key = ANY (ARRAY(
       SELECT claim_key FROM run JOIN claim ON claim.run_id = run.run_id WHERE run.user_id = $1
       UNION SELECT claim_key FROM session JOIN run ON run.session_id = session.session_id
         JOIN claim ON claim.run_id = run.run_id WHERE session.user_id = $1
       LIMIT $2))`,
    [userId, limit],
  )
}

interface FoundAnswer {
  claim_key: string
  isNamed: boolean
  answer: string | null
}

const answersAtOnce = 100

/** Stored answers that tell of the user's sessions, and keys that hold the user between spaces, as routes write them. */
async function releaseAnswers(sql: Sql, userId: string, limit: number): Promise<number> {
  const gone: string[] = []
  for (let last = ''; gone.length < limit; ) {
    // The database can't parse all of the answers: those with an escaped NUL are no text to it.
    const found = await sql.all<FoundAnswer>(
      `SELECT claim_key, isNamed AS "isNamed", CASE WHEN NOT isNamed THEN answer END AS answer
       FROM (SELECT *, strpos(claim_key, $1) > 0 AS isNamed FROM claim WHERE claim_key > $3
         AND (strpos(claim_key, $1) > 0 OR strpos(answer, $2) > 0)
         ORDER BY claim_key LIMIT ${answersAtOnce}) AS found`,
      [` ${userId} `, `"user_id":${JSON.stringify(userId)}`, last],
    )
    gone.push(
      ...found
        .filter(({ isNamed, answer }) => isNamed || userIn(answer) === userId)
        .map(({ claim_key }) => claim_key)
        .slice(0, limit - gone.length),
    )
    if (found.length < answersAtOnce) break
    last = found.at(-1)?.claim_key ?? last
  }
  return gone.length === 0 ? 0 : sql.run('DELETE FROM claim WHERE claim_key = ANY($1::text[])', [gone])
}

function userIn(answer: string | null): unknown {
  return (JSON.parse(answer ?? 'null') as { session?: { user_id?: unknown } } | null)?.session?.user_id
}

interface FoundRun {
  run_number: number
  run_id: string
  session_id: string
  begun: string
  ended: string | null
}

/** Ended runs of the user in sessions of others; gives how many. */
async function emptyRuns(sql: Sql, userId: string, limit: number): Promise<number> {
  const runs = await sql.all<FoundRun>(
    `SELECT run_number, run_id, session_id, begun, ended FROM run
     WHERE user_id = $1 AND status NOT IN ('running', 'queued', 'input_required')
       AND (SELECT session.user_id FROM session WHERE session.session_id = run.session_id) IS DISTINCT FROM $1
     ORDER BY run_number LIMIT $2 FOR UPDATE`,
    [userId, limit],
  )
  if (runs.length === 0) return 0
  const numbers = runs.map(({ run_number }) => run_number)
  await sql.run(
    `UPDATE run SET input = '[]', output = CASE WHEN output IS NOT NULL THEN '[]' END, last_batch = NULL, start_state = NULL,
       state_before = NULL, replaced_state = NULL, given = NULL, user_id = NULL, unchecked = false, begun = less.begun, ended = less.ended
     FROM unnest($1::bigint[], $2::text[], $3::text[]) AS less(number, begun, ended) WHERE run_number = number`,
    [numbers, runs.map(({ begun }) => withoutMetadata(begun)), runs.map(({ ended }) => withoutContent(ended))],
  )
  // The summary repeats what the runs said.
  const sessions = [runs.map(({ session_id }) => session_id)]
  await sql.run(
    `UPDATE session SET revision = revision + 1 WHERE session_id = ANY (ARRAY(
       SELECT session_id FROM session WHERE session_id = ANY($1::text[]) ORDER BY session_id FOR NO KEY UPDATE))`,
    sessions,
  )
  await sql.run('DELETE FROM summary WHERE session_id = ANY($1::text[])', sessions)
  const ids = runs.map(({ run_id }) => run_id)
  await sql.run('DELETE FROM event WHERE run_number = ANY($1::bigint[])', [numbers])
  await sql.run('DELETE FROM cached_answer WHERE run_id = ANY($1::text[])', [ids])
  await sql.run('DELETE FROM push_config WHERE run_id = ANY($1::text[])', [ids])
  await deleteFilesOfRuns(sql, ids)
  await renewWords(sql, numbers)
  return runs.length
}

function withoutMetadata(begun: string): string {
  return JSON.stringify(Object.fromEntries(fieldsOf(begun, erasedBegun)))
}

function withoutContent(ended: string | null): string | null {
  if (ended === null) return null
  const fields = fieldsOf(ended, erasedEnded).map(([name, value]) =>
    name === 'error' ? [name, { ...(value as RunError), message: 'erased' }] : [name, value],
  )
  return JSON.stringify(Object.fromEntries(fields))
}

function fieldsOf(text: string, names: readonly string[]): [name: string, value: unknown][] {
  return Object.entries(JSON.parse(text) as object).filter(([name]) => names.includes(name))
}
