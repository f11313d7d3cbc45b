import { filePieceBytes, type NewFile, type StoredFile } from '../../../../core/file.ts'
import { createFileId } from '../../../../core/id.ts'
import { hashOf, piecesOf } from '../../../rules/file-pieces.ts'
import type { Connection, SqlValue } from '../../../sqlite/connection.ts'
import { deleteFiles } from './delete.ts'

export type Work = <T>(work: (writer: Connection) => Promise<T>, characters?: number) => Promise<T>

const copiedColumns = 'file_id, file_run_id, file_hash, file_media_type, file_name, file_size, file_url'

/** The run of a file that is not complete: there is none of this id, so the file does not exist for readers. */
const incomplete = ''

/** Writes one piece per commit, so that no other write waits for a large file. */
export async function saveFile(work: Work, file: NewFile): Promise<Pick<StoredFile, 'file_id' | 'size'>> {
  const { session_id: sessionId, bytes } = file
  const saved = { file_id: createFileId(), size: bytes.byteLength }
  const hash = await hashOf(bytes)
  const pieces = piecesOf(bytes)
  try {
    const [first, ...rest] = await work((writer) => begin(writer, file, saved, hash), filePieceBytes)
    if (first === undefined || rest.length === 0) return saved
    for (const piece of rest) {
      await work(async (writer) => {
        await writePiece(writer, hash, piece, pieces[piece] ?? bytes)
        if (piece === rest.at(-1)) await complete(writer, file, saved.file_id)
      }, filePieceBytes)
    }
    return saved
  } catch (error) {
    const drop = (writer: Connection) =>
      deleteFiles(writer, 'file_session_id = ? AND file_id = ?', [sessionId, saved.file_id])
    await work(drop).catch(() => {})
    throw error
  }
}

/**
 * Writes the row and the first missing piece; returns the missing pieces. From this commit on the row keeps the content:
 * pieces that other files brought are not deleted any more.
 */
async function begin(
  writer: Connection,
  { session_id, run_id, media_type, name, url, bytes }: NewFile,
  { file_id, size }: Pick<StoredFile, 'file_id' | 'size'>,
  hash: string,
): Promise<number[]> {
  const rows = await writer.all('SELECT content_piece FROM file_contents WHERE content_hash = ?', [hash])
  const present = new Set(rows.map((row) => row.content_piece))
  const pieces = piecesOf(bytes)
  const missing = [...pieces.keys()].filter((piece) => !present.has(piece))
  const runId = missing.length > 1 ? incomplete : run_id
  await writer.run(
    `INSERT INTO files (file_session_id, ${copiedColumns})
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [session_id, file_id, runId, hash, media_type, name, size, url],
  )
  const [first] = missing
  if (first !== undefined) await writePiece(writer, hash, first, pieces[first] ?? bytes)
  return missing
}

export async function writePiece(writer: Connection, hash: string, piece: number, bytes: Uint8Array): Promise<void> {
  await writer.runOnce(
    'INSERT INTO file_contents (content_hash, content_piece, content_bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    [hash, piece, bytes],
  )
}

/** Rows of id, run, hash, media type, name, size and address, before their contents. */
export async function copyFiles(writer: Connection, sessionId: string, rows: readonly SqlValue[][]): Promise<void> {
  const values = Array.from({ length: 7 }, (_, place) => `value ->> ${place}`).join(', ')
  if (rows.length === 0) return
  await writer.run(`INSERT INTO files (file_session_id, ${copiedColumns}) SELECT ?, ${values} FROM json_each(?)`, [
    sessionId,
    JSON.stringify(rows),
  ])
}

async function complete(writer: Connection, file: NewFile, fileId: string): Promise<void> {
  await writer.run('UPDATE files SET file_run_id = ? WHERE file_session_id = ? AND file_id = ?', [
    file.run_id,
    file.session_id,
    fileId,
  ])
}
