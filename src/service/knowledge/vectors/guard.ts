import { AppError, isAppError } from '../../../core/error.ts'
import type { Collection } from '../../../core/knowledge/document-store.ts'
import type { VectorTable } from '../../../core/knowledge/drivers.ts'
import type { Logger } from '../../../core/logger.ts'
import type { Clock } from '../../../core/time.ts'

const rebuildEveryMs = 3_600_000
/** After a rebuild that failed itself. */
const againMs = 60_000
/** Too many open files, missing permissions or native code: rebuilding the vectors repairs none of these, nor a full disk. */
const outside = /too many open files|permission denied|LanceDB does not load|os error (?:13|24)\b/i
const full = /no space left|disk quota exceeded|os error (?:28|122)\b/i

/** The vectors of a collection can't be read or written. */
export class VectorsUnavailable extends AppError {}

/** `storage_full` when the disk is full; undefined for any other error. */
export function fullDisk(location: string, cause: unknown): VectorsUnavailable | undefined {
  if (isAppError(cause) || !full.test(String((cause as Error | undefined)?.message))) return undefined
  return new VectorsUnavailable(
    'storage_full',
    `The disk is full: the vectors in ${location} can't be written. Free some space.`,
    { cause },
  )
}

export interface VectorGuardOptions {
  location: string
  clock: Clock
  logger: Logger
  /** Aborts when the knowledge base closes; tables fail then because they are closed. */
  stopping: () => AbortSignal
  /** Discards the vectors of the collection and starts to rebuild them. */
  rebuild(collection: Collection): Promise<void>
}

export interface VectorGuard {
  /** The table with its failures reported here and thrown as `VectorsUnavailable`. */
  watch(collection: Collection, table: VectorTable): VectorTable
  /** Has the vectors rebuilt, at most once an hour per collection; returns the error to throw. */
  failed(collection: Collection, cause: unknown, closing?: AbortSignal): unknown
  succeeded(collection: Collection): void
  /** Throws the last error of a collection whose vectors have failed since. */
  check(): void
  /** Resolves when no rebuild is starting. */
  idle(): Promise<void>
}

export function createVectorGuard({ location, clock, logger, stopping, rebuild }: VectorGuardOptions): VectorGuard {
  const failures = new Map<number, VectorsUnavailable>()
  const rebuiltMs = new Map<number, number>()
  const rebuilding = new Set<Promise<void>>()

  const begin = (collection: Collection) => {
    rebuiltMs.set(collection.key, clock())
    const work: Promise<void> = rebuild(collection)
      .catch((error: unknown) => {
        logger.error({ err: error, location }, 'the vectors could not be rebuilt')
        rebuiltMs.set(collection.key, clock() - rebuildEveryMs + againMs)
      })
      .finally(() => rebuilding.delete(work))
    rebuilding.add(work)
  }
  const failed = (collection: Collection, cause: unknown, closing = stopping()): unknown => {
    if (isAppError(cause) || (cause as Error | undefined)?.name === 'AbortError') return cause
    if (closing.aborted)
      return new VectorsUnavailable('unavailable', 'The vectors are closed.', { cause, retryAfterSeconds: 1 })
    const isFull = fullDisk(location, cause)
    if (isFull) {
      if (failures.get(collection.key)?.code !== isFull.code)
        logger.error({ err: cause, collection: collection.name, location }, isFull.message)
      failures.set(collection.key, isFull)
      return isFull
    }
    const reason = (cause instanceof Error ? cause.message : String(cause)).split('\n', 1)[0]?.slice(0, 300)
    const lastMs = rebuiltMs.get(collection.key)
    const isDue = lastMs === undefined || clock() - lastMs >= rebuildEveryMs
    const mends = isDue && !outside.test(String(reason))
    const wayOut = mends
      ? 'They are being rebuilt from the texts.'
      : "They are not rebuilt automatically: fix the cause, then run 'agentserve knowledge reindex'."
    const message = `The vectors in ${location} can't be used (${reason}). ${wayOut} Keyword search still works.`
    const failure = new VectorsUnavailable('unavailable', message, { cause, retryAfterSeconds: 60 })
    if (mends || !failures.has(collection.key))
      logger.error({ err: cause, collection: collection.name, location }, message)
    failures.set(collection.key, failure)
    if (mends) begin(collection)
    return failure
  }
  const succeeded = (collection: Collection) => {
    if (failures.size > 0) failures.delete(collection.key)
  }

  return {
    failed,
    succeeded,
    watch(collection, table) {
      const closing = stopping()
      const watched = async <T>(work: Promise<T>): Promise<T> => {
        try {
          const result = await work
          succeeded(collection)
          return result
        } catch (error) {
          throw failed(collection, error, closing)
        }
      }
      return {
        add: (rows) => watched(table.add(rows)),
        search: (...asked) => watched(table.search(...asked)),
        counts: () => watched(table.counts()),
        count: () => watched(table.count()),
        removeGenerations: (generations) => watched(table.removeGenerations(generations)),
        compact: () => watched(table.compact()),
        ...(table.missing && { missing: () => watched(table.missing?.() ?? Promise.resolve([])) }),
      }
    },
    check() {
      for (const failure of failures.values()) throw failure
    },
    async idle() {
      await Promise.all(rebuilding)
    },
  }
}
