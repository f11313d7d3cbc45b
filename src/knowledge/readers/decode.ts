import { unreadable } from '../../core/knowledge/filter.ts'
import { binaryKind } from './signatures.ts'

export interface Decoded {
  text: string
  encoding: string
}

const sampleBytes = 65_536
/** For texts that are too short for statistics: Western letters and common marks. */
const latinText =
  /^[\0-\x7f\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u2013\u2014\u2018-\u201e\u2026\u20ac\u00a0\u00a3\u00a7\u00a9\u00ab\u00ae\u00b0\u00b4\u00b7\u00bb]*$/
/** Below this confidence chardet is guessing. */
const minConfidence = 20

/**
 * Bytes as text without a byte order mark. The mark decides, then the declared charset, then the content: UTF-8,
 * UTF-16, else the likeliest older encoding. Throws `unreadable_document` rather than guess or replace characters.
 */
export async function decodeText(content: string | Uint8Array, name?: string, charset?: string): Promise<Decoded> {
  if (typeof content === 'string') return { text: assertText(content, name), encoding: 'utf-8' }
  const kind = binaryKind(content)
  if (kind !== undefined) throw unreadable(name, `it is ${kind}, which has no reader`)
  const marked = markedEncoding(content)
  if (marked) return decodeAs(content, marked, name, 'its byte order mark says')
  if (charset !== undefined && isKnown(charset)) return decodeAs(content, charset, name, 'it is declared to be')
  const utf8 = tryDecode(content, 'utf-8')
  const wide = utf8 === undefined || utf8.includes('\0') ? wideEncoding(content) : undefined
  if (wide) return decodeAs(content, wide, name, 'it looks like')
  if (utf8 !== undefined) return { text: assertText(utf8, name), encoding: 'utf-8' }
  const broken = brokenUtf8(content)
  if (broken !== undefined) throw unreadable(name, `it has bytes that are not valid UTF-8, the first at byte ${broken}`)
  return decodeOlder(content, name)
}

/** The charset of the media type, or of an HTML page's own declaration. */
export function declaredCharset(
  reader: string,
  content: string | Uint8Array,
  mediaType: string | undefined,
): string | undefined {
  const named = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(mediaType ?? '')?.[1]
  if (named !== undefined || reader !== 'html' || typeof content === 'string') return named
  const head = Buffer.from(content.buffer, content.byteOffset, Math.min(content.length, 4_096)).toString('latin1')
  const declared = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head)?.[1]
  // A page that is readable as ASCII up to here is not UTF-16, whatever it declares (HTML, "prescan a byte stream").
  return declared !== undefined && /^utf-?16/i.test(declared) ? 'utf-8' : declared
}

export function markedEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes[2] === 0 && bytes[3] === 0 ? 'utf-32le' : 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return undefined
}

/** UTF-16 without a mark, recognised by its zero bytes: most texts have many characters below U+0100. */
function wideEncoding(bytes: Uint8Array): string | undefined {
  const zeros = [0, 0]
  const end = Math.min(bytes.length, sampleBytes)
  for (let index = 0; index < end; index++) if (bytes[index] === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  if (odd > end / 8 && even < odd / 20) return 'utf-16le'
  if (even > end / 8 && odd < even / 20) return 'utf-16be'
  return undefined
}

/** The offset of the first invalid byte in a text that otherwise looks like UTF-8. */
function brokenUtf8(bytes: Uint8Array): number | undefined {
  let good = 0
  let bad = 0
  let first: number | undefined
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0
    const more =
      byte < 0x80
        ? 0
        : byte >= 0xc2 && byte < 0xe0
          ? 1
          : byte >= 0xe0 && byte < 0xf0
            ? 2
            : byte >= 0xf0 && byte < 0xf5
              ? 3
              : -1
    let followed = 0
    while (followed < more && ((bytes[at + 1 + followed] ?? 0) & 0xc0) === 0x80) followed++
    if (more === followed) good += more > 0 ? 1 : 0
    else {
      bad++
      first ??= at
    }
    at += 1 + followed
  }
  return good > bad * 3 ? first : undefined
}

