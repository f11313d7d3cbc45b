import { inflateRawSync } from 'node:zlib'
import { Unreadable } from './reader.ts'

export interface ArchiveLimits {
  entries: number
  /** Unpacked size of all entries. */
  bytes: number
  /** Unpacked to packed size, above one megabyte. */
  ratio: number
}

const endSignature = 0x06054b50
const entrySignature = 0x02014b50
const localSignature = 0x04034b50

/** The names in a ZIP archive. Throws `Unreadable` if it is too large, states wrong sizes, or has XML with a DTD. */
export function inspectArchive(archive: Buffer, limits: ArchiveLimits): string[] {
  const end = findEnd(archive)
  const entries = archive.readUInt16LE(end + 10)
  if (entries > limits.entries) throw new Unreadable(`the archive has more than ${limits.entries} files`)
  const names: string[] = []
  let total = 0
  let at = archive.readUInt32LE(end + 16)
  for (let count = 0; count < entries; count++) {
    if (at + 46 > archive.length || archive.readUInt32LE(at) !== entrySignature) throw damaged()
    const size = archive.readUInt32LE(at + 24)
    const nameLength = archive.readUInt16LE(at + 28)
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength)
    total += size
    if (total > limits.bytes || (total > 1_000_000 && total > archive.length * limits.ratio))
      throw new Unreadable(
        `unpacked it would be ${Math.round(total / 1e6)} MB, ${Math.round(total / archive.length)} times its size`,
      )
    if (archive.readUInt16LE(at + 8) & 1) throw new Unreadable('it is protected by a password')
    const content = unpack(archive, at, size)
    if (/\.(xml|rels|vml)$/i.test(name) && /<!(doctype|entity)/i.test(content.toString('latin1')))
      throw new Unreadable('its XML declares a document type or entities')
    names.push(name)
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  }
  return names
}

/** Only a comment of at most 64 KB may follow the end record. */
function findEnd(archive: Buffer): number {
  for (let index = archive.length - 22; index >= Math.max(0, archive.length - 65_557); index--)
    if (archive.readUInt32LE(index) === endSignature) return index
  throw damaged()
}

function unpack(archive: Buffer, entry: number, size: number): Buffer {
  const method = archive.readUInt16LE(entry + 10)
  const packed = archive.readUInt32LE(entry + 20)
  const local = archive.readUInt32LE(entry + 42)
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

function damaged(): Unreadable {
  return new Unreadable('the archive is damaged or cut off')
}
