import { invalid, notFound } from '../../core/error.ts'
import type { Collection, DocumentStore } from '../../core/knowledge/drivers.ts'
import { type Logger, silentLogger } from '../../core/logger.ts'
import type { Connection, SqlValue } from '../sqlite/connection.ts'
import { inMemory, openDatabase } from '../sqlite/open-database.ts'
import { DocumentsUpkeep, notePurge } from '../upkeep/documents-upkeep.ts'
import { toKnowledgeError } from './failure.ts'
import { filterSql } from './filter.ts'
import { createFrequencies, rankByWords, similarWords } from './keyword.ts'
import { openReader } from './reader.ts'
import { toChunk, toCollection, toCurrentChunk, toDocument } from './rows.ts'
import { documentsDatabase, indexTables } from './schema.ts'
import { insertChunks, removeChunks, replaceBrought, upsertDocuments } from './write.ts'
import { openWriter, type Reader, type Writer } from './writer.ts'

const reservation = { chunk: 10_000, generation: 1_000 }
const documentColumns =
  'document.*, collection.collection_name FROM document JOIN collection ON collection_key = document_collection'
/** The order is fixed: left to itself, SQLite reads all documents of the collection first. */
const currentOf = `FROM json_each(?) AS wanted CROSS JOIN chunk ON chunk_key = wanted.value
  CROSS JOIN document ON document.generation = chunk.chunk_generation AND document_collection = ?`

export interface DocumentStoreOptions {
  /** `:memory:` keeps it for the life of the process. */
  path: string
  logger?: Logger | undefined
  /** Words are about to leave the index, or have left it: whoever remembers which words are there must forget them. */
  onWordsForgotten?: (() => void) | undefined
}

interface Opened {
  reader: Reader
  writer: Writer
  frequencies: ReturnType<typeof createFrequencies>
  upkeep: DocumentsUpkeep
}

