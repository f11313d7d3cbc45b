import { isUtf8 } from 'node:buffer'
import { AppError, invalid } from '../../core/error.ts'

/** Lower case, without parameters; undefined when there is none. */
export function mediaTypeOf(contentType: string | undefined): string | undefined {
  if (contentType === undefined) return undefined
  const end = contentType.indexOf(';')
  const type = (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
  return type === '' ? undefined : type
}

/** `application/json` and every `+json`. */
export function isJsonType(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json')
}

const parameter = /;\s*([a-z0-9!#$&^_.+-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/giy

/** One parameter of a Content-Type (RFC 9110 5.6.6), unquoted; undefined when it is absent. */
export function parameterOf(contentType: string, name: string): string | undefined {
  parameter.lastIndex = contentType.indexOf(';')
  if (parameter.lastIndex === -1) return undefined
  for (let match = parameter.exec(contentType); match !== null; match = parameter.exec(contentType)) {
    if (match[1]?.toLowerCase() !== name) continue
    return match[2] === undefined ? match[3] : match[2].replace(/\\(.)/g, '$1')
  }
  return undefined
}

/** Decodes strictly: invalid bytes are `invalid_request`, an unknown charset `unsupported_media_type`. */
export function decodeText(bytes: Buffer, contentType: string | undefined): string {
  const charset = foreignCharset(contentType)
  if (charset === undefined) {
    if (!isUtf8(bytes)) throw invalid('The body is not valid UTF-8.')
    const text = bytes.toString('utf8')
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  }
  return decode(createDecoder(charset), charset, bytes, false)
}

/** Converts pieces of text to UTF-8 from the charset of Content-Type. UTF-8 is passed through unchecked. */
export async function* toUtf8(pieces: AsyncIterable<Buffer>, contentType: string | undefined): AsyncGenerator<Buffer> {
  const charset = foreignCharset(contentType)
  if (charset === undefined) return yield* pieces
  const decoder = createDecoder(charset)
  for await (const piece of pieces) yield Buffer.from(decode(decoder, charset, piece, true))
  yield Buffer.from(decode(decoder, charset, undefined, false))
}

/** Undefined for UTF-8. */
function foreignCharset(contentType: string | undefined): string | undefined {
  const charset = contentType?.includes('=') ? parameterOf(contentType, 'charset')?.toLowerCase() : undefined
  return charset === 'utf-8' || charset === 'utf8' ? undefined : charset
}

function decode(
  decoder: ReturnType<typeof createDecoder>,
  charset: string,
  bytes: Buffer | undefined,
  stream: boolean,
): string {
  try {
    return decoder.decode(bytes, { stream })
  } catch {
    throw invalid(`The body is not valid ${charset}.`)
  }
}

function createDecoder(charset: string) {
  try {
    return new TextDecoder(charset, { fatal: true })
  } catch {
    throw new AppError('unsupported_media_type', `The charset '${charset}' is not supported. Send UTF-8.`)
  }
}