async function decodeOlder(content: Uint8Array, name: string | undefined): Promise<Decoded> {
  const cyrillic = cyrillicEncoding(content.subarray(0, sampleBytes))
  if (cyrillic !== undefined) return decodeAs(content, cyrillic, name, 'it looks like')
  const isLatin = !hasForeignWords(content.subarray(0, sampleBytes))
  const { analyse } = await import('chardet')
  for (const { name: found, confidence } of analyse(content.subarray(0, sampleBytes))) {
    const encoding = found === 'ISO-8859-1' ? 'windows-1252' : found.toLowerCase()
    if (confidence < minConfidence || encoding.startsWith('utf-') || !isKnown(encoding)) continue
    if (!isLatin && latinEncodings.test(encoding)) continue
    const text = tryDecode(content, encoding)
    // Texts never contain the control characters 0x80-0x9f, although Latin-1 decodes every byte.
    if (text !== undefined && !/[\x80-\x9f\ufffd]/.test(text) && !oddText.test(text))
      return { text: assertText(text, name), encoding }
  }
  const latin = tryDecode(content, 'windows-1252') ?? ''
  if (isLatin && latinText.test(latin) && !oddText.test(latin))
    return { text: assertText(latin, name), encoding: 'windows-1252' }
  throw unreadable(
    name,
    'it is not UTF-8, and its encoding could not be detected; name it with --encoding or a charset',
  )
}

const latinEncodings = /^(windows-125[024]|iso-8859-(1|2|9))$/
/** In no text: a capital that ASCII lacks behind a small letter, £ before a letter, parts of boxes beside one. */
const oddText = /[a-zà-öø-ÿ][À-ÖØ-ÞŠŽŸ]|£[A-Za-zÀ-ÿ]|[\u2500-\u259f]\p{L}|\p{L}[\u2500-\u259f]/u

/** Whether most letters beyond ASCII stand in rows of three and more, as no language with Latin letters has them. */
function hasForeignWords(bytes: Uint8Array): boolean {
  let inRows = 0
  let all = 0
  let row = 0
  for (let at = 0; at <= bytes.length; at++) {
    if ((bytes[at] ?? 0) >= 0x80) {
      row++
      continue
    }
    all += row
    if (row >= 3) inRows += row
    row = 0
  }
  return inRows > all / 2
}

/** Two thirds of the letters of Slavic texts, also of short ones. */
const commonCyrillic = /[оаеинтсрвлкмі]/gu
const commonPart = 0.55
const fewestLetters = 5

/** Cyrillic by the letters that it would have; undefined when none fits or several do. */
function cyrillicEncoding(bytes: Uint8Array): string | undefined {
  if (!hasForeignWords(bytes)) return undefined
  const fitting = ['windows-1251', 'koi8-u', 'ibm866', 'iso-8859-5'].filter((encoding) => {
    const text = tryDecode(bytes, encoding) ?? ''
    const letters = text.match(/[^\p{ASCII}\u00a0«»—–…№“”„‘’•°±©]/gu) ?? []
    const common = text.match(commonCyrillic) ?? []
    const isCyrillic = letters.every((letter) => /\p{Script=Cyrillic}/u.test(letter))
    // Hebrew would have such letters, and only small ones.
    const likeHebrew = text.match(/[ъщш]/gu) ?? []
    if (likeHebrew.length > letters.length / 10 && !/[А-Яыьэюяё]/u.test(text)) return false
    return isCyrillic && letters.length >= fewestLetters && common.length >= letters.length * commonPart
  })
  return fitting.length === 1 ? fitting[0] : undefined
}

function decodeAs(content: Uint8Array, encoding: string, name: string | undefined, who: string): Decoded {
  const text = isKnown(encoding) ? tryDecode(content, encoding) : undefined
  if (text === undefined) throw unreadable(name, `${who} ${encoding}, but it can't be decoded as that`)
  return { text: assertText(text, name), encoding }
}

export function isKnown(encoding: string): boolean {
  try {
    return new TextDecoder(encoding).encoding !== ''
  } catch {
    return false
  }
}

function tryDecode(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Without a byte order mark. Throws `unreadable_document` when it is binary. */
export function assertText(text: string, name: string | undefined): string {
  const plain = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  if (plain.includes('\0')) throw unreadable(name, 'it has NUL characters, so it is binary')
  const sample = plain.slice(0, 20_000)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what tells binary from text
  const controls = sample.match(/[\x01-\x08\x0e-\x1a\x1c-\x1f]/g)?.length ?? 0
  if (controls > 8 && controls > sample.length / 50)
    throw unreadable(name, 'it is mostly control characters, so it is binary')
  return plain.toWellFormed()
}
