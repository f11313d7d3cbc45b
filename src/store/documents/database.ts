import { applicationIds } from '../sqlite/application.ts'
import type { DatabaseKind, Migration } from '../sqlite/database.ts'

/** Column names are unique, since rows come as objects. */
const migrations: readonly Migration[] = [
  {
    name: '0000_documents',
    sql: `CREATE TABLE counter (counter_name TEXT PRIMARY KEY, next_value INTEGER NOT NULL) WITHOUT ROWID;
   INSERT INTO counter VALUES ('chunk', 1), ('generation', 1);
   CREATE TABLE collection (
     collection_key INTEGER PRIMARY KEY AUTOINCREMENT,
     collection_name TEXT NOT NULL UNIQUE,
     embedding_provider TEXT NOT NULL,
     embedding_model TEXT NOT NULL,
     embedding_dimensions INTEGER NOT NULL,
     embedding_version INTEGER NOT NULL DEFAULT 1
   );
   CREATE TABLE document (
     document_key INTEGER PRIMARY KEY AUTOINCREMENT,
     document_id TEXT NOT NULL UNIQUE,
     document_collection INTEGER NOT NULL REFERENCES collection,
     generation INTEGER NOT NULL UNIQUE,
     source TEXT NOT NULL,
     document_name TEXT,
     media_type TEXT,
     metadata TEXT NOT NULL,
     reader_metadata TEXT NOT NULL,
     content_hash TEXT NOT NULL,
     chunk_count INTEGER NOT NULL,
     chunk_size INTEGER NOT NULL,
     chunk_overlap INTEGER NOT NULL,
     chunker_type TEXT NOT NULL,
     created_at TEXT NOT NULL,
     updated_at TEXT NOT NULL,
     UNIQUE (document_collection, source)
   );
   CREATE TABLE chunk (
     chunk_key INTEGER PRIMARY KEY,
     chunk_id TEXT NOT NULL,
     chunk_collection INTEGER NOT NULL,
     chunk_generation INTEGER NOT NULL,
     chunk_index INTEGER NOT NULL,
     content TEXT NOT NULL,
     heading_path TEXT NOT NULL,
     start_offset INTEGER NOT NULL,
     end_offset INTEGER NOT NULL,
     line_start INTEGER NOT NULL,
     line_end INTEGER NOT NULL
   );
   CREATE UNIQUE INDEX chunk_by_generation ON chunk (chunk_generation, chunk_index);`,
  },
  {
    name: '0001_words_and_pages',
    sql: async (connection) => {
      const collections = await connection.all('SELECT collection_key FROM collection')
      const changes = collections.map(({ collection_key }) => {
        const key = Number(collection_key)
        return `DROP TABLE trigrams_vocabulary_${key}; DROP TABLE trigrams_${key}; ${indexTables(key)}
        INSERT INTO terms_${key} (word) SELECT term FROM words_vocabulary_${key} WHERE ${isTelling('term')};
        INSERT INTO trigrams_${key} (rowid, body) SELECT term_key, ' ' || word || ' ' FROM terms_${key};`
      })
      return `ALTER TABLE chunk ADD COLUMN page INTEGER; ${changes.join('')}`
    },
  },
  {
    name: '0002_brought',
    sql: `CREATE TABLE brought (
     brought_collection TEXT NOT NULL,
     brought_source TEXT NOT NULL,
     PRIMARY KEY (brought_collection, brought_source)
   ) WITHOUT ROWID;`,
  },
  { name: '0003_chunk_by_id', sql: 'CREATE INDEX chunk_by_id ON chunk (chunk_id);' },
]

/** Large pages, because most data is text and index, and each page costs two system calls. */
export const documentsDatabase: DatabaseKind = {
  name: 'knowledge base',
  applicationId: applicationIds.knowledge,
  migrations,
  pageBytes: 8192,
  pragmas: { cache_size: -8_000, wal_autocheckpoint: 1_000 },
  // Each filter makes its own statement.
  maxStatements: 100,
}

/** Words that a user may misspell or know in part: no numbers, hashes or other long words. */
export function isTelling(column: string): string {
  return `length(${column}) BETWEEN 3 AND 40 AND ${column} GLOB '*[^0-9]*'`
}

/**
 * The keyword index of one collection (so its word statistics are its own), and the trigrams of its words. The indexes
 * hold only positions; the texts are in `chunk`. Words come normalised and separated by spaces, and the `ascii`
 * tokenizer cuts only there.
 */
export function indexTables(collection: number): string {
  const key = collection.toFixed(0)
  return `
    CREATE VIRTUAL TABLE IF NOT EXISTS words_${key} USING fts5(body, headings, content='', contentless_delete=1,
      tokenize="ascii tokenchars '_'");
    CREATE TABLE IF NOT EXISTS terms_${key} (term_key INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE);
    CREATE VIRTUAL TABLE IF NOT EXISTS trigrams_${key} USING fts5(body, content='', contentless_delete=1,
      detail=none, tokenize='trigram case_sensitive 1');
    CREATE VIRTUAL TABLE IF NOT EXISTS words_vocabulary_${key} USING fts5vocab(words_${key}, 'row');
    CREATE VIRTUAL TABLE IF NOT EXISTS trigrams_vocabulary_${key} USING fts5vocab(trigrams_${key}, 'row');
    INSERT INTO words_${key} (words_${key}, rank) VALUES ('automerge', 16);`
}
