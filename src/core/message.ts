import type { EmittedEvent, RunEvent } from './event.ts'
import type { Json } from './json.ts'

export interface TextPart {
  type: 'text'
  text: string
}
export interface DataPart {
  type: 'data'
  data: Json
}
/** A file of the session, or one elsewhere by its address. */
export interface FilePart {
  type: 'file'
  media_type: string
  name?: string
  /** Names a file that the session keeps, in that session only. */
  file_id?: string
  /** In bytes; with `file_id`. */
  size?: number
  /** http or https. With a `file_id` too, the session keeps what was fetched from there. */
  url?: string
}
/** A file on its way in; the record never holds it. */
export interface UploadedFilePart extends Pick<FilePart, 'type' | 'media_type' | 'name'> {
  /** The content: base64, or bytes. */
  data: string | Uint8Array
}
export type Part = TextPart | DataPart | FilePart
/** A part as a caller or an entity gives it. */
export type GivenPart = Part | UploadedFilePart

export type Role = 'user' | 'assistant'

/** One message, as it is recorded and sent. The record uses the names of the wire. */
export interface Message {
  message_id: string
  run_id: string
  role: Role
  parts: Part[]
  /** See `contentOf`. */
  content: string
  created_at: string
}

/** Adds an event of the answer to the parts; ignores all other events. */
export function addToParts(parts: Part[], event: EmittedEvent | RunEvent): void {
  if (event.type === 'data') parts.push({ type: 'data', data: event.data })
  else if (event.type === 'file') parts.push(filePartOf(event))
  else if (event.type === 'text_delta' && event.text !== '') {
    const last = parts.at(-1)
    if (last?.type === 'text') last.text += event.text
    else parts.push({ type: 'text', text: event.text })
  }
}

export function filePartOf({ type, media_type, name, file_id, size, url }: FilePart): FilePart {
  const part: FilePart = { type, media_type }
  if (name !== undefined) part.name = name
  if (file_id !== undefined) part.file_id = file_id
  if (size !== undefined) part.size = size
  if (url !== undefined) part.url = url
  return part
}

/** The ids of the files that the parts name. */
export function filesIn(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => (part.type === 'file' && part.file_id !== undefined ? [part.file_id] : []))
}

/** The parts as text for a model, with data as JSON; files are not text. */
export function promptText(parts: readonly Part[]): string {
  return parts
    .flatMap((part) => (part.type === 'text' ? [part.text] : part.type === 'data' ? [JSON.stringify(part.data)] : []))
    .join('\n')
}

/** The parts for a model, in order: files, and between them text as in `promptText`. */
export function promptPieces(parts: readonly Part[]): (string | FilePart)[] {
  const pieces: (string | FilePart)[] = []
  let texts: Part[] = []
  const endText = () => {
    const text = promptText(texts)
    if (text !== '') pieces.push(text)
    texts = []
  }
  for (const part of parts) {
    if (part.type !== 'file') texts.push(part)
    else {
      endText()
      pieces.push(part)
    }
  }
  endText()
  return pieces
}

/** A message's `content`: the text of the parts; without text, the JSON of the last data part. */
export function contentOf(parts: readonly Part[]): string {
  const text = textOf(parts)
  if (text !== '') return text
  const data = lastDataOf(parts)
  return data === undefined ? '' : JSON.stringify(data)
}

export function lastDataOf(parts: readonly Part[]): Json | undefined {
  const last = parts.findLast((part) => part.type === 'data')
  return last?.type === 'data' ? last.data : undefined
}

export function textOf(parts: readonly Part[]): string {
  const first = parts[0]
  if (parts.length === 1 && first?.type === 'text') return first.text
  let text = ''
  for (const part of parts) if (part.type === 'text') text += part.text
  return text
}
