import { invalid } from '../../core/error.ts'
import type { Json } from '../../core/json.ts'
import { partOfDataUrl } from '../data-url.ts'
import type { PostedPart } from '../kept-file.ts'

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
  if (mediaType !== undefined && mediaType !== null && typeof mediaType !== 'string')
    throw invalid(`${path}.mediaType must be a string.`, `${path}.mediaType`)
  const name = typeof filename === 'string' && filename !== '' ? { name: filename } : {}
  const given = mediaType ?? undefined
  const broken = () => invalid(`${path}.url is a data: address with a broken percent-encoding.`, `${path}.url`)
  const inside = partOfDataUrl(url, { mediaType: given, ...name, broken })
  if (inside !== undefined) return inside
  const file_id = fileIdOf(url)
  const about = { media_type: given ?? 'text/plain', ...name }
  return file_id === undefined ? { type: 'file', ...about, url } : { type: 'kept-file', ...about, file_id }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
