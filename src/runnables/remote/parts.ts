import { AppError } from '../../core/error.ts'
import type { DataEvent, ReasoningDelta } from '../../core/event.ts'
import type { FilePart, Part } from '../../core/message.ts'
import type { RunContext } from '../../core/runnable.ts'
import { decodeBase64 } from '../files/inline.ts'
import { soundType } from '../files/model-files.ts'
import type { PeerPart } from './objects.ts'

/** What a remote agent emits besides its requests for input. */
export type RemoteEmission = string | DataEvent | FilePart | ReasoningDelta

/** A part of our input. A file of the session is sent with its content. */
export async function toPeerPart(part: Part, { files }: RunContext): Promise<PeerPart> {
  if (part.type === 'text') return { type: 'text', text: part.text }
  if (part.type === 'data') return { type: 'data', data: part.data }
  const { media_type: mediaType, name, url = '', file_id } = part
  const about = { type: 'file' as const, mediaType, ...(name !== undefined && { name }) }
  if (file_id === undefined) return { ...about, url }
  const bytes = await files.read(part)
  return { ...about, raw: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') }
}

/** A part of the peer's answer. This run keeps a file that has its content; of one elsewhere it has the address. */
export async function toEmission(part: PeerPart, { files }: RunContext): Promise<RemoteEmission> {
  if (part.type === 'text') return part.text
  if (part.type === 'data') return { type: 'data', data: part.data }
  const about = fileAbout(part.mediaType, part.name)
  if (part.raw !== undefined) {
    const bytes = decodeBase64(part.raw)
    if (bytes === undefined) throw new AppError('run_failed', 'it sent a file that is not base64')
    return files.save({ ...about, bytes })
  }
  if (part.url === undefined) throw new AppError('run_failed', 'it sent a file without content and address')
  return { type: 'file', ...about, url: part.url }
}

export function fileAbout(mediaType: unknown, name: unknown): Pick<FilePart, 'media_type' | 'name'> {
  return {
    media_type: soundType(typeof mediaType === 'string' ? mediaType : undefined) ?? 'application/octet-stream',
    ...(typeof name === 'string' && name !== '' && { name: name.slice(0, 255) }),
  }
}
