import type { ModelMessage } from 'ai'

/*
 * Files inside messages, in every form that the AI SDK knows: of messages (`data` bare or tagged) and of a provider's prompt.
 */

/** A file whose content is inside a message. */
export interface InlineFile {
  bytes(): Uint8Array
  size: number
  mediaType: string
  filename?: string | undefined
}

/** The field with the content, by the type of the part. */
const contentFields: Readonly<Record<string, string>> = {
  file: 'data',
  'reasoning-file': 'data',
  image: 'image',
  'file-data': 'data',
  'image-data': 'data',
}

type Part = Record<string, unknown> & { type: string }

/** A copy of the messages with other parts in place of files; messages without files are not copied. */
export function mapFiles(messages: unknown, replace: (part: Part) => unknown): unknown {
  if (!Array.isArray(messages)) return messages
  return messages.map((message: { content?: unknown }) => withContent(message, 'content', replace))
}

function withContent<T extends object>(holder: T, field: keyof T, replace: (part: Part) => unknown): T {
  const list: unknown = holder[field]
  if (!Array.isArray(list)) return holder
  let isChanged = false
  const next = list.map((part: unknown) => {
    const other = mapPart(part, replace)
    isChanged ||= other !== part
    return other
  })
  return isChanged ? { ...holder, [field]: next } : holder
}

function mapPart(part: unknown, replace: (part: Part) => unknown): unknown {
  if (!isPart(part)) return part
  if (part.type === 'tool-result') {
    const { output } = part
    if (!isPart(output) || output.type !== 'content') return part
    const mapped = withContent(output, 'value', replace)
    return mapped === output ? part : { ...part, output: mapped }
  }
  return part.type in contentFields ? replace(part) : part
}

/** The file of a part; undefined for an address and for a provider's own reference. */
export function inlineFile(part: Part): InlineFile | undefined {
  const field = contentFields[part.type]
  const content = field === undefined ? undefined : contentOf(part[field])
  if (content === undefined) return undefined
  const { mediaType = part.type === 'image' ? 'image' : 'application/octet-stream', filename } = part
  return {
    ...content,
    mediaType: content.mediaType ?? String(mediaType),
    ...(typeof filename === 'string' ? { filename } : {}),
  }
}

/** What the record shows of a file: its name, type and size, or its address. */
export function describeFiles(messages: unknown): unknown {
  return mapFiles(messages, (part) => {
    const file = inlineFile(part)
    if (file === undefined) return part
    const { filename, size, mediaType } = file
    return { type: part.type, mediaType, ...(filename === undefined ? {} : { filename }), size }
  })
}

/** The media type of a content by its first bytes; undefined for all but the usual images and PDF. */
export function mediaTypeOf(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  return signatures.find(([pattern]) => pattern.test(start))?.[1]
}

const signatures: readonly [RegExp, string][] = [
  [/^\x89PNG\r\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF[\s\S]{4}WEBP/, 'image/webp'],
  [/^[\s\S]{4}ftypavif/, 'image/avif'],
  [/^%PDF-/, 'application/pdf'],
]

/** The bytes of a binary value, never as a Buffer, whose JSON differs; undefined for any other value. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  return undefined
}

/** The bytes of a base64 text; undefined for any other text, and without bytes. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return undefined
  return fromBase64(text)
}

function fromBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'))
}

type Content = Pick<InlineFile, 'bytes' | 'size'> & { mediaType?: string | undefined }

function contentOf(value: unknown): Content | undefined {
  const bytes = bytesOf(value)
  if (bytes !== undefined) return { bytes: () => bytes, size: bytes.byteLength }
  if (typeof value === 'string') return URL.canParse(value) ? dataAddress(value) : encoded(value)
  if (value instanceof URL) return dataAddress(value.href)
  if (!isPart(value)) return undefined
  if (value.type === 'data') return contentOf(value.data)
  if (value.type === 'url') return dataAddress(String(value.url))
  if (value.type !== 'text' || typeof value.text !== 'string') return undefined
  const text = new TextEncoder().encode(value.text)
  return { bytes: () => text, size: text.byteLength }
}

function encoded(text: string): Content {
  const size = Buffer.byteLength(text, 'base64')
  return { bytes: () => fromBase64(text), size }
}

function dataAddress(address: string): Content | undefined {
  const [, mediaType, data] = /^data:([^;,]*)(?:;[^,]*)?,([\s\S]*)$/.exec(address) ?? []
  if (data === undefined) return undefined
  return { ...encoded(data), ...(mediaType ? { mediaType } : {}) }
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}

export type Messages = ModelMessage[]
