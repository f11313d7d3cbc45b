import { notFound } from '../../core/error.ts'
import { type Collection, type DocumentStore, StaleCollection } from '../../core/knowledge/document-store.ts'
import { type Logger, silentLogger } from '../../core/logger.ts'
import type { Connection, SqlValue } from '../sqlite/connection.ts'
import { inMemory, openDatabase } from '../sqlite/open-database.ts'
import { DocumentsUpkeep, notePurge } from '../upkeep/documents-upkeep.ts'
import { chunksAround, chunksFrom } from './chunks.ts'
import { documentsDatabase, indexTables } from './database.ts'
import { toKnowledgeError } from './failure.ts'
import { filterSql } from './filter.ts'
import { Keys } from './keys.ts'
import { createCounts, inflectionsOf, rankByWords, similarWords } from './keyword.ts'

import * as lists from './lists.ts'
import { openReader, type Reader } from './reader.ts'
import { type PlaceRow, toChunk, toCollection, toCurrentChunk, toPlace } from './rows.ts'
import type { ChunkRow, CollectionRow, DocumentRow } from './schema.ts'
import { changeBrought, insertChunks, removeChunks, upsertDocuments } from './write.ts'
import { openWriter, type Writer } from './writer.ts'

/** Fixes the join order: SQLite by itself would read all documents of the collection first. */
const fromCurrent = `FROM json_each(?) AS wanted CROSS JOIN chunk ON chunk_key = wanted.value
  CROSS JOIN document ON document.generation = chunk.chunk_generation AND document_collection = ?`
const selectCurrent = `SELECT chunk.*, document.* ${fromCurrent}`
const selectPlaces = `SELECT chunk_key, chunk_id, document_id, source, line_start, line_end, page, heading_path ${fromCurrent}`

const selectAbandoned =
  'SELECT DISTINCT chunk_generation AS generation FROM chunk EXCEPT SELECT generation FROM document'

export interface DocumentStoreOptions {
  /** `:memory:` keeps the data until the process ends. */
  path: string
  logger?: Logger | undefined
  /** Called before and after words leave the index, so that caches of indexed words can be cleared. */
  onWordsForgotten?: (() => void) | undefined
}

interface Opened {
  reader: Reader
  writer: Writer
  frequencies: ReturnType<typeof createCounts>
  upkeep: DocumentsUpkeep
}

