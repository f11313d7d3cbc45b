import { signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import type { Chunk, Document } from '../../wire/knowledge.ts'
import { Latest } from '../state/reading/latest.ts'
import { hasStatus, messageOf } from '../state/server/message-of.ts'
import { Pages } from './pages.ts'

/** A document that is looked at, and its chunks in order. */
export class OpenedDocument {
  readonly documentId: string
  /** Undefined: it is not read yet, or not there any more. */
  readonly document = signal<Document | undefined>(undefined)
  readonly error = signal('')
  readonly chunks: Pages<Chunk>
  readonly #client: PageClient
  readonly #reading = new Latest()

  constructor(client: PageClient, documentId: string) {
    this.#client = client
    this.documentId = documentId
    this.chunks = new Pages(
      async (page) => {
        const { chunks, next_cursor } = await client.knowledge.chunks(documentId, page)
        return [chunks, next_cursor]
      },
      ({ chunk_id }) => chunk_id,
    )
    this.read()
  }

  /** All anew: the document may have been replaced. */
  read(): void {
    this.#reading.read(
      (signal) => this.#client.knowledge.documents.get(this.documentId, { signal }),
      (document) => {
        if (this.document.value?.updated_at !== document.updated_at) this.chunks.reset()
        this.document.value = document
        this.error.value = ''
      },
      (error) => {
        this.error.value = messageOf(error)
        if (hasStatus(error, 404)) this.document.value = undefined
      },
    )
  }

  close(): void {
    this.#reading.stop()
    this.chunks.close()
  }
}
