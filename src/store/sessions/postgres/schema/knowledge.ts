/*
 * Documents and their chunks. A chunk's text is `bytea`, since `text` can't hold NUL. `words` has a number for each word
 * of a chunk and its collection, in ascending order, and `parts` what each counts: so the index has a list of chunks for each word of each
 * collection. Rows of chunks have no foreign keys: they are shown when `document` has their generation.
 */
export const knowledgeTables = `
CREATE TABLE knowledge_owner (
  owner_key int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner text COLLATE "C" NOT NULL UNIQUE,
  beat bigint NOT NULL DEFAULT 0,
  dead_after_ms int NOT NULL,
  joined_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  beat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  dead_at timestamptz,
  left_at timestamptz
) WITH (fillfactor = 50);

CREATE TABLE knowledge_counter (
  counter_name text COLLATE "C" PRIMARY KEY,
  next_value bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE generation_range (
  first_generation bigint PRIMARY KEY,
  last_generation bigint NOT NULL,
  owner_key int NOT NULL
);
CREATE INDEX generation_range_by_owner ON generation_range (owner_key);

CREATE TABLE retired (
  generation bigint PRIMARY KEY
);

CREATE TABLE work (
  name text COLLATE "C" PRIMARY KEY,
  owner_key int NOT NULL,
  progress text
) WITH (fillfactor = 50);

CREATE TABLE collection (
  collection_key int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  space text COLLATE "C" NOT NULL,
  collection_name text COLLATE "C" NOT NULL,
  embedding_provider text NOT NULL,
  embedding_model text NOT NULL,
  embedding_dimensions int NOT NULL,
  embedding_version int NOT NULL DEFAULT 1,
  UNIQUE (space, collection_name)
);

CREATE TABLE document (
  document_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  document_id text COLLATE "C" NOT NULL UNIQUE,
  document_collection int NOT NULL REFERENCES collection ON DELETE CASCADE,
  generation bigint NOT NULL UNIQUE,
  replaced_generation bigint,
  source text COLLATE "C" NOT NULL,
  source_hash text COLLATE "C" NOT NULL,
  document_name text,
  media_type text,
  metadata text NOT NULL,
  filterable jsonb NOT NULL,
  reader_metadata text NOT NULL,
  content_hash text NOT NULL,
  chunk_count int NOT NULL,
  word_count bigint NOT NULL,
  chunk_size int NOT NULL,
  chunk_overlap int NOT NULL,
  chunker_type text COLLATE "C" NOT NULL,
  created_at text COLLATE "C" NOT NULL,
  updated_at text COLLATE "C" NOT NULL,
  UNIQUE (document_collection, source_hash)
);
CREATE INDEX document_by_collection ON document (document_collection, document_key);

CREATE TABLE chunk (
  chunk_key bigint PRIMARY KEY,
  chunk_id text COLLATE "C" NOT NULL,
  chunk_collection int NOT NULL,
  chunk_generation bigint NOT NULL,
  chunk_index int NOT NULL,
  content bytea NOT NULL,
  heading_path text NOT NULL,
  start_offset int NOT NULL,
  end_offset int NOT NULL,
  line_start int NOT NULL,
  line_end int NOT NULL,
  page int
);
CREATE UNIQUE INDEX chunk_by_generation ON chunk (chunk_generation, chunk_index);
CREATE INDEX chunk_by_id ON chunk (chunk_id);

CREATE TABLE chunk_words (
  chunk_key bigint PRIMARY KEY,
  generation bigint NOT NULL,
  length int NOT NULL,
  words bigint[] NOT NULL,
  parts smallint[] NOT NULL
) WITH (toast_tuple_target = 4080);
CREATE INDEX chunk_words_by_generation ON chunk_words (generation);
CREATE INDEX chunk_words_by_word ON chunk_words USING gin (words) WITH (gin_pending_list_limit = 4096);

CREATE TABLE term (
  collection int NOT NULL,
  word text COLLATE "C" NOT NULL,
  trigrams text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (collection, word)
);
CREATE INDEX term_by_trigram ON term USING gin (trigrams) WITH (gin_pending_list_limit = 1024);

CREATE TABLE brought (
  space text COLLATE "C" NOT NULL,
  collection_name text COLLATE "C" NOT NULL,
  source_hash text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  PRIMARY KEY (space, collection_name, source_hash)
);
`
