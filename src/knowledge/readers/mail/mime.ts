import { bytesOf, decodeBytes, fromBase64, fromQuotedPrintable, headerText } from './charset.ts'

export interface MimePart {
  /** Names in lower case; values unfolded, a byte in each character. The first of a name counts. */
  headers: Map<string, string>
  type: string
  parameters: Map<string, string>
  /** A byte in each character, still encoded. */
  body: string
}

const maxHeaderBytes = 256_000

/** One message or part of one; a byte in each character. */
export function parsePart(message: string): MimePart {
  const gap = /\r?\n\r?\n/.exec(message)
  const startsWithBody = /^\r?\n/.exec(message)
  const [headEnd, bodyStart] = startsWithBody
    ? [0, startsWithBody[0].length]
    : [gap?.index ?? message.length, gap ? gap.index + gap[0].length : message.length]
  const headers = new Map<string, string>()
  const head = message.slice(0, Math.min(headEnd, maxHeaderBytes)).replace(/\r?\n[ \t]+/g, ' ')
  for (const line of head.split(/\r?\n/)) {
    const [, name = '', value = ''] = /^([!-9;-~]+)[ \t]*:(.*)$/.exec(line) ?? []
    if (name !== '' && !headers.has(name.toLowerCase())) headers.set(name.toLowerCase(), value.trim())
  }
  const contentType = headers.get('content-type') ?? 'text/plain'
  return {
    headers,
    type: contentType.split(';', 1)[0]?.trim().toLowerCase() || 'text/plain',
    parameters: parametersOf(contentType),
    body: message.slice(bodyStart),
  }
}

/** The parts between the boundaries of a multipart body, at most `limit`. */
export function* partsOf({ body, parameters }: MimePart, limit: number): Generator<MimePart> {
  const boundary = parameters.get('boundary') ?? ''
  if (boundary === '') return
  const mark = `--${boundary}`
  const nextMark = (from: number) => {
    for (let at = body.indexOf(mark, from); at !== -1; at = body.indexOf(mark, at + 1))
      if (at === 0 || body.charCodeAt(at - 1) === 10) return at
    return -1
  }
  let at = nextMark(0)
  for (let count = 0; at !== -1 && count < limit; count++) {
    if (body.startsWith('--', at + mark.length)) return
    const newline = body.indexOf('\n', at)
    if (newline === -1) return
    const next = nextMark(newline)
    yield parsePart(body.slice(newline + 1, next === -1 ? body.length : next))
    at = next
  }
}

/** The text of a part, with plain line ends. */
export function textOf({ headers, parameters, body }: MimePart): string {
  const encoding = headers.get('content-transfer-encoding')?.trim().toLowerCase()
  const bytes =
    encoding === 'base64'
      ? fromBase64(body)
      : encoding === 'quoted-printable'
        ? fromQuotedPrintable(body)
        : bytesOf(body)
  return decodeBytes(bytes, parameters.get('charset')).replace(/\r\n?/g, '\n')
}

/** What an attachment is called, or undefined when the part has no name. */
export function fileNameOf({ headers, parameters }: MimePart): string | undefined {
  const name = parametersOf(headers.get('content-disposition') ?? '').get('filename') ?? parameters.get('name')
  return name === undefined ? undefined : headerText(name).replace(/\s+/g, ' ').trim()
}

export function isAttachment({ headers }: MimePart): boolean {
  return /^attachment\b/i.test(headers.get('content-disposition') ?? '')
}

/** `; name=value` with quotes, and RFC 2231: in pieces (`name*0`) and with a charset (`name*=utf-8''Gr%C3%BC%C3%9Fe`). */
function parametersOf(header: string): Map<string, string> {
  const found = new Map<string, string>()
  const pieces = new Map<string, { text: string; isEncoded: boolean }>()
  const pattern = /;\s*([^\s=;]{1,100})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]*))/g
  for (const [, name = '', quoted, plain = ''] of header.slice(0, 10_000).matchAll(pattern)) {
    const value = quoted?.replace(/\\(.)/g, '$1') ?? plain
    const [, base = '', , encoded = ''] = /^([^*]+)(\*\d+)?(\*?)$/.exec(name.toLowerCase()) ?? []
    if (!name.includes('*')) found.set(base, value)
    else {
      const earlier = pieces.get(base)
      pieces.set(base, {
        text: (earlier?.text ?? '') + value,
        isEncoded: (earlier?.isEncoded ?? false) || encoded !== '',
      })
    }
  }
  for (const [name, { text, isEncoded }] of pieces) {
    const [, charset = '', rest = text] = isEncoded ? (/^([^']*)'[^']*'([\s\S]*)$/.exec(text) ?? []) : []
    const bytes = rest.replace(/%([\da-f]{2})/gi, (_whole, code) => String.fromCharCode(Number.parseInt(code, 16)))
    // As UTF-8, a byte in each character, which headers are.
    found.set(name, isEncoded ? bytesFromText(decodeBytes(bytesOf(bytes), charset)) : text)
  }
  return found
}

function bytesFromText(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}
