import type { Sql } from '../../../postgres/connection.ts'
import { lock } from '../../../postgres/locks.ts'
import { aliveInstances } from '../schema/instances.ts'

/*
 * Deleting a file deletes its row, which hides it at once, and notes its content in the same transaction. The content itself is
 * deleted afterwards, unless another file has the same. Who saves a file and who deletes a content take the content's lock
 * before they look: otherwise one could find a content that the other is about to delete.
 */

/** `condition`: SQL about the columns of `file`. Gives how many there were. */
export async function deleteFiles(sql: Sql, condition: string, params: readonly unknown[]): Promise<number> {
  const [row] = await sql.all<{ count: number }>(
    `WITH gone AS (DELETE FROM file WHERE ${condition} RETURNING hash),
       noted AS (INSERT INTO unused_content SELECT DISTINCT hash FROM gone)
     SELECT count(*) AS count FROM gone`,
    params,
  )
  return row?.count ?? 0
}

export async function deleteFilesOfRuns(sql: Sql, runIds: readonly string[]): Promise<void> {
  await deleteFiles(sql, 'run_id = ANY($1::text[])', [runIds])
}

/** The files of the run's input: those that it names, and those that were fetched. */
export async function deleteInputFiles(sql: Sql, runId: string, fileIds: readonly string[]): Promise<void> {
  await deleteFiles(sql, 'run_id = $1 AND (url IS NOT NULL OR file_id = ANY($2::text[]))', [runId, fileIds])
}

export const hasNoRun = 'NOT EXISTS (SELECT 1 FROM run WHERE run.run_id = file.run_id)'

const contentsAtOnce = 16

/** Deletes some of the noted contents that no file has; false: none are noted. */
export async function sweepContents(sql: Sql): Promise<boolean> {
  const noted = await sql.all<{ hash: string }>(
    `DELETE FROM unused_content WHERE ctid = ANY (ARRAY(SELECT ctid FROM unused_content LIMIT $1 FOR UPDATE SKIP LOCKED))
     RETURNING hash`,
    [contentsAtOnce],
  )
  if (noted.length === 0) return false
  const hashes = [...new Set(noted.map(({ hash }) => hash))]
  await lock(sql, 'content', hashes)
  await sql.run(
    `DELETE FROM file_content WHERE hash = ANY($1::text[])
       AND NOT EXISTS (SELECT 1 FROM file WHERE file.hash = file_content.hash)`,
    [hashes],
  )
  return true
}

const filesAtOnce = 200

/**
 * Deletes some of the files whose run never came to be, of instances that can't start it any more or older than a day; false:
 * none are left. Those that have a run are not looked at again.
 */
export async function sweepLeftFiles(sql: Sql): Promise<boolean> {
  const due = await sql.all<{ session_id: string; file_id: string }>(
    `SELECT session_id, file_id FROM file WHERE owner IS NOT NULL
       AND (owner NOT IN ${aliveInstances} OR saved_at < now() - interval '1 day') LIMIT $1 FOR UPDATE SKIP LOCKED`,
    [filesAtOnce],
  )
  if (due.length === 0) return false
  const these = '(session_id, file_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))'
  const keys = [due.map((file) => file.session_id), due.map((file) => file.file_id)]
  await deleteFiles(sql, `${these} AND ${hasNoRun}`, keys)
  await sql.run(`UPDATE file SET owner = NULL WHERE ${these}`, keys)
  return true
}
