import { AppError } from '../../core/error.ts'

/**
 * Plain files in the ustar format (POSIX.1-1988; base-256 sizes from 8 GB on, as in GNU tar). The reader accepts only
 * what the writer writes: no links, no folders, no extended headers.
 */

const blockBytes = 512
const largestOctal = 8 ** 11 - 1
const nul = String.fromCharCode(0)
const at = { mode: 100, size: 124, modified: 136, sum: 148, type: 156, magic: 257, prefix: 345 }

export const tarEnd = Buffer.alloc(2 * blockBytes)

/** `name` has at most 100 bytes. */
export function tarHeader(name: string, size: number, modifiedAtMs: number): Buffer {
  const header = Buffer.alloc(blockBytes)
  header.write(name, 0, 100, 'utf8')
  header.write(['0000600', '0000000', '0000000', ''].join(nul), at.mode, 'latin1')
  writeNumber(header, size, at.size)
  writeNumber(header, Math.floor(modifiedAtMs / 1000), at.modified)
  header.write(`0`, at.type, 'latin1')
  header.write(`ustar${nul}00`, at.magic, 'latin1')
  header.write(`${sumOf(header).toString(8).padStart(6, '0')}${nul} `, at.sum, 'latin1')
  return header
}

export function tarPadding(size: number): Buffer {
  return Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes)
}

export interface TarMember {
  name: string
  size: number
}

/** Reads an archive from front to back. Throws `invalid_request` unless it holds only plain files. */
export class TarReader {
  readonly #source: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array()

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** The next file; undefined at the end. Its bytes must be read completely before the next call. */
  async next(): Promise<TarMember | undefined> {
    const header = await this.#block()
    if (header.every((byte) => byte === 0)) {
      if ((await this.#block()).some((byte) => byte !== 0)) throw broken('a lone empty block')
      return undefined
    }
    const text = (from: number, length: number) => {
      const [value = ''] = header.toString('utf8', from, from + length).split(nul, 1)
      return value
    }
    if (Number.parseInt(text(at.sum, 8), 8) !== sumOf(header)) throw broken('the checksum of a header is wrong')
    const type = text(at.type, 1)
    if (!text(at.magic, 5).startsWith('ustar') || (type !== '0' && type !== ''))
      throw broken('it has entries that are not plain files')
    if (text(at.prefix, 155) !== '') throw broken('the name of a file is too long')
    return { name: text(0, 100), size: readNumber(header, at.size) }
  }

  async *bytes({ size }: TarMember): AsyncGenerator<Uint8Array> {
    for (let left = size; left > 0; ) {
      if (this.#rest.length === 0) this.#rest = await this.#piece()
      const piece = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(piece.length)
      left -= piece.length
      yield piece
    }
    for (let left = tarPadding(size).length; left > 0; ) {
      if (this.#rest.length === 0) this.#rest = await this.#piece()
      const skipped = Math.min(left, this.#rest.length)
      this.#rest = this.#rest.subarray(skipped)
      left -= skipped
    }
  }

  async #block(): Promise<Buffer> {
    const pieces: Uint8Array[] = []
    for (let left = blockBytes; left > 0; ) {
      if (this.#rest.length === 0) this.#rest = await this.#piece()
      const piece = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(piece.length)
      left -= piece.length
      pieces.push(piece)
    }
    return Buffer.concat(pieces)
  }

  async #piece(): Promise<Uint8Array> {
    const { value, done } = await this.#source.next()
    if (done) throw broken('it ends too early')
    return value
  }
}

function writeNumber(header: Buffer, value: number, from: number): void {
  if (value <= largestOctal) header.write(`${value.toString(8).padStart(11, '0')}${nul}`, from, 'latin1')
  else {
    header[from] = 0x80
    header.writeBigUInt64BE(BigInt(value), from + 4)
  }
}

function readNumber(header: Buffer, from: number): number {
  const first = header[from] as number
  const octal = header.toString('latin1', from, from + 12).replace(/[\s\0]+$/, '')
  const value =
    first === 0x80
      ? Number(header.readBigUInt64BE(from + 4))
      : /^[0-7]{1,11}$/.test(octal)
        ? Number.parseInt(octal, 8)
        : Number.NaN
  if (!Number.isSafeInteger(value)) throw broken('the size of a file is not a number')
  return value
}

/** The checksum field itself counts as spaces. */
function sumOf(header: Buffer): number {
  let sum = 8 * 0x20
  for (const [place, byte] of header.entries()) if (place < at.sum || place >= at.sum + 8) sum += byte
  return sum
}

function broken(reason: string): AppError {
  return new AppError('invalid_request', `The file is not a backup of agentserve, or it is damaged: ${reason}.`)
}
