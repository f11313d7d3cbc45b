import { signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import type { MessageHit } from '../../wire/message.ts'
import { Latest } from '../state/reading/latest.ts'
import { messageOf } from '../state/server/message-of.ts'

const pageSize = 50
/** A page may have nothing, and others follow: so many are read without being asked for. */
const emptyPages = 20
const defaultWaitMs = 2000

export type SearchState =
  /** Nothing was asked. */
  | { is: 'idle' }
  | { is: 'reading' }
  /** The server is making what it searches in; it is asked again. */
  | { is: 'indexing'; message: string }
  /** `text`: what the hits were found for. */
  | { is: 'ready'; hasMore: boolean; text: string }
  | { is: 'failed'; message: string }

/** One search at a time in the messages, page by page. A later one takes the place of an earlier one. */
export class MessageSearch {
  readonly state = signal<SearchState>({ is: 'idle' })
  readonly hits = signal<readonly MessageHit[]>([])
  readonly #client: PageClient
  #text = ''
  #cursor: string | undefined
  readonly #reading = new Latest()
  #waiting: ReturnType<typeof setTimeout> | undefined

  /** `client` must not try again by itself. */
  constructor(client: PageClient) {
    this.#client = client
  }

  search(text: string): void {
    this.close()
    this.#text = text.trim()
    this.#cursor = undefined
    if (this.#text === '') {
      this.hits.value = []
      this.state.value = { is: 'idle' }
    } else this.#read([])
  }

  /** From where it was, also after a failure. */
  goOn(): void {
    this.#read(this.#cursor === undefined ? [] : this.hits.value)
  }

  close(): void {
    clearTimeout(this.#waiting)
    this.#reading.stop()
  }

  #read(before: readonly MessageHit[]): void {
    this.close()
    if (this.state.value.is !== 'indexing') this.state.value = { is: 'reading' }
    this.#reading.read(
      (signal) => this.#page(signal),
      (messages) => {
        this.hits.value = [...before, ...messages]
        this.state.value = { is: 'ready', hasMore: this.#cursor !== undefined, text: this.#text }
      },
      (error) => {
        // What was found for other words would stand below it.
        this.hits.value = before
        this.#failed(error, () => this.#read(before))
      },
    )
  }

  /** The next one that has something. */
  async #page(signal: AbortSignal): Promise<readonly MessageHit[]> {
    for (let page = 1; ; page++) {
      const { messages, next_cursor } = await this.#client.sessions.search(
        this.#text,
        {},
        { limit: pageSize, signal, cursor: this.#cursor },
      )
      signal.throwIfAborted()
      this.#cursor = next_cursor ?? undefined
      if (messages.length > 0 || this.#cursor === undefined || page === emptyPages) return messages
    }
  }

  #failed(error: unknown, again: () => void): void {
    const { code, retryAfterSeconds } = error as { code?: string; retryAfterSeconds?: number }
    if (code === 'unavailable' && retryAfterSeconds !== undefined) {
      this.state.value = { is: 'indexing', message: messageOf(error) }
      this.#waiting = setTimeout(again, retryAfterSeconds * 1000 || defaultWaitMs)
    } else this.state.value = { is: 'failed', message: messageOf(error) }
  }
}
