import { signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import type { Document, KnowledgeStatus } from '../../wire/knowledge.ts'
import type { LiveEvent } from '../../wire/live.ts'
import { OpenedDocument } from './opened-document.ts'
import { Pages } from './pages.ts'

const pollMs = 2000

/** What the page of the knowledge base shows, kept up to date. */
export class KnowledgeBase {
  readonly status = signal<KnowledgeStatus | undefined>(undefined)
  /** Why the status could not be read. */
  readonly error = signal<unknown>(undefined)
  /** Newest first. */
  readonly documents: Pages<Document>
  readonly opened = signal<OpenedDocument | undefined>(undefined)
  /** A reindex that this page has asked for. It ends with the page. */
  readonly reindexing = signal<AbortController | undefined>(undefined)
  readonly #client: PageClient
  /** Whether changes come by the live stream; else they are asked for while a reindex is under way. */
  readonly #isLive: boolean
  #collection: string | undefined
  #waiting: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  constructor(client: PageClient, isLive: boolean) {
    this.#client = client
    this.#isLive = isLive
    this.documents = new Pages(
      async (page) => {
        const { documents, next_cursor } = await client.knowledge.documents.list({ collection: this.#collection }, page)
        return [documents, next_cursor]
      },
      ({ document_id }) => document_id,
    )
  }

  /** The documents of the collection, or of all. */
  list(collection: string | undefined): void {
    this.#collection = collection
    this.documents.reset()
    void this.#readStatus()
  }

  open(documentId: string | undefined): void {
    this.opened.value?.close()
    this.opened.value = documentId === undefined ? undefined : new OpenedDocument(this.#client, documentId)
  }

  receive(events: readonly LiveEvent[]): void {
    const status = events.findLast((event) => event.type === 'knowledge')?.status
    if (status !== undefined) this.#changed(status)
    else if (events.some(({ type }) => type === 'reset')) void this.#readStatus()
  }

  async delete(documentId: string): Promise<void> {
    await this.#client.knowledge.documents.delete(documentId)
    this.documents.remove(documentId)
    if (!this.#isLive) await this.#readStatus()
  }

  /** Embeds everything again; without a name, with the embedder that it has. Rejects when it fails, and not when it is stopped. */
  async reindex(embedder: string | undefined): Promise<void> {
    const reindexing = new AbortController()
    const { signal } = reindexing
    this.reindexing.value = reindexing
    try {
      const status = await this.#client.knowledge.reindex(embedder, {
        signal,
        onProgress: (now) => {
          const known = this.status.value
          if (known !== undefined) this.status.value = { ...known, reindexing: now }
        },
      })
      this.#changed(status)
    } catch (error) {
      await this.#readStatus()
      if (!signal.aborted) throw error
    } finally {
      this.reindexing.value = undefined
    }
  }

  /** A reindex goes on: its request does not belong to what is shown. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#waiting)
    this.documents.close()
    this.opened.value?.close()
  }

  async #readStatus(): Promise<void> {
    try {
      this.#changed(await this.#client.knowledge.status())
    } catch (error) {
      this.error.value = error
    }
  }

  #changed(status: KnowledgeStatus): void {
    if (this.#isClosed) return
    const isFirst = this.status.value === undefined
    this.status.value = status
    this.error.value = undefined
    if (!isFirst && status.reindexing === undefined) {
      this.documents.refresh()
      this.opened.value?.read()
    }
    clearTimeout(this.#waiting)
    // The stream tells nothing of vectors that are written after a start.
    const asks = status.pending > 0 || (status.reindexing !== undefined && !this.#isLive)
    if (asks) this.#waiting = setTimeout(() => void this.#readStatus(), pollMs)
  }
}
