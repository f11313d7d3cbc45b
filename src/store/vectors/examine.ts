import type { Sql } from '../postgres/connection.ts'
import { type Extension, lookForExtension, type WithoutExtension } from './extension.ts'
import { indexName, type ListForm } from './lists.ts'

export interface ExaminedVectors {
  extension: Extension | WithoutExtension
  lists: { name: string; form: ListForm; hasIndex: boolean }[]
}

/** Where the vectors of the knowledge base are searched. Changes nothing; the tables must be there. */
export async function examineVectors(read: Pick<Sql, 'all'>): Promise<ExaminedVectors> {
  const lists = await read.all<Omit<ExaminedVectors['lists'][number], 'hasIndex'>>(
    'SELECT list_name AS name, form FROM vector_list ORDER BY list_name',
  )
  const indexes = await read.all<{ name: string }>(
    `SELECT relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
       JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = current_schema() AND indisvalid AND relname LIKE 'vec\\_%\\_hnsw'`,
  )
  const held = new Set(indexes.map(({ name }) => name))
  return {
    extension: await lookForExtension({ read }),
    lists: lists.map((list) => ({ ...list, hasIndex: held.has(indexName(list.name)) })),
  }
}
