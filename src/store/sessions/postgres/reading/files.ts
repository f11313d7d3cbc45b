import type { StoredFile } from '../../../../core/file.ts'
import type { Reader } from './records.ts'

/** Only files whose run is in the store. */
const ofRuns = 'file JOIN run ON run.run_id = file.run_id AND run.session_id = file.session_id'
const selectFile = (
  which: string,
) => `SELECT file_id, file.session_id, file.run_id, media_type, name, size, url, unchecked
  FROM ${ofRuns} WHERE ${which}`

const selectOne = selectFile('file.session_id = $1 AND file_id = $2')
const selectFetched = selectFile('file.session_id = $1 AND url = $2 LIMIT 1')
const selectOfRun = selectFile('file.run_id = $1')
const selectPiece = `SELECT bytes FROM ${ofRuns} JOIN file_content ON file_content.hash = file.hash AND piece = $3
  WHERE file.session_id = $1 AND file_id = $2`

export async function findFile(sql: Reader, sessionId: string, fileId: string): Promise<StoredFile | undefined> {
  return (await sql.all<StoredFile>(selectOne, [sessionId, fileId]))[0]
}

export async function findFetched(sql: Reader, sessionId: string, url: string): Promise<StoredFile | undefined> {
  return (await sql.all<StoredFile>(selectFetched, [sessionId, url]))[0]
}

export function listFiles(sql: Reader, runId: string): Promise<StoredFile[]> {
  return sql.all<StoredFile>(selectOfRun, [runId])
}

export async function readFilePiece(
  sql: Reader,
  sessionId: string,
  fileId: string,
  piece: number,
): Promise<Uint8Array | undefined> {
  return (await sql.all<{ bytes: Uint8Array }>(selectPiece, [sessionId, fileId, piece]))[0]?.bytes
}