/** The document store in one SQLite file. */
export function createDocumentStore(options: DocumentStoreOptions): DocumentStore {
  const { path, logger = silentLogger, onWordsForgotten = () => {} } = options
  let opened: Opened | undefined
  const reserved = { chunk: { next: 0, end: 0 }, generation: { next: 0, end: 0 } }

  const use = () => {
    if (!opened) throw new Error('the document store is not open')
    return opened
  }
  const all = (sql: string, parameters: readonly SqlValue[] = []) => use().reader.all(sql, parameters)
  const told = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw toKnowledgeError(error, path)
    })
  const collections = new Map<string, Collection>()
  let writes = 0
  const write = async <T>(work: (connection: Connection) => Promise<T>) => {
    const done = await told(use().writer.transaction(work))
    writes++
    return done
  }
  const forgetReserved = () => {
    reserved.chunk = { next: 0, end: 0 }
    reserved.generation = { next: 0, end: 0 }
  }

  const take = async (connection: Connection, name: 'chunk' | 'generation', count: number): Promise<number> => {
    const range = reserved[name]
    if (range.end - range.next < count) {
      const more = Math.max(count, reservation[name])
      const [row] = await connection.all(
        'UPDATE counter SET next_value = next_value + ? WHERE counter_name = ? RETURNING next_value',
        [more, name],
      )
      range.end = Number(row?.next_value)
      range.next = range.end - more
    }
    range.next += count
    return range.next - count
  }

  const abandoned = async () => {
    const rows = await all('SELECT DISTINCT chunk_generation FROM chunk EXCEPT SELECT generation FROM document')
    return rows.map((row) => Number(row.chunk_generation))
  }

  return {
    async open() {
      const connection = await told(openDatabase(path, documentsDatabase))
      try {
        const writer = openWriter(connection, forgetReserved)
        const { all, close } = path === inMemory ? writer.reader : await told(openReader(path))
        const reader: Reader = { all: (sql, parameters) => told(all(sql, parameters)), close }
        const upkeep = new DocumentsUpkeep({ writer, logger, writes: () => writes, onWordsForgotten })
        opened = { reader, writer, frequencies: createFrequencies(reader, () => writes), upkeep }
        upkeep.wake()
      } catch (error) {
        await connection.close()
        throw error
      }
    },

    async check() {
      await all('SELECT 1 FROM document LIMIT 1')
      if (use().writer.failure() !== undefined)
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

    collections: async () => (await all('SELECT * FROM collection ORDER BY collection_key')).map(toCollection),

    async findCollection(name) {
      const known = collections.get(name)
      if (known) return known
      const [row] = await all('SELECT * FROM collection WHERE collection_name = ?', [name])
      if (row && !collections.has(name)) collections.set(name, toCollection(row))
      return collections.get(name)
    },

    ensureCollection: (name, embedding) =>
      write(async (connection) => {
        await connection.run(
          `INSERT INTO collection (collection_name, embedding_provider, embedding_model, embedding_dimensions)
           VALUES (?, ?, ?, ?) ON CONFLICT (collection_name) DO NOTHING`,
          [name, embedding.provider, embedding.model, embedding.dimensions],
        )
        const [row] = await connection.all('SELECT * FROM collection WHERE collection_name = ?', [name])
        const collection = toCollection(row ?? {})
        await connection.exec(indexTables(collection.key))
        return collection
      }),

    async setEmbedding(key, embedding) {
      const collection = await write(async (connection) => {
        const [row] = await connection.all(
          `UPDATE collection SET embedding_provider = ?, embedding_model = ?, embedding_dimensions = ?,
             embedding_version = embedding_version + 1 WHERE collection_key = ? RETURNING *`,
          [embedding.provider, embedding.model, embedding.dimensions, key],
        )
        return toCollection(row ?? {})
      })
      collections.set(collection.name, collection)
      return collection
    },

    reserve: (chunks) =>
      write(async (connection) => {
        const reservations = []
        for (const count of chunks) {
          const generation = await take(connection, 'generation', 1)
          reservations.push({ generation, firstChunk: await take(connection, 'chunk', count) })
        }
        return reservations
      }),

    addChunks: (collection, chunks) => write((connection) => insertChunks(connection, collection, [chunks])),

    publish: (collection, documents) =>
      write(async (connection) => {
        await insertChunks(connection, collection, documents)
        await upsertDocuments(
          connection,
          collection,
          documents.map(({ document }) => document),
        )
      }),

    async collect(generations) {
      const gone = generations ?? (await abandoned())
      const removeSome = async (connection: Connection) => {
        const removed = await removeChunks(connection, gone)
        if (removed > 0) await notePurge(connection)
        return removed
      }
      for (let removed = 1; removed > 0; opened?.upkeep.wake()) removed = await write(removeSome)
    },

    async findBySources(collection, sources) {
      const rows = await all(
        `SELECT ${documentColumns} WHERE document_collection = ? AND source IN (SELECT value FROM json_each(?))`,
        [collection, JSON.stringify(sources)],
      )
      return new Map(rows.map((row) => [String(row.source), toDocument(row)]))
    },

    async getDocument(documentId) {
      const [row] = await all(`SELECT ${documentColumns} WHERE document_id = ?`, [documentId])
      if (!row) throw notFound('document', documentId)
      return toDocument(row)
    },

    async deleteDocument(documentId) {
      const [row] = await write((connection) =>
        connection.all('DELETE FROM document WHERE document_id = ? RETURNING document_collection, generation', [
          documentId,
        ]),
      )
      if (!row) throw notFound('document', documentId)
      return { collection: Number(row.document_collection), generation: Number(row.generation) }
    },

    brought: async (collection) =>
      (await all('SELECT brought_source FROM brought WHERE brought_collection = ?', [collection])).map((row) =>
        String(row.brought_source),
      ),

    setBrought: (collection, sources) => write((connection) => replaceBrought(connection, collection, sources)),

    async listDocuments(filter, page) {
      const before = page.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(page.cursor)
      if (page.cursor !== undefined && !/^[0-9]{1,15}$/.test(page.cursor))
        throw invalid('Invalid cursor. Omit it to start at the first page.', 'cursor')
      const rows = await all(
        `SELECT ${documentColumns} WHERE document_key < ?
           ${filter.collection === undefined ? '' : 'AND document_collection = ?'}
           ${filter.source === undefined ? '' : 'AND source = ?'}
         ORDER BY document_key DESC LIMIT ?`,
        [before, ...[filter.collection, filter.source].filter((value) => value !== undefined), page.limit + 1],
      )
      const shown = rows.slice(0, page.limit)
      return {
        items: shown.map(toDocument),
        next: rows.length > page.limit ? String(shown.at(-1)?.document_key) : null,
      }
    },

    chunkIds: async (generation) =>
      (await all('SELECT chunk_id FROM chunk WHERE chunk_generation = ? ORDER BY chunk_index', [generation])).map(
        (row) => String(row.chunk_id),
      ),

    chunksOf: async (generations, after, limit) =>
      (
        await all(
          `SELECT * FROM chunk WHERE chunk_generation IN (SELECT value FROM json_each(?)) AND chunk_key > ?
           ORDER BY chunk_key LIMIT ?`,
          [JSON.stringify(generations), after, limit],
        )
      ).map((row) => ({ ...toChunk(row), generation: Number(row.chunk_generation) })),

    stillCurrent: async (generations) =>
      (
        await all('SELECT generation FROM document WHERE generation IN (SELECT value FROM json_each(?))', [
          JSON.stringify(generations),
        ])
      ).map((row) => Number(row.generation)),

    generations: async (collection) =>
      (await all('SELECT generation, chunk_count FROM document WHERE document_collection = ?', [collection])).map(
        (row) => ({
          generation: Number(row.generation),
          chunks: Number(row.chunk_count),
        }),
      ),

    async totals(collection) {
      const [row] = await all(
        `SELECT count(*) AS documents, coalesce(sum(chunk_count), 0) AS chunks FROM document
         ${collection === undefined ? '' : 'WHERE document_collection = ?'}`,
        collection === undefined ? [] : [collection],
      )
      return { documents: Number(row?.documents), chunks: Number(row?.chunks) }
    },

    async matching(collection, filters) {
      const filter = filterSql(filters)
      const rows = await all(`SELECT generation FROM document WHERE document_collection = ?${filter.sql}`, [
        collection,
        ...filter.parameters,
      ])
      return rows.map((row) => Number(row.generation))
    },

    keyword: (collection, words, filters, limit) => rankByWords(use().reader, collection, words, filters, limit),
    similarWords: (collection, word, limit) => similarWords(use().reader, collection, word, limit),
    frequencies: (collection, words, trigrams) => use().frequencies(collection, words, trigrams),

    current: async (collection, chunks) =>
      (await all(`SELECT chunk.*, document.* ${currentOf}`, [JSON.stringify(chunks), collection])).map(toCurrentChunk),

    range: async (generation, from, to) =>
      (
        await all(
          'SELECT * FROM chunk WHERE chunk_generation = ? AND chunk_index BETWEEN ? AND ? ORDER BY chunk_index',
          [generation, from, to],
        )
      ).map(toChunk),
  }
}