export function createDocumentStore(options: DocumentStoreOptions): DocumentStore {
  const { path, logger = silentLogger, onWordsForgotten = () => {} } = options
  let opened: Opened | undefined
  const keys = new Keys()
  const collections = new Map<string, Collection>()
  let writes = 0

  const using = async <T>(work: (opened: Opened) => Promise<T>): Promise<T> => {
    if (!opened) throw new Error('the document store is not open')
    return told(work(opened))
  }
  const told = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw toKnowledgeError(error, path)
    })
  const read = <T>(work: (connection: Connection) => Promise<T>) => using((store) => store.reader.read(work))
  const all = <Row>(sql: string, parameters: readonly SqlValue[] = []) =>
    read((connection) => connection.all<Row>(sql, parameters))
  const write = async <T>(work: (connection: Connection) => Promise<T>) => {
    const done = await using(({ writer }) => writer.transaction(work))
    writes++
    return done
  }

  return {
    async open() {
      const connection = await told(openDatabase(path, documentsDatabase))
      try {
        const writer = openWriter(connection, () => keys.forget())
        const reader = path === inMemory ? { read: writer.read, close: async () => {} } : await told(openReader(path))
        const upkeep = new DocumentsUpkeep({ writer, logger, writes: () => writes, onWordsForgotten })
        opened = { reader, writer, frequencies: createCounts(() => writes), upkeep }
        upkeep.wake()
      } catch (error) {
        await connection.close()
        throw error
      }
    },

    async check() {
      await all('SELECT 1 FROM document LIMIT 1')
      if (opened?.writer.failure() !== undefined)
        await write((connection) => connection.run('UPDATE counter SET next_value = next_value'))
    },

    async close() {
      if (!opened) return
      const { reader, writer, upkeep } = opened
      opened = undefined
      collections.clear()
      await upkeep.close()
      await writer.idle()
      await reader.close()
      await writer.close()
    },

    collections: () => read(lists.listCollections),

    async findCollection(name) {
      const known = collections.get(name)
      if (known) return known
      const found = await read((connection) => lists.findCollection(connection, name))
      if (found && !collections.has(name)) collections.set(name, found)
      return collections.get(name)
    },

    ensureCollection: (name, embedding) =>
      write(async (connection) => {
        await connection.run(
          `INSERT INTO collection (collection_name, embedding_provider, embedding_model, embedding_dimensions)
           VALUES (?, ?, ?, ?) ON CONFLICT (collection_name) DO NOTHING`,
          [name, embedding.provider, embedding.model, embedding.dimensions],
        )
        const collection = await lists.findCollection(connection, name)
        if (collection === undefined) throw notFound('collection', name)
        await connection.exec(indexTables(collection.key))
        return collection
      }),

    async setEmbedding(key, embedding, version) {
      const collection = await write(async (connection) => {
        const [row] = await connection.all<CollectionRow>(
          `UPDATE collection SET embedding_provider = ?, embedding_model = ?, embedding_dimensions = ?,
             embedding_version = embedding_version + 1 WHERE collection_key = ? AND embedding_version = ? RETURNING *`,
          [embedding.provider, embedding.model, embedding.dimensions, key, version],
        )
        if (row === undefined) throw new StaleCollection()
        return toCollection(row)
      })
      collections.set(collection.name, collection)
      return collection
    },

    reserve: (chunks) =>
      write(async (connection) => {
        const reservations = []
        for (const count of chunks) {
          const generation = await keys.take(connection, 'generation', 1)
          reservations.push({ generation, firstChunk: await keys.take(connection, 'chunk', count) })
        }
        return reservations
      }),

    addChunks: (collection, chunks) => write((connection) => insertChunks(connection, collection, [chunks])),

    publish: (collection, documents) =>
      write(async (connection) => {
        await insertChunks(connection, collection, documents)
        return upsertDocuments(
          connection,
          collection,
          documents.map(({ document }) => document),
        )
      }),

    async collect(generations) {
      const gone =
        generations ?? (await all<{ generation: number }>(selectAbandoned)).map(({ generation }) => generation)
      const removeSome = async (connection: Connection) => {
        const removed = await removeChunks(connection, gone)
        if (removed > 0) await notePurge(connection)
        return removed
      }
      for (let removed = 1; removed > 0; opened?.upkeep.wake()) removed = await write(removeSome)
    },

    findBySources: (collection, sources) => read((connection) => lists.findBySources(connection, collection, sources)),
    getDocument: (documentId) => read((connection) => lists.getDocument(connection, documentId)),
    listDocuments: (filter, page) => read((connection) => lists.listDocuments(connection, filter, page)),
    brought: (collection) => read((connection) => lists.listBrought(connection, collection)),
    changeBrought: (collection, add, forget) =>
      write((connection) => changeBrought(connection, collection, add, forget)),

    async deleteDocument(documentId) {
      const [row] = await write((connection) =>
        connection.all<Pick<DocumentRow, 'document_collection' | 'generation'>>(
          'DELETE FROM document WHERE document_id = ? RETURNING document_collection, generation',
          [documentId],
        ),
      )
      if (!row) throw notFound('document', documentId)
      return { collection: row.document_collection, generation: row.generation }
    },

    async chunkIds(generation) {
      const sql = 'SELECT chunk_id FROM chunk WHERE chunk_generation = ? ORDER BY chunk_index'
      return (await all<Pick<ChunkRow, 'chunk_id'>>(sql, [generation])).map((row) => row.chunk_id)
    },

    async chunksOf(generations, after, limit) {
      const sql = `SELECT * FROM chunk WHERE chunk_generation IN (SELECT value FROM json_each(?)) AND chunk_key > ?
        ORDER BY chunk_key LIMIT ?`
      const rows = await all<ChunkRow>(sql, [JSON.stringify(generations), after, limit])
      return rows.map((row) => ({ ...toChunk(row), generation: row.chunk_generation }))
    },

    async stillCurrent(generations) {
      const sql = 'SELECT generation FROM document WHERE generation IN (SELECT value FROM json_each(?))'
      const rows = await all<Pick<DocumentRow, 'generation'>>(sql, [JSON.stringify(generations)])
      return rows.map((row) => row.generation)
    },

    generations: (collection) =>
      all('SELECT generation, chunk_count AS chunks FROM document WHERE document_collection = ?', [collection]),

    async totals(collection) {
      const [row] = await all<{ documents: number; chunks: number }>(
        `SELECT count(*) AS documents, coalesce(sum(chunk_count), 0) AS chunks FROM document
         ${collection === undefined ? '' : 'WHERE document_collection = ?'}`,
        collection === undefined ? [] : [collection],
      )
      return row ?? { documents: 0, chunks: 0 }
    },

    async matching(collection, filters) {
      const filter = filterSql(filters)
      const sql = `SELECT generation FROM document WHERE document_collection = ?${filter.sql}`
      const rows = await all<Pick<DocumentRow, 'generation'>>(sql, [collection, ...filter.parameters])
      return rows.map((row) => row.generation)
    },

    keyword: (collection, query, filters, limit) =>
      read((connection) => rankByWords(connection, collection, query, filters, limit)),
    inflections: (collection, words) => read((connection) => inflectionsOf(connection, collection, words)),
    similarWords: (collection, word, limit) => read((connection) => similarWords(connection, collection, word, limit)),
    frequencies: (collection, words, trigrams) =>
      using(({ reader, frequencies }) =>
        reader.read((connection) => frequencies.frequencies(connection, collection, words, trigrams)),
      ),

    async current(collection, chunks) {
      const rows = await all<ChunkRow & DocumentRow>(selectCurrent, [JSON.stringify(chunks), collection])
      return rows.map(toCurrentChunk)
    },

    async places(collection, chunks) {
      return (await all<PlaceRow>(selectPlaces, [JSON.stringify(chunks), collection])).map(toPlace)
    },

    chunksAround: (id, count, maxBytes) => read((connection) => chunksAround(connection, id, count, maxBytes)),
    chunksFrom: (generation, from, limit, maxBytes) =>
      read((connection) => chunksFrom(connection, generation, from, limit, maxBytes)),

    async range(generation, from, to) {
      const sql = 'SELECT * FROM chunk WHERE chunk_generation = ? AND chunk_index BETWEEN ? AND ? ORDER BY chunk_index'
      return (await all<ChunkRow>(sql, [generation, from, to])).map(toChunk)
    },
  }
}
