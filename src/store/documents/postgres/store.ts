import { notFound } from '../../../core/error.ts'
import type { DocumentStore } from '../../../core/knowledge/document-store.ts'
import { closeAll } from '../../../runtime/close-all.ts'
import { oneUse } from '../../../runtime/once.ts'
import { chunkReads } from './chunks.ts'
import type { KnowledgeDatabase } from './database.ts'
import { filterSql, Parameters } from './filter.ts'
import { Keys } from './keys.ts'
import { keywordReads } from './keyword.ts'
import { lists } from './lists.ts'
import { removing } from './remove.ts'
import { toStored } from './stored-text.ts'
import { termReads } from './terms.ts'
import { works } from './works.ts'
import { checkReserved, checkVersion, insertChunks, retire, upsertDocuments } from './write.ts'

/** Documents in a Postgres database, for any number of processes. */
export function postgresDocuments(database: KnowledgeDatabase): DocumentStore {
  const { read, space } = database
  const keys = new Keys(database)
  const removal = removing(database)
  const use = oneUse(database)

  return {
    works: works(database),
    open() {
      removal.open()
      return use.open()
    },
    check: database.check,
    async close() {
      await closeAll(removal.close, use.close)
      keys.forget()
    },

    ...lists(database),
    ...chunkReads(database),
    ...termReads(database),
    ...keywordReads(database),

    reserve: (chunks) => keys.reserve(chunks),
    async addChunks(collection, chunks) {
      await database.owned(async (sql, owner) => {
        await checkReserved(sql, owner, [chunks.generation])
        await insertChunks(sql, collection, [chunks])
      }, 'bulk')
      removal.wrote()
    },

    async publish(collection, documents, version) {
      const published = await database.owned(async (sql, owner) => {
        await checkReserved(
          sql,
          owner,
          documents.map(({ generation }) => generation),
        )
        await checkVersion(sql, collection, version)
        await insertChunks(sql, collection, documents)
        return upsertDocuments(
          sql,
          collection,
          documents.map(({ document }) => document),
        )
      }, 'bulk')
      removal.wrote()
      return published
    },

    collect: (generations) => (generations === undefined ? removal.sweep() : removal.remove(generations)),

    async deleteDocument(documentId) {
      const [row] = await database.work(async (sql) => {
        const rows = await sql.all<{ document_collection: number; generation: number }>(
          `DELETE FROM document USING collection WHERE collection_key = document_collection AND space = $2
             AND document_id = $1 RETURNING document_collection, generation`,
          [toStored(documentId), space],
        )
        await retire(
          sql,
          rows.map(({ generation }) => generation),
        )
        return rows
      })
      if (row === undefined) throw notFound('document', documentId)
      return { collection: row.document_collection, generation: row.generation }
    },

    async stillCurrent(generations) {
      const sql = 'SELECT generation FROM document WHERE generation = ANY($1::bigint[])'
      return (await read.all<{ generation: number }>(sql, [generations])).map(({ generation }) => generation)
    },

    generations: (collection) =>
      read.all('SELECT generation, chunk_count AS chunks FROM document WHERE document_collection = $1', [collection]),

    async totals(collection) {
      const [row] = await read.all<{ documents: number; chunks: number }>(
        `SELECT count(*) AS documents, coalesce(sum(chunk_count), 0)::bigint AS chunks
         FROM document JOIN collection ON collection_key = document_collection
         WHERE space = $1 AND ($2::int IS NULL OR document_collection = $2::int)`,
        [space, collection ?? null],
      )
      return row ?? { documents: 0, chunks: 0 }
    },

    async matching(collection, filters) {
      const parameters = new Parameters(collection)
      const filter = filterSql(filters, parameters)
      const rows = await read.all<{ generation: number }>(
        `SELECT generation FROM document WHERE document_collection = $1${filter}`,
        parameters.values,
        'fresh',
      )
      return rows.map(({ generation }) => generation)
    },
  }
}
