import { signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import type { Chunk, ChunkInDocument, Document } from '../../wire/knowledge.ts'
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
  #reading = new AbortController()
  #readingPage = new AbortController()
  #readingChunk = new AbortController()
  #isReadingPage = false

  constructor(client: PageClient, documentId: string) {
    this.#client = client
    this.documentId = documentId
    this.read()
  }

  /** All anew: the document may have been replaced. */
  read(): void {
    this.#reading.abort()
    const reading = new AbortController()
    this.#reading = reading
    const { signal } = reading
    this.#client.knowledge.documents.get(this.documentId, { signal }).then(
      (document) => {
        if (signal.aborted) return
        const isSame = this.document.value?.updated_at === document.updated_at
        this.document.value = document
        this.state.value = 'ready'
        if (isSame) return
        this.#readingPage.abort()
        this.#readingPage = new AbortController()
        this.#cursor = null
        this.#page([])
        if (this.#chunkId !== undefined) this.#readChunk(this.#chunkId)
      },
      (error: unknown) => {
        if (signal.aborted) return
        this.error.value = messageOf(error)
        this.state.value = hasStatus(error, 404) ? 'gone' : 'failed'
      },
    )
  }

  more(): void {
    if (!this.#isReadingPage) this.#page(this.chunks.value)
  }

  open(chunkId: string | undefined): void {
    if (chunkId === this.#chunkId) return
    this.#chunkId = chunkId
    this.#readingChunk.abort()
    this.chunkError.value = ''
    if (chunkId === undefined) this.chunk.value = undefined
    else this.#readChunk(chunkId)
  }

  show(context: number): void {
    this.context.value = context
    if (this.#chunkId !== undefined) this.#readChunk(this.#chunkId)
  }

  close(): void {
    this.#reading.abort()
    this.#readingPage.abort()
    this.#readingChunk.abort()
  }

  #page(before: readonly Chunk[]): void {
    const { signal } = this.#readingPage
    this.#isReadingPage = true
    const page = { limit: pageSize, signal, cursor: this.#cursor ?? undefined }
    this.#client.knowledge.chunks(this.documentId, page).then(
      ({ chunks, next_cursor: next }) => {
        if (signal.aborted) return
        this.#isReadingPage = false
        this.chunks.value = [...before, ...chunks]
        this.#cursor = next
        this.hasMore.value = next !== null
      },
      (error: unknown) => {
        if (signal.aborted) return
        this.#isReadingPage = false
        this.error.value = messageOf(error)
      },
    )
  }

  #readChunk(chunkId: string): void {
    this.#readingChunk.abort()
    const reading = new AbortController()
    this.#readingChunk = reading
    this.#client.knowledge.chunk(chunkId, { context: this.context.value, signal: reading.signal }).then(
      (chunk) => {
        if (reading.signal.aborted) return
        this.chunk.value = chunk
        this.chunkError.value = ''
      },
      (error: unknown) => {
        if (reading.signal.aborted) return
        this.chunk.value = undefined
        this.chunkError.value = hasStatus(error, 404)
          ? 'This passage is not there any more: its document was replaced or deleted.'
          : messageOf(error)
      },
    )
  }
}
