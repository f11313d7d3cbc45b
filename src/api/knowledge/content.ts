import { AppError, invalid } from '../../core/error.ts'
import type { IngestInput } from '../../core/knowledge/knowledge.ts'
import { parseJson } from '../../http/body/json-guard.ts'
import { isJsonType, mediaTypeOf } from '../../http/body/media-type.ts'
import type { HttpRequest, MultipartPart } from '../../http/request.ts'
import { ContentRequest, ContentSettings } from '../../wire/knowledge.ts'
import { parseBody, parseQuery } from '../../wire/parse.ts'

/** From JSON, a form or plain text. Throws `unsupported_media_type` otherwise. */
export async function readContent(request: HttpRequest): Promise<IngestInput> {
  // Checked first: an empty body is refused as empty, not for its type.
  const type = mediaTypeOf(request.headers['content-type'])
  if (type === 'multipart/form-data') return readForm(request.body.present ? await request.body.multipart() : [])
  if (type === 'text/plain') return readText(await request.body.text(), request.query)
  if (type !== undefined && isJsonType(type)) return parseBody(ContentRequest, await request.body.json())
  const wanted = 'Content-Type must be application/json, multipart/form-data or text/plain'
  throw new AppError('unsupported_media_type', type === undefined ? `${wanted}.` : `${wanted}, not ${type}.`)
}

function readText(content: string, query: URLSearchParams): IngestInput {
  const settings = parseQuery(ContentSettings, query, parseJson)
  if (content.trim() === '') throw invalid('content must not be empty.', 'content')
  return { ...settings, content, ...(settings.name === undefined ? { media_type: 'text/plain' } : {}) }
}

function readForm(parts: readonly MultipartPart[]): IngestInput {
  const fields = parts.flatMap((part): [string, string][] => (part.kind === 'field' ? [[part.name, part.value]] : []))
  const settings = parseQuery(ContentSettings, fields, parseJson)
  const files = parts.filter((part) => part.name === 'file')
  const file = files[0]
  if (file === undefined) throw invalid('file is required.', 'file')
  if (files.length > 1) throw invalid('file must be given once.', 'file')
  if (file.kind !== 'file') throw invalid('file must be a file: give it a filename.', 'file')
  if (file.bytes.length === 0) throw invalid('file must not be empty.', 'file')
  const name = settings.name ?? (file.filename === '' ? undefined : file.filename)
  // Clients send this type when they don't know the real one; then the file name selects the reader.
  const type = file.mediaType === 'application/octet-stream' ? undefined : file.mediaType
  return { ...settings, name, content: file.bytes, media_type: type }
}
