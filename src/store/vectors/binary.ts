import type { VectorRow } from '../../core/knowledge/drivers.ts'
import { toHalves } from '../../core/knowledge/half-float.ts'

/* Vectors in the binary form of Postgres: halves in network order. As texts they would take eight times the time. */

/** How a vector is written as a value of a type: its number and what comes before the halves. */
export interface BinaryForm {
  oid: number
  header(dimensions: number): Buffer
}

export const byteaForm: BinaryForm = { oid: 17, header: () => Buffer.alloc(0) }

/** `oid` differs by database. */
export function halfvecForm(oid: number): BinaryForm {
  return {
    oid,
    header(dimensions) {
      const header = Buffer.alloc(4)
      header.writeUInt16BE(dimensions, 0)
      return header
    },
  }
}

/** Throws for a vector of other dimensions, and for numbers that are none or too large. */
export function toBinary(vector: VectorRow['vector'], dimensions: number, form: BinaryForm): Buffer {
  return Buffer.concat([form.header(dimensions), bigEndian(halvesOf(vector, dimensions))])
}

/** One parameter for all vectors: an array of the form's type. */
export function toBinaryArray(rows: readonly VectorRow[], dimensions: number, form: BinaryForm): Buffer {
  const header = form.header(dimensions)
  const valueBytes = header.length + dimensions * 2
  const head = Buffer.alloc(20)
  head.writeInt32BE(1, 0)
  head.writeUInt32BE(form.oid, 8)
  head.writeInt32BE(rows.length, 12)
  head.writeInt32BE(1, 16)
  const length = Buffer.alloc(4)
  length.writeInt32BE(valueBytes)
  const values = rows.flatMap(({ vector }) => [length, header, bigEndian(halvesOf(vector, dimensions))])
  return Buffer.concat([head, ...values], head.length + rows.length * (4 + valueBytes))
}

/** The inverse of `toBinary` for `byteaForm`. Throws for bytes that are no vector of these dimensions. */
export function fromBinary(bytes: Buffer, dimensions: number): Uint16Array {
  if (bytes.length !== dimensions * 2)
    throw new Error(`${bytes.length} bytes are no vector of ${dimensions} dimensions`)
  const own = new Uint8Array(bytes)
  Buffer.from(own.buffer).swap16()
  return new Uint16Array(own.buffer)
}

function halvesOf(vector: VectorRow['vector'], dimensions: number): Uint16Array {
  if (vector.length !== dimensions)
    throw new Error(`a vector of ${vector.length} dimensions in a table of ${dimensions}`)
  const halves = vector instanceof Uint16Array ? vector : new Uint16Array(dimensions)
  if (vector instanceof Float32Array) {
    if (!vector.every((value) => Math.abs(value) <= 65_504))
      throw new Error('a vector has a value that is no number, or not within ±65,504')
    toHalves(vector, halves, 0)
  } else if (halves.some((half) => (half & 0x7c00) === 0x7c00))
    throw new Error('a vector has a value that is no number')
  return halves
}

/** A copy. */
function bigEndian(halves: Uint16Array): Buffer {
  const own = new Uint8Array(halves.length * 2)
  own.set(new Uint8Array(halves.buffer, halves.byteOffset, halves.byteLength))
  return Buffer.from(own.buffer).swap16()
}
