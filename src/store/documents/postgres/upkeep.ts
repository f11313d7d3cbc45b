import { setTimeout as wait } from 'node:timers/promises'
import type { KnowledgeDatabase } from './database.ts'
import { removeUnusedTerms } from './terms.ts'

const quietMs = 1_000

/**
 * What is new of an index is a list first, which each search reads whole: 4 MB of it take some ten times as long as all else. The
 * database tidies it when it is full, and for its owner at any time.
 */
const tidyIndexes = `SELECT gin_clean_pending_list('chunk_words_by_word'), gin_clean_pending_list('term_by_trigram')`

/** Removes words that were only in deleted chunks, some time after the deletion, and brings the indexes up to date after writes. */
export function createUpkeep(database: KnowledgeDatabase) {
  let closed = new AbortController()
  let running: Promise<void> | undefined
  let again = false
  let tidying: Promise<void> | undefined
  let isUntidy = false

  const due = async () => {
    const [row] = await database.read.all<{ due: number }>(
      "SELECT next_value AS due FROM knowledge_counter WHERE counter_name = 'purge'",
    )
    return row?.due
  }
  const purge = async () => {
    while (again && !closed.signal.aborted) {
      again = false
      await wait(quietMs, undefined, { signal: closed.signal, ref: false })
      const wanted = await due()
      if (wanted === undefined) continue
      const collections = await database.read.all<{ key: number }>('SELECT collection_key AS key FROM collection')
      for (const { key } of collections)
        for (let after: string | undefined = ''; after !== undefined && !closed.signal.aborted; ) {
          const from: string = after
          after = await database.work((sql) => removeUnusedTerms(sql, key, from))
        }
      if (closed.signal.aborted) return
      await database.work((sql) =>
        sql.run("DELETE FROM knowledge_counter WHERE counter_name = 'purge' AND next_value = $1", [wanted]),
      )
    }
  }
  const wake = () => {
    if (closed.signal.aborted) return
    again = true
    running ??= purge()
      .catch((error: unknown) => {
        if (!closed.signal.aborted)
          database.logger.warn({ error }, 'words of deleted documents are still in the keyword index')
      })
      .finally(() => {
        running = undefined
        // Chunks may have been deleted since it last looked.
        if (again) wake()
      })
  }
  const tidy = async () => {
    isUntidy = false
    try {
      await database.work((sql) => sql.all(tidyIndexes))
    } catch (error) {
      // The role may not own the index: then the database's own vacuum does it.
      database.logger.debug({ error }, 'the keyword index is not tidied yet')
    }
  }
  const tidySoon = async () => {
    while (isUntidy) {
      await wait(quietMs, undefined, { signal: closed.signal, ref: false }).catch(() => undefined)
      await tidy()
    }
    tidying = undefined
  }
  return {
    wake,
    open() {
      if (closed.signal.aborted) closed = new AbortController()
    },
    /** Chunks were written. */
    wrote(): void {
      isUntidy = true
      tidying ??= tidySoon()
    },
    /** Chunks were deleted. */
    async note(): Promise<void> {
      await database.work((sql) =>
        sql.run(`INSERT INTO knowledge_counter VALUES ('purge', 1)
          ON CONFLICT (counter_name) DO UPDATE SET next_value = knowledge_counter.next_value + 1`),
      )
      wake()
    },
    async close(): Promise<void> {
      again = false
      closed.abort()
      await running
      await tidying
    },
  }
}
