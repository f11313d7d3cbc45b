import { signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import type { Document } from '../../wire/knowledge.ts'
import { Latest } from '../state/latest.ts'
import { messageOf } from '../state/message-of.ts'

const pageSize = 100

/** The documents, newest first, read page by page as they are scrolled to. */
export class DocumentPages {
  readonly rows = signal<readonly Document[]>([])
  readonly state = signal<'loading' | 'ready' | 'failed'>('loading')
  readonly error = signal('')
  readonly #client: PageClient
  #collection: string | undefined
  #cursor: string | null = null
  readonly #reading = new Latest()
  /** Something changed while the first page was read. */
  #isOld = false

  constructor(client: PageClient) {
    this.#client = client
  }

  get hasMore(): boolean {
    return this.#cursor !== null
  }

  show(collection: string | undefined): void {
    this.close()
    this.#collection = collection
    this.#cursor = null
    this.rows.value = []
    this.state.value = 'loading'
    this.#read(null)
  }

  more(): void {
    if (!this.#reading.isReading && this.#cursor !== null) this.#read(this.#cursor)
  }

  /** The first page again. What was read of the rest stays where it follows that page. */
  refresh(): void {
    if (this.#reading.isReading) this.#isOld = true
    else this.#read(null)
  }

  deleted(documentId: string): void {
    this.rows.value = this.rows.value.filter(({ document_id }) => document_id !== documentId)
  }

  close(): void {
    this.#reading.stop()
    this.#isOld = false
  }

  #read(cursor: string | null): void {
    const filter = { collection: this.#collection }
    const page = { limit: pageSize, cursor: cursor ?? undefined }
    this.#reading.read(
      (signal) => this.#client.knowledge.documents.list(filter, { ...page, signal }),
      ({ documents, next_cursor: next }) => {
        if (cursor === null) this.#first(documents, next)
        else {
          this.rows.value = [...this.rows.value, ...documents]
          this.#cursor = next
        }
        this.state.value = 'ready'
        if (this.#isOld) {
          this.#isOld = false
          this.#read(null)
        }
      },
      (error) => {
        this.error.value = messageOf(error)
        this.state.value = 'failed'
      },
    )
  }

  #first(documents: readonly Document[], next: string | null): void {
    const before = this.rows.value
    const last = documents.at(-1)?.document_id
    const known = next === null ? -1 : before.findIndex(({ document_id }) => document_id === last)
    const rest = known < 0 ? [] : before.slice(known + 1)
    this.rows.value = [...documents, ...rest]
    if (rest.length === 0) this.#cursor = next
  }
}
