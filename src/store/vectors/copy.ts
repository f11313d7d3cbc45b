import { AppError, isAppError } from '../../core/error.ts'
import type { VectorRow, VectorStore, VectorTable } from '../../core/knowledge/drivers.ts'
import { createSerial } from '../../runtime/serial.ts'
import { fromBinary } from './binary.ts'
import type { VectorDatabase } from './database.ts'
import { ListReplaced } from './failure.ts'
import type { List } from './lists.ts'

/** Rows of one read. */
const rowsAtOnce = 1_000
const changesAtOnce = 5_000

interface Changes {
  newest: number
  /** The oldest change that is still written down. */
  oldest: number | null
  changed: number[] | null
}

interface StoredRow {
  chunk: number
  generation: number
  embedding: Buffer
}

export interface Copy {
  /** Brings the copy to what was committed before the call. */
  bring(): Promise<void>
  /** The table, which is brought forward as far as it is. */
  readonly table: Promise<VectorTable>
  /** Throws the copy away; the next `bring` makes a new one. */
  discard(): Promise<void>
  /** Ends what is under way, which fails. */
  stop(): Promise<void>
}

/**
 * This process's own copy of a list of the database. What it lacks is found by the number of vectors of each generation when
 * it is first used, and by the list's changes later: nothing that the copy itself must remember, so one that is lost or torn
 * is made again.
 */
export function copyOf(database: VectorDatabase, list: List, copies: VectorStore, name: string): Copy {
  const { read } = database
  const turns = createSerial()
  let isStopped = false
  let table: Promise<VectorTable> | undefined
  /** The change up to which the copy has everything; undefined: compare. */
  let seen: number | undefined
  /** The last chunk of the generations that this process has written into the copy. */
  let lastChunk = new Map<number, number>()

  const replaced = () => new ListReplaced(`the list ${list.name} was replaced`)
  const opened = () => {
    table ??= copies.table(name, list.dimensions).catch((error: unknown) => {
      table = undefined
      throw error
    })
    return table
  }

  /** In pages, and what is written meanwhile too. Gives the number of rows. */
  const fetch = async (local: VectorTable, generations: readonly number[], after: number): Promise<number> => {
    let fetched = 0
    for (let last = after; ; ) {
      if (isStopped) throw new AppError('unavailable', 'The vectors are closing.', { retryAfterSeconds: 1 })
      const rows = await read.all<StoredRow>(
        `SELECT chunk_key AS chunk, generation, embedding FROM ${list.table}
         WHERE generation = ANY($1::bigint[]) AND chunk_key > $2 ORDER BY chunk_key LIMIT ${rowsAtOnce}`,
        [generations, last],
        'fresh',
      )
      const made = rows.map(({ chunk, generation, embedding }): VectorRow => {
        return { chunk, generation, vector: fromBinary(embedding, list.dimensions) }
      })
      if (made.length > 0) await local.add(made)
      for (const { chunk, generation } of made) lastChunk.set(generation, chunk)
      fetched += made.length
      last = made.at(-1)?.chunk ?? last
      if (made.length < rowsAtOnce) return fetched
    }
  }
  const forget = async (local: VectorTable, generations: readonly number[]) => {
    await local.removeGenerations(generations)
    for (const one of generations) lastChunk.delete(one)
  }

  /** Compares the number of vectors of each generation. */
  const compare = async (local: VectorTable) => {
    const [state] = await read.all<{ changes: number; counts: [number, number][] | null }>(
      `SELECT changes, (SELECT json_agg(json_build_array(generation, n)) FROM
         (SELECT generation, count(*) AS n FROM ${list.table} GROUP BY generation) AS counted) AS counts
       FROM vector_list WHERE list_key = $1`,
      [list.key],
      'fresh',
    )
    if (state === undefined) throw replaced()
    const wanted = new Map(state.counts ?? [])
    const held = await local.counts()
    const wrong = [...held].filter(([generation, n]) => wanted.get(generation) !== n).map(([generation]) => generation)
    if (wrong.length > 0) await forget(local, wrong)
    const lacking = [...wanted]
      .filter(([generation, n]) => held.get(generation) !== n)
      .map(([generation]) => generation)
    if (lacking.length > 0) {
      database.logger.info({ list: list.name, documents: lacking.length }, 'copying vectors from the database')
      await fetch(local, lacking, 0)
    }
    seen = state.changes
  }

  /** Makes these generations of the copy as they are in the database. */
  const update = async (local: VectorTable, generations: readonly number[]) => {
    // What another server writes is added in the order of its chunks, so most of the time only the end is new.
    for (const generation of generations) {
      const last = lastChunk.get(generation)
      if (last !== undefined) await fetch(local, [generation], last)
    }
    const unknown = generations.filter((one) => !lastChunk.has(one))
    if (unknown.length > 0) {
      await forget(local, unknown)
      await fetch(local, unknown, 0)
    }
    const counted = await read.all<{ generation: number; n: number }>(
      `SELECT generation, count(*) AS n FROM ${list.table} WHERE generation = ANY($1::bigint[]) GROUP BY generation`,
      [generations],
      'fresh',
    )
    const wanted = new Map(counted.map(({ generation, n }) => [generation, n]))
    const gone = generations.filter((one) => !wanted.has(one))
    if (gone.length > 0) await forget(local, gone)
  }

  const readChanges = async (after: number): Promise<Changes | undefined> => {
    const [found] = await read.all<Changes>(
      `SELECT changes AS newest, (SELECT min(seq) FROM vector_change WHERE list_key = $1) AS oldest,
         (SELECT array_agg(generation ORDER BY seq) FROM
           (SELECT seq, generation FROM vector_change WHERE list_key = $1 AND seq > $2 ORDER BY seq LIMIT ${changesAtOnce}) AS next
         )::float8[] AS changed
       FROM vector_list WHERE list_key = $1`,
      [list.key, after],
    )
    return found
  }
  const follow = async (local: VectorTable) => {
    while (seen !== undefined) {
      const changes = await readChanges(seen)
      if (changes === undefined) throw replaced()
      if (changes.newest <= seen) return
      if (changes.oldest === null || changes.oldest > seen + 1) return compare(local)
      const changed = changes.changed ?? []
      await update(local, [...new Set(changed)])
      seen += changed.length
    }
  }

  const bringOnce = async () => {
    const local = await opened()
    if (seen === undefined) await compare(local)
    else await follow(local)
  }
  const discard = async () => {
    seen = undefined
    lastChunk = new Map()
    table = undefined
    await copies.drop(name)
  }
  const bringOrMend = async () => {
    try {
      await bringOnce()
    } catch (error) {
      // What was done by half must not be taken for complete.
      seen = undefined
      if (isAppError(error) || error instanceof ListReplaced) throw error
      database.logger.warn({ err: error, list: list.name }, 'the copy of the vectors is damaged and is made again')
      await discard()
      await bringOnce()
    }
  }
  let waiting: Promise<void> | undefined

  return {
    get table() {
      return opened()
    },
    bring() {
      // One that has not begun yet sees all that was committed until now.
      waiting ??= turns.run(() => {
        waiting = undefined
        return bringOrMend()
      })
      return waiting
    },
    discard: () => turns.run(discard),
    stop() {
      isStopped = true
      return turns.idle()
    },
  }
}
