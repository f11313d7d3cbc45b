import type { Connection, SqlValue } from '../../../sqlite/connection.ts'

/*
 * Deleting a file deletes its row, which hides it at once. Its content is deleted later, in steps, unless another file has
 * the same. Until then a temporary table names it: it belongs to the writer's connection and follows its transactions.
 */

export const createUnusedContents = `CREATE TEMP TABLE unused_contents (hash TEXT PRIMARY KEY) WITHOUT ROWID;`

const piecesAtOnce = 2
const hashesAtOnce = 64

/** `condition`: SQL about the columns of `files`. */
export async function deleteFiles(writer: Connection, condition: string, params: readonly SqlValue[]): Promise<void> {
  const found = await writer.all(`SELECT 1 FROM files WHERE ${condition} LIMIT 1`, params)
  if (found.length === 0) return
  await writer.run(
    `INSERT INTO temp.unused_contents SELECT file_hash FROM files WHERE ${condition} ON CONFLICT DO NOTHING`,
    params,
  )
  await writer.run(`DELETE FROM files WHERE ${condition}`, params)
}

/** The files of these runs, given as a JSON list of their numbers. */
export async function deleteFilesOfRuns(writer: Connection, numbers: string): Promise<void> {
  const theirs = 'file_run_id IN (SELECT run_id FROM json_each(?) CROSS JOIN runs ON run_number = value)'
  await deleteFiles(writer, theirs, [numbers])
}

/** The files of a run that was not started. */
export async function dropFiles(writer: Connection, runId: string): Promise<void> {
  await deleteFiles(writer, 'file_run_id = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE run_id = ?1)', [runId])
}

/** The files of the run's input: those that it names, and those that were fetched. */
export async function deleteInputFiles(writer: Connection, runId: string, fileIds: readonly string[]): Promise<void> {
  const isInput = 'file_url IS NOT NULL OR file_id IN (SELECT value FROM json_each(?2))'
  await deleteFiles(writer, `file_run_id = ?1 AND (${isInput})`, [runId, JSON.stringify(fileIds)])
}

/** What refused starts and a killed process left: files without a run, and contents without a file. */
export async function deleteLeftFiles(writer: Connection): Promise<void> {
  await deleteFiles(writer, 'NOT EXISTS (SELECT 1 FROM runs WHERE run_id = file_run_id)', [])
  await writer.run(
    `INSERT INTO temp.unused_contents SELECT DISTINCT content_hash FROM file_contents
     WHERE NOT EXISTS (SELECT 1 FROM files WHERE file_hash = content_hash) ON CONFLICT DO NOTHING`,
  )
}

export interface Swept {
  pieces: number
  /** No unused content is left. */
  isDone: boolean
}

/** Deletes as much unused content as fits one commit. */
export async function sweepContents(writer: Connection): Promise<Swept> {
  const rows = await writer.all('SELECT hash FROM temp.unused_contents LIMIT ?', [hashesAtOnce])
  let pieces = 0
  for (const { hash } of rows) {
    if (hash === undefined || pieces >= piecesAtOnce) break
    const deleted = await writer.run(
      `DELETE FROM file_contents WHERE rowid IN (SELECT rowid FROM file_contents WHERE content_hash = ?1 LIMIT ?2)
         AND NOT EXISTS (SELECT 1 FROM files WHERE file_hash = ?1)`,
      [hash, piecesAtOnce],
    )
    pieces += deleted
    if (deleted < piecesAtOnce) await writer.run('DELETE FROM temp.unused_contents WHERE hash = ?', [hash])
  }
  return { pieces, isDone: rows.length === 0 }
}
