import { reindexWork } from '../../core/knowledge/document-store.ts'
import type { Sql } from '../postgres/connection.ts'
import type { VectorDatabase } from './database.ts'
import { dropList } from './lists.ts'

const leftOver = `SELECT list_name AS name, list_key AS key FROM vector_list JOIN collection ON collection_key = collection
  WHERE space = $1 AND version <> embedding_version`
/** A server that is reindexing has vectors of the next version. */
const isNobodys = `SELECT 1 WHERE NOT EXISTS (SELECT FROM work JOIN knowledge_owner USING (owner_key)
    WHERE name = $1 AND dead_at IS NULL AND left_at IS NULL)
  AND EXISTS (SELECT FROM vector_list JOIN collection ON collection_key = collection
    WHERE list_key = $2 AND version <> embedding_version)`

/** Drops the vectors of other versions of collections than the current, which a server leaves that dies while it reindexes. */
export async function dropLeftovers(
  database: Pick<VectorDatabase, 'read' | 'work'> & { space: string },
): Promise<void> {
  const { space } = database
  const found = await database.read.all<{ name: string; key: number }>(leftOver, [space])
  for (const { name, key } of found) {
    const mayDrop = async (sql: Sql) => (await sql.all(isNobodys, [`${space}\u0001${reindexWork}`, key])).length > 0
    await dropList(database, name, key, mayDrop)
  }
}
