/** Of the protocol of Postgres, version 3: a type, then the length of itself and the body, then the body. */
export interface Frame {
  /** Empty for the messages that begin a connection and for a lone byte. */
  type: string
  body: Buffer
  bytes: Buffer
}

/** Cuts one direction of a connection into frames. Bytes of a frame that is not complete wait for the rest. */
export class Frames {
  #chunks: Buffer[] = []
  #size = 0
  #needed = 0
  #untyped: boolean
  #loneBytes = 0

  /** A client begins with messages that have no type. */
  constructor(from: 'client' | 'server') {
    this.#untyped = from === 'client'
  }

  /** The next byte is the whole answer to a request for encryption. */
  expectLoneByte(): void {
    this.#loneBytes++
  }

  *push(chunk: Buffer): Generator<Frame> {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size < this.#needed) return
    let rest = Buffer.concat(this.#chunks)
    for (;;) {
      this.#needed = this.#lengthOf(rest)
      if (rest.length < this.#needed) break
      const bytes = rest.subarray(0, this.#needed)
      rest = rest.subarray(this.#needed)
      yield this.#frame(bytes)
    }
    this.#chunks = [rest]
    this.#size = rest.length
  }

  /** Of the next frame, or what must be there to know it. */
  #lengthOf(rest: Buffer): number {
    if (this.#loneBytes > 0) return 1
    const at = this.#untyped ? 0 : 1
    return rest.length < at + 4 ? at + 4 : at + rest.readInt32BE(at)
  }

  #frame(bytes: Buffer): Frame {
    if (this.#loneBytes > 0) {
      this.#loneBytes--
      return { type: '', body: bytes, bytes }
    }
    if (!this.#untyped) return { type: String.fromCharCode(bytes[0] ?? 0), body: bytes.subarray(5), bytes }
    const body = bytes.subarray(4)
    this.#untyped = asksForEncryption(body)
    return { type: '', body, bytes }
  }
}

/** SSLRequest or GSSENCRequest. */
export function asksForEncryption(body: Buffer): boolean {
  return body.length === 4 && [80_877_103, 80_877_104].includes(body.readInt32BE(0))
}

/** The strings that a body begins with, each ended by a zero byte. */
export function readStrings(body: Buffer, count: number): string[] {
  const found: string[] = []
  for (let from = 0; found.length < count; ) {
    const to = body.indexOf(0, from)
    if (to < 0) return found
    found.push(body.toString('utf8', from, to))
    from = to + 1
  }
  return found
}
