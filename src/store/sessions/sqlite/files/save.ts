import { filePieceBytes, type NewFile, type StoredFile } from '../../../../core/file.ts'
import { createFileId } from '../../../../core/id.ts'
import { hashOf } from '../../../rules/file-pieces.ts'
import type { Connection } from '../../../sqlite/connection.ts'
import { deleteFiles } from './delete.ts'

export type Work = <T>(work: (writer: Connection) => Promise<T>, characters?: number) => Promise<T>

/** The run of a file that is not complete: there is none of this id, so the file does not exist for readers. */
const incomplete = ''

/** Writes one piece per commit, so that no other write waits for a large file. */
export async function saveFile(work: Work, file: NewFile): Promise<Pick<StoredFile, 'file_id' | 'size'>> {
  const { session_id: sessionId, bytes } = file
  const saved = { file_id: createFileId(), size: bytes.byteLength }
  const hash = await hashOf(bytes)
  try {
    const [first, ...rest] = await work((writer) => begin(writer, file, saved, hash), filePieceBytes)
    if (first === undefined || rest.length === 0) return saved
    for (const piece of rest) {
      await work(async (writer) => {
        await writePiece(writer, hash, bytes, piece)
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
  const count = Math.max(1, Math.ceil(size / filePieceBytes))
  const missing = Array.from({ length: count }, (_, piece) => piece).filter((piece) => !present.has(piece))
  const runId = missing.length > 1 ? incomplete : run_id
  await writer.run(
    `INSERT INTO files (file_session_id, file_id, file_run_id, file_hash, file_media_type, file_name, file_size, file_url)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [session_id, file_id, runId, hash, media_type, name, size, url],
  )
  const [first] = missing
  if (first !== undefined) await writePiece(writer, hash, bytes, first)
  return missing
}

async function writePiece(writer: Connection, hash: string, bytes: Uint8Array, piece: number): Promise<void> {
  const from = piece * filePieceBytes
  await writer.runOnce(
    'INSERT INTO file_contents (content_hash, content_piece, content_bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    [hash, piece, bytes.subarray(from, from + filePieceBytes)],
  )
}

async function complete(writer: Connection, file: NewFile, fileId: string): Promise<void> {
  await writer.run('UPDATE files SET file_run_id = ? WHERE file_session_id = ? AND file_id = ?', [
    file.run_id,
    file.session_id,
    fileId,
  ])
}
