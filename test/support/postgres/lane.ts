import type { Socket } from 'node:net'

/** One direction between two sockets. What passes keeps its order when the delay changes. */
export class Lane {
  readonly #from: Socket
  readonly #to: Socket
  readonly #waiting: { bytes: Buffer | 'end'; due: number }[] = []
  #timer: NodeJS.Timeout | undefined
  #stalled = false
  delayMs = 0

  constructor(from: Socket, to: Socket) {
    this.#from = from
    this.#to = to
    to.on('drain', () => {
      if (!this.#stalled) from.resume()
    })
  }

  pass(bytes: Buffer | 'end'): void {
    this.#waiting.push({ bytes, due: performance.now() + this.delayMs })
    this.#send()
  }

  /** Reads nothing, so that the buffers of the sender fill as they do when a network is silent. */
  stall(): void {
    this.#stalled = true
    this.#from.pause()
  }

  go(): void {
    this.#stalled = false
    this.#send()
    this.#from.resume()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#waiting.length = 0
  }

  #send(): void {
    clearTimeout(this.#timer)
    if (this.#stalled) return
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const left = this.delayMs === 0 ? 0 : next.due - performance.now()
      if (left > 0) {
        this.#timer = setTimeout(() => this.#send(), left)
        return
      }
      this.#waiting.shift()
      if (next.bytes === 'end') this.#to.end()
      else if (!this.#to.write(next.bytes)) this.#from.pause()
    }
  }
}
