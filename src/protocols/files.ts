import { isAppError } from '../core/error.ts'
import type { FilePart } from '../core/message.ts'
import type { Sessions } from '../service/services.ts'

/** A stored file as it is sent: with its content, as base64. */
export interface SentFile extends FilePart {
  data?: string
}

/** Reads what the caller may read. Undefined when the file is larger than `most`, or is deleted meanwhile. */
export type ReadFile = (fileId: string, most: number) => Promise<Buffer | undefined>

export function fileReader(sessions: Pick<Sessions, 'file'>, sessionId: string): ReadFile {
  return async (fileId, most) => {
    try {
      const { file, content } = await sessions.file(sessionId, fileId)
      if (file.size > most) return undefined
      const pieces: Uint8Array[] = []
      for await (const piece of content) pieces.push(piece)
      return Buffer.concat(pieces)
    } catch (error) {
      if (isAppError(error) && /^(?:file|session)_not_found$/.test(error.code)) return undefined
      throw error
    }
  }
}

export async function withContent(part: FilePart, read: ReadFile, most: number): Promise<SentFile> {
  const bytes = part.file_id === undefined ? undefined : await read(part.file_id, most)
  // One of the two says where the content is.
  const { url: _url, ...stored } = part
  return bytes === undefined ? part : { ...stored, data: bytes.toString('base64') }
}

/** Contents of the latest files first, as many as have at most `most` bytes together. */
export async function contentsOf(parts: readonly FilePart[], read: ReadFile, most: number): Promise<SentFile[]> {
  const sent: SentFile[] = []
  let left = most
  for (const part of parts.toReversed()) {
    const file = await withContent(part, read, left)
    if (file.data !== undefined) left -= part.size ?? 0
    sent.unshift(file)
  }
  return sent
}
