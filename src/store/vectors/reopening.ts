import { AppError } from '../../core/error.ts'
import { ListReplaced } from './failure.ts'
import type { ClosableTable } from './pgvector.ts'

/**
 * The table as it is now: another server may have dropped the list and made it anew, also in another form. `open` gives
 * nothing when there is no such list any more.
 */
export function reopening(first: ClosableTable, open: () => Promise<ClosableTable | undefined>): ClosableTable {
  let current = Promise.resolve(first)

  const openAgain = async (old: ClosableTable, cause: unknown): Promise<ClosableTable> => {
    await old.abandon()
    const next = await open()
    if (next) return next
    throw new AppError('unavailable', 'The vectors were written anew. Retry in a moment.', {
      cause,
      retryAfterSeconds: 1,
    })
  }
  const use = async <T>(work: (table: ClosableTable) => Promise<T>): Promise<T> => {
    const used = current
    const table = await used
    try {
      return await work(table)
    } catch (error) {
      if (!(error instanceof ListReplaced)) throw error
      if (current === used) {
        const next = openAgain(table, error)
        current = next.catch(() => table)
        await next
      }
      return work(await current)
    }
  }

  return {
    add: (rows) => use((table) => table.add(rows)),
    search: (...asked) => use((table) => table.search(...asked)),
    counts: () => use((table) => table.counts()),
    count: () => use((table) => table.count()),
    missing: () => use((table) => table.missing()),
    removeGenerations: (generations) => use((table) => table.removeGenerations(generations)),
    compact: () => use((table) => table.compact()),
    close: async () => (await current).close(),
    abandon: async () => (await current).abandon(),
  }
}
