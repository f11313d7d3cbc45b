import { StaleCollection } from '../../core/knowledge/document-store.ts'
import type { Sql } from '../postgres/connection.ts'
import type { VectorDatabase } from './database.ts'
import { type Extension, findExtension } from './extension.ts'

/** `halfvec`: searched in the database, by pgvector. `bytea`: only kept there. */
export type ListForm = 'halfvec' | 'bytea'

/** A list of vectors, one table each. */
export interface List {
  name: string
  /** Never used again, also when a list of the same name is made. */
  key: number
  dimensions: number
  form: ListForm
  /** Quoted. */
  table: string
  /** The number in the name of its collection; undefined in other names. */
  collection: number | undefined
}

/** A table's name has 63 characters at most, and those of its indexes are longer. */
const listName = /^[A-Za-z0-9_]{1,50}$/
/** More does not fit into a page, and has to be kept in pieces. */
const inPage = 4_000
const largestHalfvec = 16_000

export function assertListName(name: string): void {
  if (!listName.test(name)) throw new TypeError(`not a table name: ${name}`)
}

const quoted = (name: string) => `"vec_${name}"`
const byGeneration = (name: string) => `"vec_${name}_generation"`
export const indexName = (name: string) => `vec_${name}_hnsw`

interface ListRow {
  key: number
  dimensions: number
  form: ListForm
}

const select = `SELECT list_key AS key, dimensions, form FROM vector_list WHERE list_name = $1`

export async function findList(database: Pick<VectorDatabase, 'read'>, name: string): Promise<List | undefined> {
  const [row] = await database.read.all<ListRow>(select, [name])
  return row && toList(name, row)
}

/** Whose vectors they are, by the name of the list. */
function placeOf(name: string): { collection: number; version: number } | undefined {
  const found = /^k(\d+)_v(\d+)/.exec(name)
  return found ? { collection: Number(found[1]), version: Number(found[2]) } : undefined
}

function toList(name: string, row: ListRow): List {
  return { name, ...row, table: quoted(name), collection: placeOf(name)?.collection }
}

export async function listNames({ read }: Pick<VectorDatabase, 'read'>): Promise<{ name: string; key: number }[]> {
  return read.all('SELECT list_name AS name, list_key AS key FROM vector_list ORDER BY list_name')
}

const lockLists = `SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ':vectors', 0))`
const shareLists = `SELECT pg_advisory_xact_lock_shared(hashtextextended(current_schema() || ':vectors', 0))`

/** Removes the rows of all lists that match. Nobody makes or drops a list before the transaction ends. */
export async function removeOfAll(sql: Sql, where: string, params: readonly unknown[]): Promise<void> {
  await sql.all(shareLists)
  const listed = await sql.all<{ name: string }>('SELECT list_name AS name FROM vector_list ORDER BY list_name')
  // Somebody may have dropped the table alone.
  for (const { name } of listed)
    if (await isThere(sql, quoted(name))) await sql.all(`DELETE FROM ${quoted(name)} WHERE ${where}`, params, 'fresh')
}

