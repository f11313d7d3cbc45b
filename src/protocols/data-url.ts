import type { AppError } from '../core/error.ts'
import type { GivenPart } from '../core/message.ts'

export interface DataUrlOptions {
  /** Instead of the type that the address has. */
  mediaType?: string | undefined
  name?: string | undefined
  /** The error for a broken percent-encoding. */
  broken: () => AppError
}

const dataUrl = /^data:([^,]*),/i
const isText = (mediaType: string) => /^text\//i.test(mediaType)

/** The part that a `data:` address is, text files as text: every model reads text, and only some read files. Undefined for other addresses. */
export function partOfDataUrl(url: string, { mediaType, name, broken }: DataUrlOptions): GivenPart | undefined {
  const match = dataUrl.exec(url)
  if (match === null) return undefined
  const [ofUrl = '', ...settings] = (match[1] ?? '').split(';')
  const media_type = mediaType ?? (ofUrl.trim() || 'text/plain')
  const file = { type: 'file' as const, media_type, ...(name !== undefined && name !== '' && { name }) }
  const content = url.slice(match[0].length)
  const isBase64 = settings.some((setting) => setting.trim().toLowerCase() === 'base64')
  if (isBase64 && !isText(media_type)) return { ...file, data: content }
  const bytes = isBase64 ? Buffer.from(content, 'base64') : percentDecoded(content, broken)
  return isText(media_type)
    ? { type: 'text', text: bytes.toString('utf8') }
    : { ...file, data: bytes.toString('base64') }
}

function percentDecoded(text: string, broken: () => AppError): Buffer {
  try {
    return Buffer.from(decodeURIComponent(text))
  } catch {
    throw broken()
  }
}
