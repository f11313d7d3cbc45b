import { unreadable } from '../../core/knowledge-filter.ts'

const binaryKinds: readonly [name: string, bytes: readonly number[]][] = [
  ['a PDF', [0x25, 0x50, 0x44, 0x46, 0x2d]],
  ['a ZIP archive (DOCX, XLSX, …)', [0x50, 0x4b, 0x03, 0x04]],
  ['a PNG image', [0x89, 0x50, 0x4e, 0x47]],
  ['a JPEG image', [0xff, 0xd8, 0xff]],
  ['a GIF image', [0x47, 0x49, 0x46, 0x38]],
  ['a gzip archive', [0x1f, 0x8b]],
  ['a program', [0x7f, 0x45, 0x4c, 0x46]],
]

/** Bytes as text without a byte order mark: UTF-8, UTF-16 with its mark, else Latin-1 where that gives real text. */
export function decodeText(content: string | Uint8Array, name?: string): { text: string; encoding: string } {
  if (typeof content === 'string') return { text: assertText(content, name), encoding: 'utf-8' }
  for (const [kind, bytes] of binaryKinds) {
    if (bytes.every((byte, at) => content[at] === byte))
      throw unreadable(name, `it is ${kind}, which has no reader here`)
  }
  const encoding = markedEncoding(content)
  if (encoding) return decodeMarked(content, encoding, name)
  const utf8 = tryDecode(content, 'utf-8')
  if (utf8 !== undefined) return { text: assertText(utf8, name), encoding: 'utf-8' }
  // In Latin-1 every byte means something; what people write never has the control characters of 0x80-0x9f's C1 set.
  const latin1 = tryDecode(content, 'windows-1252') ?? ''
  if (/[\x80-\x9f\ufffd]/.test(latin1)) throw unreadable(name, 'it is neither UTF-8, UTF-16 nor Latin-1 text')
  return { text: assertText(latin1, name), encoding: 'windows-1252' }
}

function markedEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return undefined
}

function decodeMarked(
  content: Uint8Array,
  encoding: string,
  name: string | undefined,
): { text: string; encoding: string } {
  const text = tryDecode(content, encoding)
  if (text === undefined) throw unreadable(name, `its byte order mark says ${encoding}, but it is not`)
  return { text: assertText(text, name), encoding }
}

function tryDecode(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function assertText(text: string, name: string | undefined): string {
  const plain = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  if (plain.includes('\0')) throw unreadable(name, 'it has NUL characters, so it is binary')
  const sample = plain.slice(0, 20_000)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what tells binary from text
  const controls = sample.match(/[\x01-\x08\x0e-\x1a\x1c-\x1f]/g)?.length ?? 0
  if (controls > 8 && controls > sample.length / 50)
    throw unreadable(name, 'it is mostly control characters, so it is binary')
  return plain.toWellFormed()
}