export async function isThere(sql: Sql, table: string): Promise<boolean> {
  const [row] = await sql.all<{ there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS there', [table])
  return row?.there === true
}

/** The collection keeps its version until the transaction ends: nobody would drop a list of an earlier one any more. */
const lockCollection = 'SELECT embedding_version AS version FROM collection WHERE collection_key = $1 FOR SHARE'

/**
 * Finds the list or makes it. Throws when there is one of other dimensions, and `StaleCollection` instead of making one of an
 * earlier version of its collection.
 */
export async function openList(
  database: Pick<VectorDatabase, 'read' | 'work'>,
  name: string,
  dimensions: number,
): Promise<List> {
  assertListName(name)
  const list = (await findList(database, name)) ?? (await makeList(database, name, dimensions))
  if (list.dimensions !== dimensions)
    throw new Error(`The vectors of ${name} have ${list.dimensions} dimensions, not ${dimensions}.`)
  return list
}

async function makeList(
  database: Pick<VectorDatabase, 'read' | 'work'>,
  name: string,
  dimensions: number,
): Promise<List> {
  const extension = await findExtension(database)
  const form: ListForm = hasExtension(extension) && dimensions <= largestHalfvec ? 'halfvec' : 'bytea'
  const place = placeOf(name)
  const row = await database.work(async (sql) => {
    // Servers that open a collection together wait here.
    await sql.all(lockLists)
    const [there] = await sql.all<ListRow>(select, [name])
    if (there) return there
    const [current] = await sql.all<{ version: number }>(lockCollection, [place?.collection ?? null])
    if (place !== undefined && current !== undefined && current.version > place.version) throw new StaleCollection()
    const [made] = await sql.all<ListRow>(
      `INSERT INTO vector_list (list_name, collection, version, dimensions, form) VALUES ($1, $2, $3, $4, $5)
       RETURNING list_key AS key, dimensions, form`,
      [name, place?.collection ?? null, place?.version ?? null, dimensions, form],
    )
    const type = hasExtension(extension) && form === 'halfvec' ? `${extension.schema}.halfvec(${dimensions})` : 'bytea'
    for (const statement of tableOf(name, type, dimensions)) await sql.all(statement, [], 'fresh')
    if (form === 'bytea') for (const statement of logOf(name, made?.key ?? 0)) await sql.all(statement, [], 'fresh')
    return made as ListRow
  })
  return toList(name, row)
}

/** In the page of its row, because reading the vectors from elsewhere takes most of the time of a search. Random halves do not compress. */
function tableOf(name: string, type: string, dimensions: number): string[] {
  const table = quoted(name)
  return [
    // What a crash of an earlier version or a restored backup left.
    `DROP TABLE IF EXISTS ${table}`,
    `CREATE TABLE ${table} (chunk_key bigint PRIMARY KEY, generation bigint NOT NULL, embedding ${type} NOT NULL)`,
    `ALTER TABLE ${table} ALTER COLUMN embedding SET STORAGE ${dimensions <= inPage ? 'PLAIN' : 'EXTERNAL'}`,
    `CREATE INDEX ${byGeneration(name)} ON ${table} (generation)`,
  ]
}

/** The newest changes of a list; a copy that is further behind compares all generations. */
const keptChanges = 10_000

/** Writes down which generations have changed, in the order of the commits: servers have copies of the list. */
const logChanges = `CREATE OR REPLACE FUNCTION log_vector_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  list int := TG_ARGV[0]::int;
  generations bigint[] := ARRAY(SELECT DISTINCT generation FROM changed);
  newest bigint;
BEGIN
  IF cardinality(generations) = 0 THEN RETURN NULL; END IF;
  UPDATE vector_list SET changes = changes + cardinality(generations) WHERE list_key = list RETURNING changes INTO newest;
  IF newest IS NULL THEN RETURN NULL; END IF;
  INSERT INTO vector_change (list_key, seq, generation)
    SELECT list, newest - cardinality(generations) + place, one FROM unnest(generations) WITH ORDINALITY AS all_of(one, place);
  DELETE FROM vector_change WHERE list_key = list AND seq <= newest - ${keptChanges};
  RETURN NULL;
END $$`

function logOf(name: string, key: number): string[] {
  const trigger = (event: string, rows: string) =>
    `CREATE TRIGGER vector_${event.toLowerCase()} AFTER ${event} ON ${quoted(name)} REFERENCING ${rows} TABLE AS changed
     FOR EACH STATEMENT EXECUTE FUNCTION log_vector_change('${key}')`
  return [logChanges, trigger('INSERT', 'NEW'), trigger('DELETE', 'OLD')]
}

/** Ends a build of the list's index, which would keep the table. */
const endBuild = `SELECT pg_cancel_backend(pid) FROM pg_stat_progress_create_index
  JOIN pg_class ON pg_class.oid = relid JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE datname = current_database() AND nspname = current_schema() AND relname = $1`

/** `key`: only if the list is still this one. `mayDrop` is asked while nobody makes or drops a list. */
export async function dropList(
  database: Pick<VectorDatabase, 'read' | 'work'>,
  name: string,
  key?: number,
  mayDrop: (sql: Sql) => Promise<boolean> = async () => true,
): Promise<void> {
  assertListName(name)
  await database.read.all(endBuild, [`vec_${name}`])
  await database.work(async (sql) => {
    await sql.all(lockLists)
    if (!(await mayDrop(sql))) return
    const [there] = await sql.all<ListRow>(select, [name])
    if (key !== undefined && there?.key !== key) return
    await sql.all(`DROP TABLE IF EXISTS ${quoted(name)}`, [], 'fresh')
    await sql.run(
      `WITH gone AS (DELETE FROM vector_list WHERE list_name = $1 RETURNING list_key)
       DELETE FROM vector_change WHERE list_key IN (SELECT list_key FROM gone)`,
      [name],
    )
  }, 'bulk')
}

/** False when somebody dropped the table, or pgvector with the column of its type. */
export async function isWhole({ read }: Pick<VectorDatabase, 'read'>, { name }: List): Promise<boolean> {
  const found = await read.all(
    `SELECT FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = current_schema() AND relname = $1 AND attname = 'embedding' AND NOT attisdropped`,
    [`vec_${name}`],
  )
  return found.length > 0
}

export function hasExtension(found: Extension | { reason: string }): found is Extension {
  return 'oid' in found
}
