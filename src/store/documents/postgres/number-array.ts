/* Arrays of numbers in the binary form of Postgres: the database reads them faster than as texts. */

const head = 20
const types = { bigint: { oid: 20, bytes: 8 }, smallint: { oid: 21, bytes: 2 } }

/** A parameter of whole numbers below 2^53. */
export function toBigints(all: readonly Float64Array[]): Buffer {
  const { buffer, size } = begin('bigint', all)
  let at = head
  for (const numbers of all)
    for (const number of numbers) {
      at = buffer.writeInt32BE(size, at)
      at = buffer.writeInt32BE(Math.floor(number / 2 ** 32), at)
      at = buffer.writeUInt32BE(number >>> 0, at)
    }
  return buffer
}

export function toSmallints(all: readonly (readonly number[])[]): Buffer {
  const { buffer, size } = begin('smallint', all)
  let at = head
  for (const numbers of all)
    for (const number of numbers) {
      at = buffer.writeInt32BE(size, at)
      at = buffer.writeInt16BE(number, at)
    }
  return buffer
}

/** An array without nulls, of one dimension, numbered from 1. */
function begin(type: keyof typeof types, all: readonly { length: number }[]): { buffer: Buffer; size: number } {
  const { oid, bytes } = types[type]
  const count = all.reduce((sum, { length }) => sum + length, 0)
  const buffer = Buffer.allocUnsafe(head + count * (4 + bytes))
  buffer.writeInt32BE(1, 0)
  buffer.writeInt32BE(0, 4)
  buffer.writeInt32BE(oid, 8)
  buffer.writeInt32BE(count, 12)
  buffer.writeInt32BE(1, 16)
  return { buffer, size: bytes }
}
