import type { Clock } from '../../../core/time.ts'
import { type CollectionIndex, type IndexDrivers, missingIn, missingOf, repair } from './index-document.ts'

/** What could not be written is tried again so much later, and each time twice as much later. */
const againMs = 60_000
const latestAgainMs = 3_600_000

export interface MendingOptions extends IndexDrivers {
  clock: Clock
  stopping: () => AbortSignal
}

/** Writes the vectors that an index lacks, in the background. */
export interface Mending {
  /** Nothing when the index is complete, when it is under way, or when it failed a moment ago. */
  begin(index: CollectionIndex): void
  /** Waits until nothing writes into the index any more; it is not begun again. */
  end(index: CollectionIndex): Promise<void>
}

interface Mended {
  ending: AbortController
  work: Promise<void> | undefined
  /** Since it was under way once. */
  dueMs: number | undefined
  waitMs: number
}

export function createMending(options: MendingOptions): Mending {
  const { documents, vectors, logger, clock, stopping } = options
  const known = new WeakMap<CollectionIndex, Mended>()

  const refresh = async (index: CollectionIndex, isAgain: boolean) => {
    // Another server may have written them meanwhile.
    for (const list of index.lists)
      if (vectors.atomic) list.missing = await missingIn(options, index.collection, list.table)
      // Vectors are added once.
      else if (isAgain) await list.table.removeGenerations([...list.missing])
  }
  /** One server at a time. */
  const mend = async (index: CollectionIndex, signal: AbortSignal, isAgain: boolean) => {
    const work = `repair:${index.collection.key}`
    try {
      if (documents.works !== undefined && !(await documents.works.take(work))) return
      try {
        await refresh(index, isAgain)
        await repair(options, index, signal)
      } finally {
        await documents.works?.release(work)
      }
    } catch (error) {
      if (!signal.aborted)
        logger.warn({ error, collection: index.collection.name }, 'missing vectors are not written yet')
    }
  }
  const stateOf = (index: CollectionIndex): Mended => {
    const state = known.get(index)
    if (state !== undefined) return state
    const begun: Mended = { ending: new AbortController(), work: undefined, dueMs: undefined, waitMs: againMs }
    known.set(index, begun)
    return begun
  }

  return {
    begin(index) {
      if (!index.lists.some(({ missing }) => missing.size > 0)) return
      const state = stateOf(index)
      const isAgain = state.dueMs !== undefined
      if (state.work !== undefined || (state.dueMs !== undefined && clock() < state.dueMs)) return
      const signal = AbortSignal.any([state.ending.signal, stopping()])
      if (signal.aborted) return
      logger.info({ collection: index.collection.name, documents: missingOf(index) }, 'writing missing vectors')
      state.work = mend(index, signal, isAgain).finally(() => {
        state.work = undefined
        state.dueMs = clock() + state.waitMs
        state.waitMs = Math.min(latestAgainMs, state.waitMs * 2)
      })
    },
    async end(index) {
      const state = stateOf(index)
      state.ending.abort()
      await state.work
    },
  }
}
