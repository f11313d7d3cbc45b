import { invalid } from '../../core/error.ts'
import type { Json } from '../../core/json.ts'
import type { GivenPart } from '../../core/message.ts'

/** A file of the session that the page got from the reload and sends again. */
export interface KeptFile {
  type: 'kept-file'
  file_id: string
  media_type: string
  name?: string
}

export type PostedPart = GivenPart | KeptFile

const dataUrl = /^data:([^,]*),/i

/** The parts of a posted user message. What is no input, such as steps and tools, is left out. `at`: its path, for errors. */
export function readParts(value: unknown, at: string, fileIdOf: (url: string) => string | undefined): PostedPart[] {
  if (!Array.isArray(value)) throw invalid(`${at} must be a list of parts.`, at)
  const parts: PostedPart[] = []
  for (const [place, part] of value.entries()) {
    const path = `${at}.${place}`
    if (!isObject(part) || typeof part.type !== 'string') throw invalid(`${path} must be a part with a type.`, path)
    if (part.type === 'text') {
      if (typeof part.text !== 'string') throw invalid(`${path}.text must be a string.`, `${path}.text`)
      parts.push({ type: 'text', text: part.text })
    } else if (part.type === 'file') parts.push(readFile(part, path, fileIdOf))
    else if (part.type.startsWith('data-')) {
      parts.push({ type: 'data', data: { name: part.type.slice(5), data: (part.data ?? null) as Json } })
    }
  }
  if (parts.length === 0) throw invalid(`${at} has nothing to answer: send a text, file or data part.`, at)
  return parts
}

function readFile(
  { url, mediaType, filename }: Record<string, unknown>,
  path: string,
  fileIdOf: (url: string) => string | undefined,
): PostedPart {
  if (typeof url !== 'string') throw invalid(`${path}.url must be a string.`, `${path}.url`)
  const match = dataUrl.exec(url)
  const [ofUrl = '', ...settings] = (match?.[1] ?? '').split(';')
  const media_type = mediaType ?? (ofUrl === '' ? 'text/plain' : ofUrl)
  if (typeof media_type !== 'string') throw invalid(`${path}.mediaType must be a string.`, `${path}.mediaType`)
  const file = { media_type, ...(typeof filename === 'string' && filename !== '' && { name: filename }) }
  if (match === null) {
    const file_id = fileIdOf(url)
    return file_id === undefined ? { type: 'file', ...file, url } : { type: 'kept-file', ...file, file_id }
  }
  const content = url.slice(match[0].length)
  const isBase64 = settings.some((setting) => setting.trim().toLowerCase() === 'base64')
  if (isBase64 && !/^text\//i.test(media_type)) return { type: 'file', ...file, data: content }
  const bytes = isBase64 ? Buffer.from(content, 'base64') : percentDecoded(content, path)
  // Every model reads text; only some read files.
  return /^text\//i.test(media_type)
    ? { type: 'text', text: bytes.toString('utf8') }
    : { type: 'file', ...file, data: bytes.toString('base64') }
}

function percentDecoded(text: string, path: string): Buffer {
  try {
    return Buffer.from(decodeURIComponent(text))
  } catch {
    throw invalid(`${path}.url is a data: address with a broken percent-encoding.`, `${path}.url`)
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
