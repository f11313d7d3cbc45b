import { batch, signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import { searchModes } from '../../core/knowledge/knowledge.ts'
import type { KnowledgeStatus } from '../../wire/knowledge.ts'
import type { LiveEvent } from '../../wire/live.ts'
import type { SearchAnswer } from '../../wire/search.ts'
import { type Address, type Asked, readFilters } from '../state/address.ts'
import { Latest } from '../state/latest.ts'
import { hasStatus, messageOf } from '../state/message-of.ts'
import { DocumentPages } from './document-pages.ts'
import { OpenedDocument } from './opened-document.ts'

type Found =
  | { state: 'nothing asked' }
  | { state: 'searching' }
  | { state: 'found'; answer: SearchAnswer }
  | { state: 'failed'; error: string }

const pollMs = 2000

/** What the page of the knowledge base shows, kept up to date. */
export class KnowledgeBase {
  readonly status = signal<KnowledgeStatus | undefined>(undefined)
  readonly state = signal<'loading' | 'ready' | 'off' | 'failed'>('loading')
  readonly error = signal('')
  readonly documents: DocumentPages
  readonly found = signal<Found>({ state: 'nothing asked' })
  readonly opened = signal<OpenedDocument | undefined>(undefined)
  /** A reindex that this page has asked for. It ends with the page. */
  readonly reindexing = signal<AbortController | undefined>(undefined)
  readonly reindexError = signal('')
  readonly #client: PageClient
  /** Whether changes come by the live stream; else they are asked for while a reindex is under way. */
  readonly #isLive: boolean
  #asked: Asked | undefined
  readonly #searching = new Latest()
  #waiting: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  constructor(client: PageClient, isLive: boolean) {
    this.#client = client
    this.#isLive = isLive
    this.documents = new DocumentPages(client)
  }

  show({ query, documentId, chunkId }: Extract<Address, { page: 'knowledge' }>): void {
    const before = this.#asked
    this.#asked = query
    if (before === undefined) void this.#readStatus()
    if (before === undefined || before.collection !== query.collection) this.documents.show(query.collection)
    if (JSON.stringify(before) !== JSON.stringify(query)) this.#search(query)
    if (documentId !== this.opened.value?.documentId) {
      this.opened.value?.close()
      this.opened.value = documentId === undefined ? undefined : new OpenedDocument(this.#client, documentId)
    }
    this.opened.value?.open(chunkId)
  }

  receive(events: readonly LiveEvent[]): void {
    const status = events.findLast((event) => event.type === 'knowledge')?.status
    if (status !== undefined) this.#changed(status)
    else if (events.some(({ type }) => type === 'reset')) void this.#readStatus()
  }

  async delete(documentId: string): Promise<void> {
    await this.#client.knowledge.documents.delete(documentId)
    this.documents.deleted(documentId)
    if (!this.#isLive) await this.#readStatus()
  }

  /** Embeds everything again; without a name, with the embedder that it has. */
  async reindex(embedder: string | undefined): Promise<void> {
    const reindexing = new AbortController()
    this.reindexing.value = reindexing
    this.reindexError.value = ''
    try {
      const status = await this.#client.knowledge.reindex(embedder, {
        signal: reindexing.signal,
        onProgress: (now) => {
          const known = this.status.value
          if (known !== undefined) this.status.value = { ...known, reindexing: now }
        },
      })
      this.#changed(status)
    } catch (error) {
      if (!reindexing.signal.aborted) this.reindexError.value = messageOf(error)
      await this.#readStatus()
    } finally {
      this.reindexing.value = undefined
    }
  }

  /** A reindex goes on: its request does not belong to what is shown. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#waiting)
    this.#searching.stop()
    this.documents.close()
    this.opened.value?.close()
  }

  async #readStatus(): Promise<void> {
    try {
      this.#changed(await this.#client.knowledge.status())
    } catch (error) {
      batch(() => {
        this.error.value = messageOf(error)
        this.state.value = hasStatus(error, 404) ? 'off' : 'failed'
      })
    }
  }

  #changed(status: KnowledgeStatus): void {
    if (this.#isClosed) return
    const isFirst = this.status.value === undefined
    this.status.value = status
    this.state.value = 'ready'
    if (!isFirst && status.reindexing === undefined) {
      this.documents.refresh()
      this.opened.value?.read()
    }
    clearTimeout(this.#waiting)
    // The stream tells nothing of vectors that are written after a start.
    const asks = status.pending > 0 || (status.reindexing !== undefined && !this.#isLive)
    if (asks) this.#waiting = setTimeout(() => void this.#readStatus(), pollMs)
  }

  #search({ q, mode, limit, filters, collection }: Asked): void {
    this.#searching.stop()
    if (q === undefined) {
      this.found.value = { state: 'nothing asked' }
      return
    }
    const parsed = readFilters(filters)
    if (typeof parsed === 'string') {
      this.found.value = { state: 'failed', error: parsed }
      return
    }
    this.found.value = { state: 'searching' }
    const settings = {
      explain: true,
      limit,
      filters: parsed,
      collection,
      mode: searchModes.find((one) => one === mode),
    }
    this.#searching.read(
      (signal) => this.#client.knowledge.search(q, settings, { signal }),
      (answer) => {
        this.found.value = { state: 'found', answer }
      },
      (error) => {
        this.found.value = { state: 'failed', error: messageOf(error) }
      },
    )
  }
}
