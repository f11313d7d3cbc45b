import { AppError } from '../../../core/error.ts'
import { type Collection, reindexWork as work } from '../../../core/knowledge/document-store.ts'
import type { DownloadProgress } from '../../../core/knowledge/drivers.ts'
import type { Knowledge, Reindexing } from '../../../core/knowledge/knowledge.ts'
import type { Lock } from '../lock.ts'
import { fullDisk, type VectorGuard } from './guard.ts'
import { type IndexDrivers, rebuild, type VectorList } from './index-document.ts'
import type { Indexes } from './indexes.ts'

/** Other servers are told how far it is. */
const tellMs = 1_000

export interface ReindexOptions extends IndexDrivers {
  lock: Lock
  indexes: Indexes
  guard: VectorGuard
}

export interface Reindexings {
  /** Of this server or another one. */
  now(): Promise<Reindexing | undefined>
  reindex(
    options: Pick<NonNullable<Parameters<Knowledge['reindex']>[0]>, 'embedder' | 'progress'>,
    signal: AbortSignal,
  ): Promise<void>
}

export function createReindexing(options: ReindexOptions): Reindexings {
  const { documents, embedders, lock, indexes, guard, logger } = options
  let reindexing: Reindexing | undefined

  const reindexCollection = async (
    collection: Collection,
    provider: string | undefined,
    signal: AbortSignal,
    progress: (chunks: number) => void,
  ): Promise<void> => {
    await indexes.tidy(collection)
    const configured = embedders.configured.provider === 'auto' ? collection.embedding.provider : undefined
    const embedding = await embedders.resolve(provider ?? configured)
    const mayDrop = async () => documents.works === undefined || documents.works.take(work)
    const rebuilt = await rebuild(options, collection, embedding, { signal, progress, mayDrop })
    await lock.exclusive(async () => {
      const finish = async () => {
        const index = await rebuilt.finish()
        guard.succeeded(collection)
        const watch = (list: VectorList) => ({ ...list, table: guard.watch(index.collection, list.table) })
        return { ...index, lists: index.lists.map(watch) }
      }
      try {
        await indexes.replace(collection, finish)
      } catch (error) {
        await rebuilt.discard()
        throw error
      }
    })
  }

  return {
    async now() {
      return reindexing ?? ((await documents.works?.told(work)) as Reindexing | null | undefined) ?? undefined
    },

    async reindex({ embedder, progress = () => {} }, signal) {
      const conflict = () => new AppError('conflict', 'The knowledge base is being reindexed already.')
      if (reindexing !== undefined) throw conflict()
      reindexing = { step: 'embed', done: 0, total: 0 }
      const lost = new AbortController()
      const either = AbortSignal.any([signal, lost.signal])
      let told = 0
      const tell = (now: Reindexing) => {
        reindexing = now
        progress(now)
        if (documents.works === undefined || performance.now() - told < tellMs) return
        told = performance.now()
        // Who has lost the work must not go on with it; an outage is over, or found by the next write.
        documents.works.tell(work, { ...now }).catch((error: unknown) => {
          logger.warn({ error }, 'other servers were not told how far reindexing is')
          lost.abort(error)
        })
      }
      let isTaken = false
      try {
        isTaken = documents.works === undefined || (await documents.works.take(work))
        if (!isTaken) throw conflict()
        const download = ({ loadedBytes, totalBytes }: DownloadProgress) =>
          tell({ step: 'download', done: loadedBytes, total: totalBytes })
        if (embedder !== undefined) await embedders.download(embedder, { progress: download, signal: either })
        const { chunks: total } = await documents.totals()
        let done = 0
        const count = (chunks: number) => {
          done += chunks
          tell({ step: 'embed', done, total: Math.max(done, total) })
        }
        count(0)
        for (const collection of await documents.collections())
          await reindexCollection(collection, embedder, either, count)
      } catch (error) {
        throw fullDisk(options.vectors.location, error) ?? error
      } finally {
        reindexing = undefined
        if (isTaken)
          await documents.works?.release(work).catch((error: unknown) => {
            logger.warn({ error }, 'other servers take this one for reindexing until it ends')
          })
      }
    },
  }
}
