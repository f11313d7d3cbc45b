import { index, integer, primaryKey, sqliteTable, text, unique, uniqueIndex } from 'drizzle-orm/sqlite-core'

/**
 * The tables of the documents; those of the keyword index (one set per collection) are in database.ts. Each column has
 * the name of its key, and names are unique in the whole schema, so the rows of a join have unambiguous columns.
 */

/** The next unused keys: `chunk` and `generation`; `purge` while the index holds words of deleted chunks. */
export const counter = sqliteTable('counter', {
  counter_name: text().primaryKey(),
  next_value: integer().notNull(),
})

export const collection = sqliteTable('collection', {
  collection_key: integer().primaryKey({ autoIncrement: true }),
  collection_name: text().notNull().unique(),
  embedding_provider: text().notNull(),
  embedding_model: text().notNull(),
  embedding_dimensions: integer().notNull(),
  embedding_version: integer().notNull().default(1),
})
export type CollectionRow = typeof collection.$inferSelect

export const document = sqliteTable(
  'document',
  {
    document_key: integer().primaryKey({ autoIncrement: true }),
    document_id: text().notNull().unique(),
    document_collection: integer()
      .notNull()
      .references(() => collection.collection_key),
    /** Only chunks of the current generation are shown. */
    generation: integer().notNull().unique(),
    source: text().notNull(),
    document_name: text(),
    media_type: text(),
    /** JSON */
    metadata: text().notNull(),
    /** JSON */
    reader_metadata: text().notNull(),
    content_hash: text().notNull(),
    chunk_count: integer().notNull(),
    chunk_size: integer().notNull(),
    chunk_overlap: integer().notNull(),
    chunker_type: text().notNull(),
    created_at: text().notNull(),
    updated_at: text().notNull(),
  },
  (table) => [unique().on(table.document_collection, table.source)],
)
export type DocumentRow = typeof document.$inferSelect

export const chunk = sqliteTable(
  'chunk',
  {
    chunk_key: integer().primaryKey(),
    chunk_id: text().notNull(),
    chunk_collection: integer().notNull(),
    chunk_generation: integer().notNull(),
    chunk_index: integer().notNull(),
    content: text().notNull(),
    /** JSON */
    heading_path: text().notNull(),
    start_offset: integer().notNull(),
    end_offset: integer().notNull(),
    line_start: integer().notNull(),
    line_end: integer().notNull(),
    page: integer(),
  },
  (table) => [
    uniqueIndex('chunk_by_generation').on(table.chunk_generation, table.chunk_index),
    index('chunk_by_id').on(table.chunk_id),
  ],
)
export type ChunkRow = typeof chunk.$inferSelect

/** Sources that the configuration added to a collection. */
export const brought = sqliteTable(
  'brought',
  {
    brought_collection: text().notNull(),
    brought_source: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.brought_collection, table.brought_source] })],
)
