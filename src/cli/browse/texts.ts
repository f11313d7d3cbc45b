const maxTexts = 1000
const maxReadsAtOnce = 4

/** Texts that are read when they are asked for. */
export class Texts {
  readonly #read: (id: string) => Promise<string>
  readonly #changed: () => void
  readonly #signal: AbortSignal
  /** Undefined while one loads. */
  readonly #texts = new Map<string, string | undefined>()
  #reads = 0

  constructor(read: (id: string) => Promise<string>, changed: () => void, signal: AbortSignal) {
    this.#read = read
    this.#changed = changed
    this.#signal = signal
  }

  /** Undefined until it is read; `key` names this state of it. */
  get(key: string, id: string): string | undefined {
    if (!this.#texts.has(key) && this.#reads < maxReadsAtOnce) void this.#load(key, id)
    return this.#texts.get(key)
  }

  async #load(key: string, id: string): Promise<void> {
    this.#reads++
    this.#texts.set(key, undefined)
    const text = await this.#read(id).catch(() => undefined)
    this.#reads--
    if (this.#signal.aborted) return
    // Retried after the next refresh of the list.
    if (text === undefined) this.#texts.delete(key)
    else this.#texts.set(key, text)
    if (this.#texts.size > maxTexts) {
      const [oldest] = this.#texts.keys()
      if (oldest !== undefined) this.#texts.delete(oldest)
    }
    if (text !== undefined) this.#changed()
  }
}
