const newline = 10

/** Cuts bytes into lines. A line of more than `maxBytes` is left out, and told once. */
export class Lines {
  readonly #maxBytes: number
  readonly #onLine: (line: string) => void
  readonly #onTooLong: () => void
  #pieces: Buffer[] = []
  #bytes = 0
  #isTooLong = false

  constructor(maxBytes: number, onLine: (line: string) => void, onTooLong: () => void) {
    this.#maxBytes = maxBytes
    this.#onLine = onLine
    this.#onTooLong = onTooLong
  }

  add(bytes: Buffer): void {
    let from = 0
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, from)) {
      this.#take(bytes.subarray(from, end))
      this.#end()
      from = end + 1
    }
    this.#take(bytes.subarray(from))
  }

  #take(piece: Buffer): void {
    this.#bytes += piece.length
    if (this.#isTooLong || piece.length === 0) return
    if (this.#bytes <= this.#maxBytes) {
      this.#pieces.push(piece)
      return
    }
    this.#isTooLong = true
    this.#pieces = []
    this.#onTooLong()
  }

  #end(): void {
    const line = this.#isTooLong ? '' : Buffer.concat(this.#pieces, this.#bytes).toString('utf8')
    this.#pieces = []
    this.#bytes = 0
    this.#isTooLong = false
    if (line.trim() !== '') this.#onLine(line)
  }
}
