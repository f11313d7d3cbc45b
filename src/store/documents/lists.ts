import { and, asc, desc, eq, getTableColumns, inArray, lt, sql } from 'drizzle-orm'
import type { SqliteRemoteDatabase } from 'drizzle-orm/sqlite-proxy'
import { invalidCursor, notFound } from '../../core/error.ts'
import type { Collection, StoredDocument } from '../../core/knowledge/document-store.ts'
import type { Page, PageRequest } from '../../core/page.ts'
import type { Connection } from '../sqlite/connection.ts'
import { type Places, query } from '../sqlite/query.ts'
import { toCollection, toDocument } from './rows.ts'
import { brought, collection, document } from './schema.ts'

const selectCollections = query((database, _: Places<object>) =>
  database.select().from(collection).orderBy(asc(collection.collection_key)),
)
const selectCollection = query((database, { name }: Places<{ name: string }>) =>
  database.select().from(collection).where(eq(collection.collection_name, name)),
)
const selectBrought = query((database, { name }: Places<{ name: string }>) =>
  database.select({ source: brought.brought_source }).from(brought).where(eq(brought.brought_collection, name)),
)

const documents = (database: SqliteRemoteDatabase) =>
  database
    .select({ ...getTableColumns(document), collection_name: collection.collection_name })
    .from(document)
    .innerJoin(collection, eq(collection.collection_key, document.document_collection))
const selectDocument = query((database, { id }: Places<{ id: string }>) =>
  documents(database).where(eq(document.document_id, id)),
)
const selectBySources = query((database, { key, sources }: Places<{ key: number; sources: string }>) =>
  documents(database).where(
    and(
      eq(document.document_collection, key),
      inArray(document.source, sql`(SELECT value FROM json_each(${sources}))`),
    ),
  ),
)

interface PageValues {
  before: number
  limit: number
  key: number
  source: string
}

const pageOf = (byCollection: boolean, bySource: boolean) =>
  query((database, { before, limit, key, source }: Places<PageValues>) =>
    documents(database)
      .where(
        and(
          lt(document.document_key, before),
          byCollection ? eq(document.document_collection, key) : undefined,
          bySource ? eq(document.source, source) : undefined,
        ),
      )
      .orderBy(desc(document.document_key))
      .limit(limit),
  )
const selectPage = pageOf(false, false)
const selectPageOfCollection = pageOf(true, false)
const selectPageOfSource = pageOf(false, true)
const selectPageOfBoth = pageOf(true, true)

export async function listCollections(connection: Connection): Promise<Collection[]> {
  return (await selectCollections(connection, {})).map(toCollection)
}

export async function findCollection(connection: Connection, name: string): Promise<Collection | undefined> {
  const [row] = await selectCollection(connection, { name })
  return row && toCollection(row)
}

export async function listBrought(connection: Connection, name: string): Promise<string[]> {
  return (await selectBrought(connection, { name })).map(({ source }) => source)
}

export async function getDocument(connection: Connection, id: string): Promise<StoredDocument> {
  const [row] = await selectDocument(connection, { id })
  if (row === undefined) throw notFound('document', id)
  return toDocument(row)
}

export async function findBySources(connection: Connection, key: number, sources: readonly string[]) {
  const rows = await selectBySources(connection, { key, sources: JSON.stringify(sources) })
  return new Map(rows.map((row) => [row.source, toDocument(row)]))
}

/** Newest first; the cursor is the key of the last document. */
export async function listDocuments(
  connection: Connection,
  filter: { collection?: number | undefined; source?: string | undefined },
  { cursor, limit }: PageRequest,
): Promise<Page<StoredDocument>> {
  if (cursor !== undefined && !/^[0-9]{1,15}$/.test(cursor)) throw invalidCursor()
  const { collection: key, source } = filter
  const ofCollection = source === undefined ? selectPageOfCollection : selectPageOfBoth
  const ofAny = source === undefined ? selectPage : selectPageOfSource
  const rows = await (key === undefined ? ofAny : ofCollection)(connection, {
    before: cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor),
    limit: limit + 1,
    key: key ?? 0,
    source: source ?? '',
  })
  const shown = rows.slice(0, limit)
  return { items: shown.map(toDocument), next: rows.length > limit ? String(shown.at(-1)?.document_key) : null }
}
