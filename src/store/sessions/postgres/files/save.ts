import { AppError } from '../../../../core/error.ts'
import type { NewFile, StoredFile } from '../../../../core/file.ts'
import { createFileId } from '../../../../core/id.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { lock } from '../../../postgres/locks.ts'
import { hashOf, piecesOf } from '../../../rules/file-pieces.ts'
import { deleteFiles, hasNoRun } from './delete.ts'

/** A transaction of its own. */
export type Work = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>

const thisOne = 'session_id = $1 AND file_id = $2'

/** The run of a file that is not complete: there is none of this id, so the file does not exist for readers. */
const incomplete = ''

const insertFile = `INSERT INTO file (session_id, file_id, run_id, hash, media_type, name, size, url, owner)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`
const insertPiece = 'INSERT INTO file_content (hash, piece, bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING'

/**
 * Writes one piece per transaction, so that no other write waits for a large file. `owner`: the instance that may start the
 * run. `copiedId`: of a copy; throws `conflict` when it is taken.
 */
export async function saveFile(
  work: Work,
  file: NewFile,
  owner: number,
  copiedId?: string,
): Promise<Pick<StoredFile, 'file_id' | 'size'>> {
  const saved = { file_id: copiedId ?? createFileId(), size: file.bytes.byteLength }
  const pieces = piecesOf(file.bytes)
  const hash = await hashOf(file.bytes)
  const [, ...rest] = await work(async (sql) => {
    // Of a copy that was broken off.
    if (copiedId !== undefined) await deleteFiles(sql, `${thisOne} AND ${hasNoRun}`, [file.session_id, copiedId])
    return begin(sql, file, saved, hash, pieces, owner)
  })
  try {
    for (const piece of rest) {
      await work(async (sql) => {
        await sql.run(insertPiece, [hash, piece, pieces[piece]])
        if (piece === rest.at(-1)) await complete(sql, file, saved.file_id)
      })
    }
    return saved
  } catch (error) {
    const drop = (sql: Sql) => deleteFiles(sql, thisOne, [file.session_id, saved.file_id])
    // What stays behind is found when this process has ended.
    await work(drop).catch(() => {})
    throw error
  }
}

/**
 * Writes the row and the first missing piece; gives the missing pieces. From this commit on the row keeps the content: pieces
 * that other files brought are not deleted any more.
 */
async function begin(
  sql: Sql,
  { session_id, run_id, media_type, name, url }: NewFile,
  { file_id, size }: Pick<StoredFile, 'file_id' | 'size'>,
  hash: string,
  pieces: readonly Uint8Array[],
  owner: number,
): Promise<number[]> {
  await lock(sql, 'content', [hash])
  const rows = await sql.all<{ piece: number }>('SELECT piece FROM file_content WHERE hash = $1', [hash])
  const present = new Set(rows.map(({ piece }) => piece))
  const missing = [...pieces.keys()].filter((piece) => !present.has(piece))
  const runId = missing.length > 1 ? incomplete : run_id
  const row = [session_id, file_id, runId, hash, media_type, name, size, url, owner]
  if ((await sql.run(insertFile, row)) === 0) throw new AppError('conflict', `File '${file_id}' already exists.`)
  const [first] = missing
  if (first !== undefined) await sql.run(insertPiece, [hash, first, pieces[first]])
  return missing
}

async function complete(sql: Sql, { run_id, session_id }: NewFile, fileId: string): Promise<void> {
  const row = [run_id, session_id, fileId]
  const completed = await sql.run('UPDATE file SET run_id = $1 WHERE session_id = $2 AND file_id = $3', row)
  if (completed === 0) throw new AppError('unavailable', 'Another process took this one for dead. Save the file again.')
}
