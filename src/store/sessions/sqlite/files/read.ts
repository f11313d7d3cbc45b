import type { StoredFile } from '../../../../core/file.ts'
import type { SqlRow, SqlValue } from '../../../sqlite/connection.ts'

type All = (sql: string, params: readonly SqlValue[]) => Promise<SqlRow[]>

/** Only files whose run is in the store. */
const selectFile = (condition: string, columns = '') => `SELECT file_id, file_session_id, file_run_id, file_media_type,
    file_name, file_size, file_url, input ->> '$[0][4]' AS mark${columns}
  FROM files CROSS JOIN runs ON run_id = file_run_id AND run_session_id = file_session_id WHERE ${condition}`

export async function findFile(all: All, sessionId: string, fileId: string): Promise<StoredFile | undefined> {
  const [row] = await all(selectFile('file_session_id = ? AND file_id = ?'), [sessionId, fileId])
  return row && toFile(row)
}

export async function findFetched(all: All, sessionId: string, url: string): Promise<StoredFile | undefined> {
  const [row] = await all(selectFile('file_session_id = ? AND file_url = ? LIMIT 1'), [sessionId, url])
  return row && toFile(row)
}

export async function listFiles(all: All, runId: string): Promise<StoredFile[]> {
  return (await all(selectFile('file_run_id = ?'), [runId])).map(toFile)
}

export async function readFilePiece(
  all: All,
  sessionId: string,
  fileId: string,
  piece: number,
): Promise<Uint8Array | undefined> {
  const [row] = await all(
    `SELECT content_bytes FROM files CROSS JOIN runs ON run_id = file_run_id AND run_session_id = file_session_id
     CROSS JOIN file_contents ON content_hash = file_hash AND content_piece = ?
     WHERE file_session_id = ? AND file_id = ?`,
    [piece, sessionId, fileId],
  )
  return row?.content_bytes as unknown as Uint8Array | undefined
}

function toFile(row: SqlRow): StoredFile {
  return {
    file_id: row.file_id as string,
    session_id: row.file_session_id as string,
    run_id: row.file_run_id as string,
    media_type: row.file_media_type as string,
    name: row.file_name as string | null,
    size: row.file_size as number,
    url: row.file_url as string | null,
    unchecked: row.mark !== null,
  }
}
