import { signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import type { Chunk, ChunkInDocument, Document } from '../../wire/knowledge.ts'
import { Latest } from '../state/latest.ts'
import { hasStatus, messageOf } from '../state/message-of.ts'

const pageSize = 50

/** A document that is looked at, its chunks in order, and the chunk that is open. */
export class OpenedDocument {
  readonly documentId: string
  readonly document = signal<Document | undefined>(undefined)
  readonly state = signal<'loading' | 'ready' | 'gone' | 'failed'>('loading')
  readonly error = signal('')
  readonly chunks = signal<readonly Chunk[]>([])
  readonly hasMore = signal(false)
  readonly chunk = signal<ChunkInDocument | undefined>(undefined)
  readonly chunkError = signal('')
  /** How many chunks are shown before and after the open one. */
  readonly context = signal(1)
  readonly #client: PageClient
  #cursor: string | null = null
  #chunkId: string | undefined
  readonly #reading = new Latest()
  readonly #readingPage = new Latest()
  readonly #readingChunk = new Latest()

  constructor(client: PageClient, documentId: string) {
    this.#client = client
    this.documentId = documentId
    this.read()
  }

  /** All anew: the document may have been replaced. */
  read(): void {
    this.#reading.read(
      (signal) => this.#client.knowledge.documents.get(this.documentId, { signal }),
      (document) => {
        const isSame = this.document.value?.updated_at === document.updated_at
        this.document.value = document
        this.state.value = 'ready'
        if (isSame) return
        this.#cursor = null
        this.#page([])
        if (this.#chunkId !== undefined) this.#readChunk(this.#chunkId)
      },
      (error) => {
        this.error.value = messageOf(error)
        this.state.value = hasStatus(error, 404) ? 'gone' : 'failed'
      },
    )
  }

  more(): void {
    if (!this.#readingPage.isReading) this.#page(this.chunks.value)
  }

  open(chunkId: string | undefined): void {
    if (chunkId === this.#chunkId) return
    this.#chunkId = chunkId
    this.#readingChunk.stop()
    this.chunkError.value = ''
    if (chunkId === undefined) this.chunk.value = undefined
    else this.#readChunk(chunkId)
  }

  show(context: number): void {
    this.context.value = context
    if (this.#chunkId !== undefined) this.#readChunk(this.#chunkId)
  }

  close(): void {
    this.#reading.stop()
    this.#readingPage.stop()
    this.#readingChunk.stop()
  }

  #page(before: readonly Chunk[]): void {
    const page = { limit: pageSize, cursor: this.#cursor ?? undefined }
    this.#readingPage.read(
      (signal) => this.#client.knowledge.chunks(this.documentId, { ...page, signal }),
      ({ chunks, next_cursor: next }) => {
        this.chunks.value = [...before, ...chunks]
        this.#cursor = next
        this.hasMore.value = next !== null
      },
      (error) => {
        this.error.value = messageOf(error)
      },
    )
  }

  #readChunk(chunkId: string): void {
    this.#readingChunk.read(
      (signal) => this.#client.knowledge.chunk(chunkId, { context: this.context.value, signal }),
      (chunk) => {
        this.chunk.value = chunk
        this.chunkError.value = ''
      },
      (error) => {
        this.chunk.value = undefined
        this.chunkError.value = hasStatus(error, 404) ? 'This passage is not there any more.' : messageOf(error)
      },
    )
  }
}
