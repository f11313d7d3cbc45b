import { crc32 } from 'node:zlib'
import { createTokens, type Tokens } from './static-tokens.ts'

/** A vector for each token: 8 bits a number, and one scale for each token. */
export interface StaticTable {
  tokens: Tokens
  dimensions: number
  scales: Float32Array
  values: Int8Array
}

const magic = 'ASTABLE1'
const headBytes = 24

/**
 * The bytes of a table: `ASTABLE1`, then as 32-bit little-endian numbers the CRC-32 of what follows it, the number of
 * tokens, the dimensions and the bytes of the vocabulary; the vocabulary, one token a line, filled up with line feeds to
 * whole words of 4 bytes; the scales; the vectors.
 */
export function writeTable(table: {
  vocabulary: readonly string[]
  dimensions: number
  scales: Float32Array
  values: Int8Array
}): Buffer {
  const text = Buffer.from(table.vocabulary.join('\n'))
  const vocabulary = Buffer.alloc(Math.ceil((text.length + 1) / 4) * 4, '\n')
  text.copy(vocabulary)
  const scales = Buffer.alloc(table.scales.length * 4)
  for (const [at, scale] of table.scales.entries()) scales.writeFloatLE(scale, at * 4)
  const head = Buffer.alloc(headBytes)
  head.write(magic, 'latin1')
  head.writeUInt32LE(table.vocabulary.length, 12)
  head.writeUInt32LE(table.dimensions, 16)
  head.writeUInt32LE(vocabulary.length, 20)
  const bytes = Buffer.concat([head, vocabulary, scales, Buffer.from(table.values.buffer)])
  bytes.writeUInt32LE(crc32(bytes.subarray(12)), 8)
  return bytes
}

/** Throws with the reason when the bytes are not a whole table. */
export function readTable(bytes: Buffer): StaticTable {
  if (bytes.length < headBytes || bytes.toString('latin1', 0, magic.length) !== magic)
    throw new Error('it is not a table of tokens')
  const [checksum, count, dimensions, vocabularyBytes] = [8, 12, 16, 20].map((at) => bytes.readUInt32LE(at)) as Four
  const scalesFrom = headBytes + vocabularyBytes
  const valuesFrom = scalesFrom + count * 4
  const expected = valuesFrom + count * dimensions
  if (bytes.length !== expected) throw new Error(`it has ${bytes.length} bytes instead of ${expected}`)
  if (crc32(bytes.subarray(12)) !== checksum) throw new Error('its checksum is wrong')
  const vocabulary = bytes.toString('utf8', headBytes, scalesFrom).trimEnd().split('\n')
  if (vocabulary.length !== count) throw new Error(`it has ${vocabulary.length} tokens instead of ${count}`)
  const scales = Float32Array.from({ length: count }, (_, at) => bytes.readFloatLE(scalesFrom + at * 4))
  const values = new Int8Array(bytes.buffer, bytes.byteOffset + valuesFrom, count * dimensions)
  return { tokens: createTokens(vocabulary), dimensions, scales, values }
}

type Four = [number, number, number, number]
