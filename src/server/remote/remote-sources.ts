import { isDeepStrictEqual } from 'node:util'
import { parseGitAddress, publicGitAddress } from '../../core/knowledge/git-address.ts'
import type { Knowledge } from '../../core/knowledge/knowledge.ts'
import { isRemote, type RemoteSource, type SourceStatus } from '../../core/knowledge/remote-source.ts'
import type { Logger } from '../../core/logger.ts'
import { type Timer, type Timers, timestamp } from '../../core/time.ts'
import { publicAddress } from '../../runtime/download.ts'
import { createSerial } from '../../runtime/serial.ts'
import { siteOf } from '../../sources/web/site.ts'
import { fetchGit } from './fetch-repository.ts'
import { fetchSite } from './fetch-site.ts'
import type { Fetched, FetchOptions } from './fetched.ts'

export interface RemoteSourcesOptions {
  knowledge: Knowledge
  logger: Logger
  timers: Timers
  /** What folders of repositories are relative to. */
  root: string
  /** The data folder, for what the next time needs; undefined: nothing is kept. */
  folder: string | undefined
  /** Ends all work. */
  signal: AbortSignal
}

export interface WantedSources {
  remote: readonly RemoteSource[]
  collection?: string | undefined
  chunkSize?: number | undefined
  chunkOverlap?: number | undefined
}

/**
 * Keeps the documents of the config's websites and repositories up to date: one source at a time, now and every so often.
 * A failure is logged and told by the status of the knowledge base; it deletes nothing.
 */
export class RemoteSources {
  readonly #options: RemoteSourcesOptions
  readonly #work = createSerial()
  readonly #timers = new Set<Timer>()
  readonly #states = new Map<RemoteSource, SourceStatus>()
  /** Of each source, what it has brought the last time. */
  readonly #fetched = new Map<RemoteSource, Fetched>()
  #wanted: WantedSources = { remote: [] }
  #stop = new AbortController()
  #isNew = true

  constructor(options: RemoteSourcesOptions) {
    this.#options = options
    options.signal.addEventListener('abort', () => this.#end(), { once: true })
  }

  /** Fetches all sources, unless they are the same as before. Earlier work ends. */
  update({ remote, collection, chunkSize, chunkOverlap }: WantedSources): void {
    const wanted = { remote, collection, chunkSize, chunkOverlap }
    if (this.#options.signal.aborted || (!this.#isNew && isDeepStrictEqual(wanted, this.#wanted))) return
    this.#isNew = false
    this.#end()
    this.#wanted = wanted
    this.#stop = new AbortController()
    for (const source of remote) this.#tell(source, { state: 'waiting' })
    const { signal } = this.#stop
    void this.#run(signal, () => this.#forget())
    for (const source of remote) void this.#run(signal, () => this.#fetch(source, signal))
  }

  /** Resolves when no source is being fetched or waits to be. */
  idle(): Promise<void> {
    return this.#work.idle()
  }

  #end(): void {
    this.#stop.abort()
    for (const timer of this.#timers) this.#options.timers.clear(timer)
    this.#timers.clear()
    this.#states.clear()
    this.#fetched.clear()
  }

  async #run(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    try {
      await this.#work.run(() => (signal.aborted ? undefined : work()))
    } catch (error) {
      if (!signal.aborted) this.#options.logger.error({ error }, 'a knowledge source could not be updated')
    }
  }

  async #fetch(source: RemoteSource, signal: AbortSignal): Promise<void> {
    const { knowledge, logger, folder } = this.#options
    const name = nameOf(source)
    this.#tell(source, { state: 'fetching' })
    let fetched: Fetched
    try {
      const { collection, chunkSize, chunkOverlap } = this.#wanted
      const settings = { collection, chunk_size: chunkSize, chunk_overlap: chunkOverlap }
      const onDocument = async (document: string) => {
        await knowledge.brought.change({ add: [document] }, collection)
      }
      const options: FetchOptions = { knowledge, logger, folder, settings, onDocument, signal }
      fetched = await (isGit(source) ? fetchGit(source, this.#options.root, options) : fetchSite(source, options))
    } catch (error) {
      signal.throwIfAborted()
      logger.error({ error, source: name }, 'a knowledge source could not be fetched')
      fetched = { documents: new Set(), ingested: 0, failures: [`${(error as Error).message}`], isComplete: false }
    }
    signal.throwIfAborted()
    this.#fetched.set(source, fetched)
    const { ingested, failures } = fetched
    const state = ingested === 0 && failures.length > 0 ? 'failed' : 'ok'
    const nextMs = source.everyMs === undefined ? undefined : Date.now() + source.everyMs
    this.#tell(source, {
      state,
      documents: ingested,
      failed: failures.length,
      reason: failures[0],
      fetched_at: timestamp(Date.now()),
      next_at: nextMs === undefined ? undefined : timestamp(nextMs),
    })
    if (failures.length > 0)
      logger.warn({ source: name, failed: failures.length, reason: failures[0] }, 'a knowledge source is incomplete')
    if (source.everyMs !== undefined) this.#later(source, source.everyMs, signal)
    await this.#forget()
  }

  #later(source: RemoteSource, everyMs: number, signal: AbortSignal): void {
    const timer = this.#options.timers.set(() => {
      this.#timers.delete(timer)
      void this.#run(signal, () => this.#fetch(source, signal))
    }, everyMs)
    timer.unref()
    this.#timers.add(timer)
  }

  /**
   * Deletes the documents that no source brings any more: at once when no source is about them, else when each source that
   * is has been fetched as a whole.
   */
  async #forget(): Promise<void> {
    const { knowledge, logger } = this.#options
    const { remote, collection } = this.#wanted
    const gone: string[] = []
    for (const document of await knowledge.brought.list(collection)) {
      if (!isRemote(document)) continue
      const owners = remote.filter((source) => covers(source, document)).map((source) => this.#fetched.get(source))
      if (owners.every((owner) => owner?.isComplete === true && !owner.documents.has(document))) gone.push(document)
    }
    if (gone.length === 0) return
    const deleted = await knowledge.brought.delete(gone, collection)
    await knowledge.brought.change({ forget: gone }, collection)
    logger.info({ documents: deleted }, 'documents that no knowledge source has any more were deleted')
  }

  #tell(source: RemoteSource, change: Partial<SourceStatus>): void {
    const before = this.#states.get(source) ?? { source: nameOf(source), state: 'waiting', documents: 0, failed: 0 }
    this.#states.set(source, { ...before, ...change })
    this.#options.knowledge.tellSources([...this.#states.values()])
  }
}

function isGit({ url }: RemoteSource): boolean {
  return /^git:/i.test(url)
}

function nameOf(source: RemoteSource): string {
  return isGit(source) ? publicGitAddress(source.url) : publicAddress(source.url)
}

/** Whether the source may be what brought the document. */
function covers(source: RemoteSource, document: string): boolean {
  if (!isGit(source)) return siteOf(publicAddress(source.url)).has(document)
  const address = parseGitAddress(source.url)
  return typeof address !== 'string' && document.startsWith(address.prefix)
}
