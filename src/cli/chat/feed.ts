/** What several sources tell, in one order, to one reader. A source that is far ahead waits. */
export class Feed<T> implements AsyncIterable<T> {
  readonly #most: number
  #items: T[] = []
  #wake: (() => void) | undefined
  #room: (() => void)[] = []
  #end: { error?: unknown } | undefined

  constructor(most = 512) {
    this.#most = most
  }

  /** Resolves when there is room for more. */
  async push(item: T): Promise<void> {
    if (this.#end !== undefined) return
    this.#items.push(item)
    this.#wake?.()
    if (this.#items.length >= this.#most) await new Promise<void>((resolve) => this.#room.push(resolve))
  }

  /** No more comes; an error is thrown to the reader behind what there is. */
  end(failure: { error?: unknown } = {}): void {
    this.#end ??= failure
    this.#wake?.()
    this.#makeRoom()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    try {
      for (;;) {
        const items = this.#items
        this.#items = []
        this.#makeRoom()
        yield* items
        if (this.#items.length > 0) continue
        if (this.#end !== undefined) {
          if ('error' in this.#end) throw this.#end.error
          return
        }
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      this.end()
    }
  }

  #makeRoom(): void {
    const waiting = this.#room
    this.#room = []
    for (const go of waiting) go()
  }
}
