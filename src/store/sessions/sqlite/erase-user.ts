import type { Connection } from '../../sqlite/connection.ts'
import { erasedBegun, erasedEnded } from '../rows/later-fields.ts'
import { deleteFacts } from './facts.ts'
import { deleteFilesOfRuns } from './files/delete.ts'

export interface ErasedUser {
  /** Number of changes; 0 when nothing is left. */
  count: number
  /** The numbers of the runs that have lost their content. */
  runs: number[]
}

/** The fields of these names of a column of JSON. */
const only = (column: string, names: readonly string[]) =>
  `(SELECT json_group_object(key, ${column} -> fullkey) FROM json_each(${column}) WHERE key IN ('${names.join("', '")}'))`

const isActive = `status IN ('running', 'queued', 'input_required')`

/** At most `limit` rows of each kind, in one transaction of the writer. */
export async function eraseUser(writer: Connection, userId: string, limit: number): Promise<ErasedUser> {
  const keys = await releaseKeys(writer, userId, limit)
  const runs = await emptyRuns(writer, userId, limit)
  const names = await writer.run(
    `DELETE FROM session_owners WHERE (owner_session_id, owner_kind, owner_id) IN
       (SELECT owner_session_id, owner_kind, owner_id FROM session_owners
        WHERE owner_kind = 'user' AND owner_id = ? LIMIT ?)`,
    [userId, limit],
  )
  const facts = await deleteFacts(writer, userId)
  return { count: keys + runs.length + names + facts, runs }
}

/** Otherwise deleting a run with its session would leave its key behind. */
async function releaseKeys(writer: Connection, userId: string, limit: number): Promise<number> {
  const runs = await writer.run(
    `UPDATE runs SET run_claim_key = NULL, run_claim_hash = NULL, run_claim_expires_at = NULL WHERE run_number IN
       (SELECT run_number FROM runs WHERE run_claim_key IS NOT NULL AND
          (run_user_id = ?1 OR run_session_id IN (SELECT session_id FROM sessions WHERE user_id = ?1)) LIMIT ?2)`,
    [userId, limit],
  )
  // Stored answers that belong to the sessions, and keys that hold the user between spaces, as routes write them.
  const claims = await writer.run(
    `DELETE FROM claims WHERE claim_key IN (SELECT claim_key FROM claims
       WHERE answer ->> '$.session.user_id' = ?1 OR instr(claim_key, ' ' || ?1 || ' ') > 0 LIMIT ?2)`,
    [userId, limit],
  )
  return runs + claims
}

async function emptyRuns(writer: Connection, userId: string, limit: number): Promise<number[]> {
  const rows = await writer.all(
    `SELECT run_number FROM runs LEFT JOIN sessions ON session_id = run_session_id
     WHERE run_user_id = ?1 AND user_id IS NOT ?1 AND NOT (${isActive}) LIMIT ?2`,
    [userId, limit],
  )
  const numbers = rows.map((row) => row.run_number as number)
  if (numbers.length === 0) return numbers
  const among = '(SELECT value FROM json_each(?))'
  const these = [JSON.stringify(numbers)]
  const theirSessions = `(SELECT run_session_id FROM runs WHERE run_number IN ${among})`
  await writer.run(
    `DELETE FROM cached_answers WHERE answer_run_id IN (SELECT run_id FROM runs WHERE run_number IN ${among})`,
    these,
  )
  await writer.run(
    `DELETE FROM push_configs WHERE push_run_id IN (SELECT run_id FROM runs WHERE run_number IN ${among})`,
    these,
  )
  // The summary repeats what the deleted runs said.
  await writer.run(`DELETE FROM summaries WHERE summary_session_id IN ${theirSessions}`, these)
  await writer.run(`UPDATE sessions SET revision = revision + 1 WHERE session_id IN ${theirSessions}`, these)
  await deleteFilesOfRuns(writer, JSON.stringify(numbers))
  await writer.run(`DELETE FROM events WHERE event_run_number IN ${among}`, these)
  await writer.run(
    `UPDATE runs SET input = '[]', output = iif(output IS NULL, NULL, '[]'), last_batch = NULL, start_state = NULL, state_before = NULL, replaced_state = NULL,
       given = NULL, run_user_id = NULL, begun = ${only('begun', erasedBegun)},
       ended = iif(ended ->> '$.error' IS NULL, ended, json_set(ended, '$.error.message', 'erased'))
     WHERE run_number IN ${among}`,
    these,
  )
  await writer.run(`UPDATE runs SET ended = ${only('ended', erasedEnded)} WHERE run_number IN ${among}`, these)
  return numbers
}
