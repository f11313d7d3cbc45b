import { AppError } from '../../core/error.ts'
import { documentsDatabase, indexTables } from '../documents/database.ts'
import { sessionsDatabase } from '../sessions/sqlite/schema/database.ts'
import { Connection, type SqlRow } from '../sqlite/connection.ts'
import type { Migration } from '../sqlite/database.ts'
import { inMemory } from '../sqlite/open-database.ts'
import { type ManifestMember, sessionsName } from './manifest.ts'

/** The first version whose collections have index tables of today's form. */
const firstKnowledgeVersion = 2
const selectSchema = 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name'

/** Throws `invalid_request` unless it is a sound database with exactly our schema. Runs nothing that it defines. */
export async function verifyDatabase(path: string, { name, schema_version: version }: ManifestMember): Promise<void> {
  const isSessions = name === sessionsName
  const { applicationId, migrations } = isSessions ? sessionsDatabase : documentsDatabase
  const wrong = (reason: string, cause?: unknown) =>
    new AppError('invalid_request', `The backup was not restored: ${name} ${reason}.`, { cause })
  const connection = await Connection.open({ path, readonly: true, busyTimeoutMs: 0 })
  try {
    await connection.all('PRAGMA trusted_schema = 0')
    await connection.all('PRAGMA cell_size_check = 1')
    const [application] = await connection.all('PRAGMA application_id')
    const [found] = await connection.all('PRAGMA user_version')
    if (application?.application_id !== applicationId) throw wrong('is not a database of agentserve')
    if (found?.user_version !== version) throw wrong('has a different version than the manifest says')
    if (version > migrations.length) throw wrong('was written by a newer agentserve: update this one')
    if (version < (isSessions ? 1 : firstKnowledgeVersion)) throw wrong('was written by a version that is too old')
    const schema = await connection.all(selectSchema)
    const collections = isSessions ? [] : await readCollections(connection, schema)
    const expected = await schemaOf(migrations.slice(0, version), collections.map(indexTables))
    if (JSON.stringify(schema) !== JSON.stringify(expected)) throw wrong('has tables that agentserve does not create')
    const [check] = await connection.all('PRAGMA quick_check(1)')
    if (check?.quick_check !== 'ok') throw wrong(`is damaged (${String(check?.quick_check)})`)
  } catch (error) {
    throw error instanceof AppError ? error : wrong('is damaged', error)
  } finally {
    await connection.close()
  }
}

/** Read only if it is our table, and not a view of the same name. */
async function readCollections(connection: Connection, schema: readonly SqlRow[]): Promise<number[]> {
  if (!schema.some(({ type, name }) => type === 'table' && name === 'collection')) return []
  const rows = await connection.all('SELECT collection_key FROM collection ORDER BY collection_key LIMIT 10000')
  return rows.map((row) => Number(row.collection_key)).filter((key) => Number.isSafeInteger(key) && key > 0)
}

/** The schema that SQLite records for these migrations. */
async function schemaOf(migrations: readonly Migration[], more: readonly string[]): Promise<SqlRow[]> {
  const connection = await Connection.open({ path: inMemory, readonly: false, busyTimeoutMs: 0 })
  try {
    for (const { sql } of migrations) await connection.exec(typeof sql === 'string' ? sql : await sql(connection))
    for (const sql of more) await connection.exec(sql)
    return await connection.all(selectSchema)
  } finally {
    await connection.close()
  }
}
