import { filePieceBytes, type NewFile, type StoredFile } from '../../../core/file.ts'
import { createFileId } from '../../../core/id.ts'
import type { FileRow, MemoryState } from './rows.ts'

export function insertFile(state: MemoryState, file: NewFile, hash: string): Pick<StoredFile, 'file_id' | 'size'> {
  const saved = { file_id: createFileId(), size: file.bytes.byteLength }
  keepFile(state, { ...file, ...saved }, hash)
  return saved
}

export function keepFile(state: MemoryState, { bytes, ...file }: NewFile & FileRow['file'], hash: string): void {
  const content = state.contents.get(hash)
  if (content === undefined) state.contents.set(hash, { bytes: bytes.slice(), files: 1 })
  else content.files++
  const files = state.files.get(file.session_id) ?? new Map<string, FileRow>()
  files.set(file.file_id, { file, hash })
  state.files.set(file.session_id, files)
}

export function findFile(state: MemoryState, sessionId: string, fileId: string): StoredFile | undefined {
  return shown(state, state.files.get(sessionId)?.get(fileId))
}

export function findFetched(state: MemoryState, sessionId: string, url: string): StoredFile | undefined {
  for (const row of state.files.get(sessionId)?.values() ?? []) {
    const found = row.file.url === url ? shown(state, row) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

export function listFiles(state: MemoryState, runId: string): StoredFile[] {
  const sessionId = state.runs.get(runId)?.record.session_id ?? ''
  const rows = [...(state.files.get(sessionId)?.values() ?? [])].filter(({ file }) => file.run_id === runId)
  return rows.flatMap((row) => shown(state, row) ?? [])
}

export function readFilePiece(
  state: MemoryState,
  sessionId: string,
  fileId: string,
  piece: number,
): Uint8Array | undefined {
  const row = state.files.get(sessionId)?.get(fileId)
  const bytes = row && shown(state, row) && state.contents.get(row.hash)?.bytes
  const from = piece * filePieceBytes
  if (bytes === undefined || (from > 0 && from >= bytes.byteLength)) return undefined
  return bytes.slice(from, from + filePieceBytes)
}

export function dropFiles(state: MemoryState, runId: string): void {
  if (!state.runs.has(runId)) deleteFiles(state, ({ run_id }) => run_id === runId)
}

/** Without `sessionId`, of all sessions. */
export function deleteFiles(state: MemoryState, isMeant: (file: FileRow['file']) => boolean, sessionId?: string): void {
  for (const id of sessionId === undefined ? [...state.files.keys()] : [sessionId]) {
    const files = state.files.get(id)
    for (const [fileId, { file, hash }] of files ?? []) {
      if (!isMeant(file)) continue
      files?.delete(fileId)
      const content = state.contents.get(hash)
      if (content !== undefined && --content.files === 0) state.contents.delete(hash)
    }
    if (files?.size === 0) state.files.delete(id)
  }
}

/** Only a file whose run is in the store exists for readers. */
function shown(state: MemoryState, row: FileRow | undefined): StoredFile | undefined {
  const run = row && state.runs.get(row.file.run_id)
  if (row === undefined || run?.record.session_id !== row.file.session_id) return undefined
  return { ...row.file, unchecked: run.unchecked !== undefined }
}
