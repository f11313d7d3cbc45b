/** A file of a session, without its content. */
export interface StoredFile {
  /** Names the file in its session only. */
  file_id: string
  session_id: string
  /** The run that brought or made it; the file is deleted with it. */
  run_id: string
  media_type: string
  name: string | null
  /** In bytes. */
  size: number
  /** Where it was fetched from. */
  url: string | null
  /** Its run's input is not checked yet: only the run may see it. */
  unchecked: boolean
}

export interface NewFile extends Pick<StoredFile, 'session_id' | 'run_id' | 'media_type' | 'name' | 'url'> {
  bytes: Uint8Array
}

/** Contents are kept and read in pieces of this size. */
export const filePieceBytes = 1024 * 1024

/**
 * The part of the session store that keeps files. Equal contents are stored once. A file whose run is not in the store does
 * not exist for readers; `recover` deletes it.
 */
export interface FileStore {
  /** Durable when it resolves, under a new random id. The run may start later. */
  saveFile(file: NewFile): Promise<Pick<StoredFile, 'file_id' | 'size'>>
  findFile(sessionId: string, fileId: string): Promise<StoredFile | undefined>
  /** Undefined after the last piece, and without the file. */
  readFilePiece(sessionId: string, fileId: string, piece: number): Promise<Uint8Array | undefined>
  /** A file of the session that was fetched from this address. */
  findFetched(sessionId: string, url: string): Promise<StoredFile | undefined>
  /** The files of a run, in no particular order. */
  listFiles(runId: string): Promise<StoredFile[]>
  /** Call it when the start of a run was refused: deletes its files, unless the run is in the store. */
  dropFiles(runId: string): Promise<void>
}

const maxAddressCharacters = 8 * 1024

/** Whether it can be the address of a file. */
export function isWebAddress(url: unknown): boolean {
  if (typeof url !== 'string' || url.length > maxAddressCharacters || !URL.canParse(url)) return false
  return ['http:', 'https:'].includes(new URL(url).protocol)
}
