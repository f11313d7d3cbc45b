import { createHash } from 'node:crypto'
import { invalidCursor, notFound } from '../../../core/error.ts'
import { type Collection, StaleCollection, type StoredDocument } from '../../../core/knowledge/document-store.ts'
import type { Embedding } from '../../../core/knowledge/drivers.ts'
import type { Page, PageRequest } from '../../../core/page.ts'
import type { CollectionRow } from '../schema.ts'
import type { KnowledgeDatabase } from './database.ts'
import { readCollection, readDocument, type StoredDocumentRow } from './rows.ts'
import { fromStored, toStored } from './stored-text.ts'

const documents =
  'SELECT document.*, collection_name FROM document JOIN collection ON collection_key = document_collection'

/** A source may be longer than what an index holds. */
export function hashOfSource(source: string): string {
  return createHash('sha256').update(toStored(source)).digest('base64url')
}

export function lists(database: KnowledgeDatabase) {
  const { read, space } = database
  const collectionBy = async (name: string): Promise<Collection | undefined> => {
    const [row] = await read.all<CollectionRow>('SELECT * FROM collection WHERE space = $1 AND collection_name = $2', [
      space,
      toStored(name),
    ])
    return row && readCollection(row)
  }
  return {
    async collections(): Promise<Collection[]> {
      const sql = 'SELECT * FROM collection WHERE space = $1 ORDER BY collection_key'
      return (await read.all<CollectionRow>(sql, [space])).map(readCollection)
    },

    /** Read each time, since other servers change it. */
    findCollection: collectionBy,

    async ensureCollection(name: string, embedding: Embedding): Promise<Collection> {
      const { provider, model, dimensions } = embedding
      const known = await collectionBy(name)
      if (known !== undefined) return known
      await database.work((sql) =>
        sql.run(
          `INSERT INTO collection (space, collection_name, embedding_provider, embedding_model, embedding_dimensions)
           VALUES ($1, $2, $3, $4, $5) ON CONFLICT (space, collection_name) DO NOTHING`,
          [space, toStored(name), provider, model, dimensions],
        ),
      )
      const made = await collectionBy(name)
      if (made === undefined) throw notFound('collection', name)
      return made
    },

    async setEmbedding(key: number, { provider, model, dimensions }: Embedding, version: number): Promise<Collection> {
      const [row] = await database.work((sql) =>
        sql.all<CollectionRow>(
          `UPDATE collection SET embedding_provider = $2, embedding_model = $3, embedding_dimensions = $4,
             embedding_version = embedding_version + 1
           WHERE collection_key = $1 AND embedding_version = $5 RETURNING *`,
          [key, provider, model, dimensions, version],
        ),
      )
      if (row === undefined) throw new StaleCollection()
      return readCollection(row)
    },

    async findBySources(collection: number, sources: readonly string[]): Promise<Map<string, StoredDocument>> {
      const rows = await read.all<StoredDocumentRow>(
        `${documents} WHERE document_collection = $1 AND source_hash = ANY($2::text[])`,
        [collection, sources.map(hashOfSource)],
      )
      return new Map(rows.map(readDocument).map((document) => [document.source, document]))
    },

    async getDocument(documentId: string): Promise<StoredDocument> {
      const sql = `${documents} WHERE document_id = $1 AND space = $2`
      const [row] = await read.all<StoredDocumentRow>(sql, [toStored(documentId), space])
      if (row === undefined) throw notFound('document', documentId)
      return readDocument(row)
    },

    /** Newest first; the cursor is the key of the last document. */
    async listDocuments(
      filter: { collection?: number | undefined; source?: string | undefined },
      { cursor, limit }: PageRequest,
    ): Promise<Page<StoredDocument>> {
      if (cursor !== undefined && !/^[0-9]{1,15}$/.test(cursor)) throw invalidCursor()
      const { collection, source } = filter
      const rows = await read.all<StoredDocumentRow & { document_key: number }>(
        `${documents} WHERE space = $1 AND document_key < $2
           ${collection === undefined ? 'AND $3::int IS NULL' : 'AND document_collection = $3::int'}
           ${source === undefined ? 'AND $4::text IS NULL' : 'AND source_hash = $4::text'}
         ORDER BY document_key DESC LIMIT $5`,
        [
          space,
          cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor),
          collection ?? null,
          source === undefined ? null : hashOfSource(source),
          limit + 1,
        ],
      )
      const shown = rows.slice(0, limit)
      return { items: shown.map(readDocument), next: rows.length > limit ? String(shown.at(-1)?.document_key) : null }
    },

    async brought(collection: string): Promise<string[]> {
      const sql = 'SELECT source FROM brought WHERE space = $1 AND collection_name = $2 ORDER BY source'
      const rows = await read.all<{ source: string }>(sql, [space, toStored(collection)])
      return rows.map(({ source }) => fromStored(source))
    },

    async changeBrought(collection: string, add: readonly string[], forget: readonly string[]): Promise<void> {
      const name = toStored(collection)
      await database.work(async (sql) => {
        await sql.run(
          'DELETE FROM brought WHERE space = $1 AND collection_name = $2 AND source_hash = ANY($3::text[])',
          [space, name, forget.map(hashOfSource)],
        )
        await sql.run(
          `INSERT INTO brought (space, collection_name, source_hash, source)
           SELECT $1, $2, hash, source FROM unnest($3::text[], $4::text[]) AS given (hash, source) ORDER BY hash
           ON CONFLICT DO NOTHING`,
          [space, name, add.map(hashOfSource), add.map(toStored)],
        )
      })
    },
  }
}
