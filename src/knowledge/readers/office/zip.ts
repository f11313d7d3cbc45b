import { inflateRawSync } from 'node:zlib'
import { Unreadable } from '../markup/unreadable.ts'

export interface Archive {
  names: readonly string[]
  /** Undefined without such a file. Throws `Unreadable` when it is damaged. */
  bytes(name: string): Buffer | undefined
  /** An XML or HTML file as text, in the encoding that it declares. */
  text(name: string): string | undefined
}

const maxEntries = 5_000
/** Unpacked size of all entries. */
const maxBytes = 200_000_000
/** Unpacked to packed size, above one megabyte. */
const maxRatio = 100
const endSignature = 0x06054b50
const entrySignature = 0x02014b50
const localSignature = 0x04034b50

interface Entry {
  size: number
  packed: number
  local: number
  method: number
}

/** The files of a ZIP archive, unpacked when they are asked for. Throws `Unreadable` if it is too large or damaged. */
export function openArchive(bytes: Uint8Array): Archive {
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = findEnd(archive)
  const count = archive.readUInt16LE(end + 10)
  if (count > maxEntries) throw new Unreadable(`the archive has more than ${maxEntries} files`)
  const entries = new Map<string, Entry>()
  let total = 0
  let at = archive.readUInt32LE(end + 16)
  for (let each = 0; each < count; each++) {
    if (at + 46 > archive.length || archive.readUInt32LE(at) !== entrySignature) throw damaged()
    const nameEnd = at + 46 + archive.readUInt16LE(at + 28)
    const next = nameEnd + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
    const entry = entryAt(archive, at, archive.subarray(nameEnd, nameEnd + archive.readUInt16LE(at + 30)))
    total += entry.size
    if (total > maxBytes || (total > 1_000_000 && total > archive.length * maxRatio))
      throw new Unreadable(
        `unpacked it would be ${Math.round(total / 1e6)} MB, ${Math.round(total / archive.length)} times its size`,
      )
    if (archive.readUInt16LE(at + 8) & 1) throw new Unreadable('it is protected by a password')
    entries.set(archive.toString('utf8', at + 46, nameEnd).replaceAll('\\', '/'), entry)
    at = next
  }
  const read = (name: string) => {
    const entry = entries.get(name)
    return entry && unpack(archive, entry)
  }
  return {
    names: [...entries.keys()],
    bytes: read,
    text(name) {
      const content = read(name)
      return content && decodeMarkup(content)
    },
  }
}

/** Only a comment of at most 64 KB may follow the end record. */
function findEnd(archive: Buffer): number {
  for (let index = archive.length - 22; index >= Math.max(0, archive.length - 65_557); index--)
    if (archive.readUInt32LE(index) === endSignature) return index
  throw damaged()
}

/** Programs that do not know a size in advance put it into a field of 64 bits, in this order. */
function entryAt(archive: Buffer, at: number, extra: Buffer): Entry {
  const wide: number[] = []
  for (let place = 0; place + 4 <= extra.length; place += 4 + extra.readUInt16LE(place + 2))
    if (extra.readUInt16LE(place) === 1)
      for (
        let value = place + 4;
        value + 8 <= Math.min(extra.length, place + 4 + extra.readUInt16LE(place + 2));
        value += 8
      )
        wide.push(Number(extra.readBigUInt64LE(value)))
  const number = (offset: number) => {
    const value = archive.readUInt32LE(at + offset)
    return value === 0xffffffff ? (wide.shift() ?? value) : value
  }
  const size = number(24)
  const packed = number(20)
  return { size, packed, local: number(42), method: archive.readUInt16LE(at + 10) }
}

function unpack(archive: Buffer, { size, packed, local, method }: Entry): Buffer {
  if (local + 30 > archive.length || archive.readUInt32LE(local) !== localSignature) throw damaged()
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
  const bytes = archive.subarray(start, start + packed)
  if (bytes.length !== packed) throw damaged()
  if (method === 0) return bytes
  if (method !== 8) throw new Unreadable('its compression method is not supported')
  try {
    const unpacked = inflateRawSync(bytes, { maxOutputLength: size + 1 })
    if (unpacked.length === size) return unpacked
  } catch (error) {
    if (!(error instanceof RangeError)) throw damaged()
  }
  throw new Unreadable('the archive declares wrong sizes')
}

/** UTF-8 unless a mark or the XML declaration says otherwise. */
function decodeMarkup(content: Buffer): string {
  const mark = content.length > 1 ? content.readUInt16BE(0) : 0
  const declared = /^<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)/i.exec(content.toString('latin1', 0, 300))?.[1]
  const encoding = mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : (declared ?? 'utf-8')
  try {
    return new TextDecoder(encoding).decode(content)
  } catch {
    throw new Unreadable(`it has a file in the encoding ${encoding}, which can't be decoded`)
  }
}

function damaged(): Unreadable {
  return new Unreadable('the archive is damaged or cut off')
}
