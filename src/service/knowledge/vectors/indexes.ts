import type { Collection } from '../../../core/knowledge/document-store.ts'
import type { VectorStore } from '../../../core/knowledge/drivers.ts'
import type { Clock } from '../../../core/time.ts'
import type { Lock } from '../lock.ts'
import type { VectorGuard } from './guard.ts'
import { type CollectionIndex, closeEmbedders, type IndexDrivers, openIndex, tableNames } from './index-document.ts'
import { createMending } from './mending.ts'

export interface IndexesOptions extends IndexDrivers {
  clock: Clock
  lock: Lock
  stopping: () => AbortSignal
  guard: () => VectorGuard
}

export interface Indexes {
  /** Opens the vectors of the collection on first use, and again when another server has reindexed. */
  of(collection: Collection): Promise<CollectionIndex>
  /** The same; creates the collection if it is missing. */
  byName(name: string): Promise<CollectionIndex>
  /** Once: removes what a crash left behind. */
  tidy(collection: Collection): Promise<void>
  /** Discards the vectors and starts to write them anew; those of an earlier version are of no use. */
  rebuild(collection: Collection): Promise<void>
  /** Takes the index of the next version in place of the open one, which is closed; an index that fails is forgotten. */
  replace(collection: Collection, open: () => Promise<CollectionIndex>): Promise<CollectionIndex>
  /** Waits for what is written in the background, and closes everything. The caller has the lock. */
  close(): Promise<void>
}

interface OpenIndex {
  version: number
  opening: Promise<CollectionIndex>
  index: CollectionIndex | undefined
}

export function createIndexes(options: IndexesOptions): Indexes {
  const { documents, vectors, embedders, logger, lock, stopping } = options
  const mending = createMending(options)
  const open = new Map<number, OpenIndex>()
  /** Work under way may still embed by them. */
  const replaced = new Set<Promise<CollectionIndex>>()
  let tidied: Promise<void> | undefined

  const closeIndex = async (index: CollectionIndex | undefined) => {
    if (index === undefined) return
    await mending.end(index)
    await closeEmbedders(index)
  }
  const closeReplaced = async () => {
    const all = [...replaced]
    replaced.clear()
    for (const opening of all)
      await opening.then(closeIndex).catch((error: unknown) => {
        logger.debug({ error }, 'an embedder could not be closed')
      })
  }
  const tidy = async (collection: Collection) => {
    await documents.collect()
    // Other servers have tables of which this one does not know.
    if (vectors.atomic) return
    const known = new Set((await documents.collections()).flatMap((each) => tableNames(embedders, each)))
    const names = await vectors
      .names()
      .catch((error: unknown) => Promise.reject(options.guard().failed(collection, error)))
    for (const name of names) if (!known.has(name)) await vectors.drop(name)
  }
  const tidyOnce = (collection: Collection) => {
    tidied ??= tidy(collection).catch((error: unknown) => {
      tidied = undefined
      throw error
    })
    return tidied
  }
  /** Only failures of the vectors count: a missing embedder is no reason to rebuild them. */
  const watched = (collection: Collection): VectorStore => ({
    ...vectors,
    table: (name, dimensions) =>
      vectors.table(name, dimensions).then(
        (table) => options.guard().watch(collection, table),
        (error: unknown) => Promise.reject(options.guard().failed(collection, error)),
      ),
  })
  const openWithRepair = async (collection: Collection): Promise<CollectionIndex> => {
    await tidyOnce(collection)
    let failure: unknown
    const index = await openIndex({ ...options, vectors: watched(collection) }, collection).catch((error: unknown) => {
      failure = error
    })
    const now = vectors.atomic ? await documents.findCollection(collection.name) : undefined
    if (now !== undefined && now.version !== collection.version) {
      if (index) await closeEmbedders(index)
      return openWithRepair(now)
    }
    if (!index) throw failure
    mending.begin(index)
    return index
  }
  const keep = (key: number, version: number, opening: Promise<CollectionIndex>): Promise<CollectionIndex> => {
    const kept: OpenIndex = { version, opening, index: undefined }
    open.set(key, kept)
    return opening.then(
      (index) => {
        kept.version = index.collection.version
        kept.index = index
        return index
      },
      (error: unknown) => {
        if (open.get(key) === kept) open.delete(key)
        throw error
      },
    )
  }
  const of = (collection: Collection): Promise<CollectionIndex> => {
    const known = open.get(collection.key)
    if (known !== undefined && known.version >= collection.version) {
      if (known.index) mending.begin(known.index)
      return known.opening
    }
    if (known !== undefined) {
      logger.info({ collection: collection.name }, 'another server has reindexed the collection')
      replaced.add(known.opening)
      void lock.exclusive(closeReplaced)
    }
    return keep(collection.key, collection.version, openWithRepair(collection))
  }

  return {
    of,
    async byName(name) {
      const known = await documents.findCollection(name)
      return of(known ?? (await documents.ensureCollection(name, await embedders.resolve())))
    },
    tidy: tidyOnce,
    rebuild: (collection) => {
      const closing = stopping()
      return lock.exclusive(async () => {
        if (closing.aborted) return
        const now = await documents.findCollection(collection.name)
        if (now?.version !== collection.version) return
        const known = open.get(collection.key)
        const reopened = async () => {
          await closeIndex(await known?.opening.catch(() => undefined))
          // Those of a database are not damaged when one server can't read them.
          if (!vectors.atomic) for (const name of tableNames(embedders, collection)) await vectors.drop(name)
          return openWithRepair(now)
        }
        // Who asks for the index meanwhile waits: its tables are being removed.
        await keep(collection.key, collection.version, reopened())
      })
    },
    async replace(collection, openNext) {
      const previous = await open.get(collection.key)?.opening.catch(() => undefined)
      // The tables that it writes into are about to be removed.
      if (previous) await mending.end(previous)
      const index = await keep(collection.key, collection.version + 1, openNext())
      await closeEmbedders(previous)
      return index
    },
    async close() {
      await closeReplaced()
      for (const { opening } of open.values()) await opening.then(closeIndex).catch(() => undefined)
      open.clear()
      tidied = undefined
    },
  }
}
