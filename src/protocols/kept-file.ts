import { invalid } from '../core/error.ts'
import type { FilePart, GivenPart } from '../core/message.ts'
import type { Sessions } from '../service/services.ts'
import { fileReader } from './files.ts'

/** A file of the session that a client got from us and sends again. */
export interface KeptFile {
  type: 'kept-file'
  file_id: string
  media_type: string
  name?: string
}

export type PostedPart = GivenPart | KeptFile

/** Where a browser finds a stored file: a path on this server. */
export type FileAddress = (sessionId: string, fileId: string) => string

/** `prefix`: of the API. */
export function fileAddressAt(prefix: string): FileAddress {
  return (sessionId, fileId) => `${prefix}/sessions/${encodeURIComponent(sessionId)}/files/${fileId}`
}

/** The address of a file; undefined for one without any. */
export function addressOf(part: FilePart, sessionId: string, fileAddress: FileAddress): string | undefined {
  return part.file_id === undefined ? part.url : fileAddress(sessionId, part.file_id)
}

/** The file of the session that an address is. The page may have made a whole address of it. */
export function fileIdIn(fileAddress: FileAddress, sessionId: string, url: string): string | undefined {
  const path = fileAddress(sessionId, '')
  const at = url.indexOf(path)
  const isOwn = at === 0 || (at > 0 && /^https?:\/\/[^/]+$/.test(url.slice(0, at)))
  const id = url.slice(at + path.length)
  return isOwn && /^file_[0-9a-z]{26}$/.test(id) ? id : undefined
}

/** Before any of them is read. */
export function assertFew(parts: readonly PostedPart[], most: number, path: string): void {
  const count = parts.filter(({ type }) => type === 'file' || type === 'kept-file').length
  if (count <= most) return
  throw invalid(
    `The message has ${count} files, and the limit \`run.files\` is ${most}. Send fewer, or raise \`server.limits.run.files\`.`,
    path,
  )
}

/** With the contents of files that the session has already: a run has its own. */
export async function withContents(
  sessions: Pick<Sessions, 'file'>,
  sessionId: string,
  parts: readonly PostedPart[],
): Promise<GivenPart[]> {
  const given: GivenPart[] = []
  for (const part of parts) {
    given.push(part.type === 'kept-file' ? await contentOf(sessions, sessionId, part) : part)
  }
  return given
}

async function contentOf(
  sessions: Pick<Sessions, 'file'>,
  sessionId: string,
  { file_id, ...part }: KeptFile,
): Promise<GivenPart> {
  const data = await fileReader(sessions, sessionId)(file_id, Number.POSITIVE_INFINITY)
  if (data === undefined) throw invalid(`The file '${file_id}' is no longer in the chat. Send it again.`)
  return { ...part, type: 'file', data }
}
