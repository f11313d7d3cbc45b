import type { Sql } from '../../postgres/connection.ts'
import { dropLeftovers } from '../../vectors/leftovers.ts'
import { isThere, removeOfAll } from '../../vectors/lists.ts'
import type { KnowledgeDatabase } from './database.ts'
import { createUpkeep } from './upkeep.ts'

const chunksAtOnce = 1_000

/** Some chunks of generations that are no document's current one. */
const deleteSome = `WITH gone AS MATERIALIZED (
    SELECT chunk_key FROM chunk WHERE chunk_generation = ANY($1::bigint[])
      AND (SELECT 1 FROM document WHERE document.generation = chunk_generation LIMIT 1) IS NULL LIMIT ${chunksAtOnce}),
  words AS (DELETE FROM chunk_words USING gone WHERE chunk_words.chunk_key = gone.chunk_key)
  DELETE FROM chunk USING gone WHERE chunk.chunk_key = gone.chunk_key`

const notCurrent =
  'SELECT given FROM unnest($1::bigint[]) AS given EXCEPT SELECT generation FROM document WHERE generation = ANY($1::bigint[])'

/** Owners that are gone, whose generations are the current ones of documents or left over. */
const gone = '(SELECT owner_key FROM knowledge_owner WHERE dead_at IS NOT NULL OR left_at IS NOT NULL)'
const leftOver = `SELECT DISTINCT generation FROM (
    SELECT chunk_generation AS generation FROM generation_range
      JOIN chunk ON chunk_generation BETWEEN first_generation AND last_generation WHERE owner_key IN ${gone}) AS found
  WHERE (SELECT 1 FROM document WHERE document.generation = found.generation LIMIT 1) IS NULL`

export function removing(database: KnowledgeDatabase) {
  const upkeep = createUpkeep(database)

  /** Also the vectors of these generations, whoever wrote them. */
  const removeVectors = async (sql: Sql, where: string, params: readonly unknown[]) => {
    if (await isThere(sql, 'vector_list')) await removeOfAll(sql, where, params)
  }
  const remove = async (generations: readonly number[]): Promise<void> => {
    if (generations.length === 0) return
    let removed = 0
    for (let some = chunksAtOnce; some === chunksAtOnce; removed += some)
      some = await database.work((sql) => sql.run(deleteSome, [generations]), 'bulk')
    await database.work(async (sql) => {
      await removeVectors(sql, `generation IN (${notCurrent})`, [generations])
      await sql.run(`DELETE FROM retired WHERE generation = ANY($1::bigint[])`, [generations])
    }, 'bulk')
    if (removed > 0) await upkeep.note()
  }
  /** What owners that are gone have begun, and what was replaced and not removed. Any number of processes may do it at once. */
  const sweep = async (): Promise<void> => {
    // First: only by its range is found what one has left that goes after this look.
    const ranges = await database.read.all<{ first: number; last: number }>(
      `SELECT first_generation AS first, last_generation AS last FROM generation_range WHERE owner_key IN ${gone}`,
    )
    const retired = await database.read.all<{ generation: number }>('SELECT generation FROM retired')
    const left = await database.read.all<{ generation: number }>(leftOver)
    await remove([...retired, ...left].map(({ generation }) => generation))
    for (const { first, last } of ranges)
      await database.work(async (sql) => {
        await removeVectors(
          sql,
          `generation BETWEEN $1 AND $2 AND generation NOT IN
             (SELECT generation FROM document WHERE generation BETWEEN $1 AND $2)`,
          [first, last],
        )
        await sql.run('DELETE FROM generation_range WHERE first_generation = $1', [first])
      }, 'bulk')
    // As one that watches the others: those that die later leave something too.
    await database.owned(async (sql) => {
      await sql.run(`DELETE FROM work WHERE owner_key IN ${gone}`)
      await sql.run(
        `DELETE FROM knowledge_owner WHERE owner_key IN ${gone}
           AND (SELECT 1 FROM generation_range WHERE generation_range.owner_key = knowledge_owner.owner_key LIMIT 1) IS NULL`,
      )
    })
    await dropLeftovers(database)
    upkeep.wake()
  }
  database.listen({
    gone: () =>
      void sweep().catch((error: unknown) =>
        database.logger.warn({ error }, 'what other servers left of documents could not be removed yet'),
      ),
  })
  return { remove, sweep, open: upkeep.open, wrote: upkeep.wrote, close: upkeep.close }
}
