import { notFound } from '../../core/error.ts'
import type { StoredFile } from '../../core/file.ts'
import type { FilePart } from '../../core/message.ts'
import type { CopiedFile } from '../../core/session.ts'
import type { SessionStore } from '../../core/store.ts'

/** Ends early when the file is deleted meanwhile. */
async function* readPieces(
  store: Pick<SessionStore, 'readFilePiece'>,
  { session_id, file_id, size }: StoredFile,
): AsyncGenerator<Uint8Array> {
  let piece = 0
  for (let read = 0; read < size; piece++) {
    const bytes = await store.readFilePiece(session_id, file_id, piece)
    if (bytes === undefined || bytes.byteLength === 0) return
    read += bytes.byteLength
    yield bytes
  }
}

/** Throws when the file is deleted meanwhile, so that what was read is not taken for the whole. */
export async function* wholeContent(
  store: Pick<SessionStore, 'readFilePiece'>,
  file: StoredFile,
): AsyncGenerator<Uint8Array> {
  let read = 0
  for await (const bytes of readPieces(store, file)) {
    read += bytes.byteLength
    yield bytes
  }
  if (read !== file.size) throw notFound('file', file.file_id)
}

/** The files of a run as a copy has them, without those of unchecked input. */
export async function* filesOf(
  store: Pick<SessionStore, 'listFiles' | 'readFilePiece'>,
  runId: string,
): AsyncGenerator<CopiedFile> {
  for (const file of await store.listFiles(runId)) {
    const bytes = file.unchecked ? undefined : await readWhole(store, file)
    const { file_id, media_type, name, url } = file
    if (bytes !== undefined) yield { file_id, media_type, name, url, bytes }
  }
}

/** Undefined when the file is not there, or is deleted meanwhile. */
export async function readWhole(
  store: Pick<SessionStore, 'readFilePiece'>,
  file: StoredFile,
): Promise<Uint8Array | undefined> {
  const whole = new Uint8Array(file.size)
  let read = 0
  for await (const bytes of readPieces(store, file)) {
    if (read + bytes.byteLength > file.size) return undefined
    whole.set(bytes, read)
    read += bytes.byteLength
  }
  return read === file.size ? whole : undefined
}

/** The part that names a stored file. */
export function partOf({
  media_type,
  name,
  file_id,
  size,
  url,
}: Omit<StoredFile, 'session_id' | 'run_id' | 'unchecked'>): FilePart {
  return {
    type: 'file',
    media_type,
    ...(name !== null && { name }),
    file_id,
    size,
    ...(url !== null && { url }),
  }
}
