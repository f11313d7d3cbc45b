import { AppError } from '../../core/error.ts'
import { ListReplaced } from './failure.ts'
import type { ClosableTable } from './pgvector.ts'

/**
 * The table as it is now: another server may have dropped the list and made it anew, also in another form. `open` gives
 * nothing when there is no such list any more.
 */
export function reopening(first: ClosableTable, open: () => Promise<ClosableTable | undefined>): ClosableTable {
  let current = first
  let opening: Promise<ClosableTable> | undefined

  const openAgain = async (cause: ListReplaced): Promise<ClosableTable> => {
    await current.abandon()
    const next = await open()
    if (next === undefined) throw new WrittenAnew(cause)
    current = next
    return next
  }
  /** The one after this, which is gone. */
  const nextOf = async (table: ClosableTable, cause: ListReplaced): Promise<ClosableTable> => {
    if (table !== current) return current
    opening ??= openAgain(cause).finally(() => {
      opening = undefined
    })
    return opening
  }
  const use = async <T>(work: (table: ClosableTable) => Promise<T>): Promise<T> => {
    const table = await (opening ?? current)
    try {
      return await work(table)
    } catch (error) {
      if (!(error instanceof ListReplaced)) throw error
      const next = await nextOf(table, error)
      return work(next).catch((again: unknown) => {
        throw again instanceof ListReplaced ? new WrittenAnew(again) : again
      })
    }
  }
  /** Also when it is being opened. */
  const last = async () => (await opening?.catch(() => undefined)) ?? current

  return {
    add: (rows) => use((table) => table.add(rows)),
    search: (...asked) => use((table) => table.search(...asked)),
    counts: () => use((table) => table.counts()),
    count: () => use((table) => table.count()),
    missing: () => use((table) => table.missing()),
    // With a list that is gone, its vectors are.
    removeGenerations: (generations) =>
      use((table) => table.removeGenerations(generations)).catch((error: unknown) => {
        if (!(error instanceof WrittenAnew)) throw error
      }),
    compact: () => use((table) => table.compact()),
    close: async () => (await last()).close(),
    abandon: async () => (await last()).abandon(),
  }
}

/** The list is gone, and there is no other of its name. */
class WrittenAnew extends AppError {
  constructor(cause: ListReplaced) {
    super('unavailable', 'The vectors were written anew. Retry in a moment.', { cause, retryAfterSeconds: 1 })
  }
}
