import type { Sql } from '../postgres/connection.ts'
import type { VectorDatabase } from './database.ts'

/** pgvector in this database. */
export interface Extension {
  version: string
  /** Quoted; in front of its types and operators, because the search path does not name it. */
  schema: string
  /** Of the type halfvec. */
  oid: number
}

/** Why vectors can't be in pgvector here, for people. */
export interface WithoutExtension {
  reason: string
}

interface Readable {
  read: Pick<Sql, 'all'>
}

interface Facts {
  installed: string | null
  schema: string | null
  oid: number | null
  available: string | null
  /** Whether this role may create it. */
  may: boolean
}

const facts = `SELECT
    (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS installed,
    (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
      WHERE extname = 'vector') AS schema,
    (SELECT pg_type.oid::bigint FROM pg_type JOIN pg_extension ON typnamespace = extnamespace
      WHERE extname = 'vector' AND typname = 'halfvec') AS oid,
    (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS available,
    (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
      OR (has_database_privilege(current_database(), 'CREATE')
        AND EXISTS (SELECT FROM pg_available_extension_versions WHERE name = 'vector' AND trusted)) AS may`

/** The first version whose index continues until enough rows pass a condition. */
const oldest = [0, 8]

/** Creates the extension where it is missing and the role may. */
export async function findExtension(
  database: Pick<VectorDatabase, 'read' | 'work'>,
): Promise<Extension | WithoutExtension> {
  const before = await readFacts(database)
  if (before.installed !== null || before.available === null || !before.may) return extensionOf(before)
  if (!isNewEnough(before.available)) return extensionOf(before)
  try {
    // In `public`, because the schema of the tables may be dropped with all that is in it.
    await database.work((sql) => sql.run('CREATE EXTENSION IF NOT EXISTS vector SCHEMA public'))
  } catch (error) {
    // Another server may have been faster.
    const after = await readFacts(database)
    if (after.installed !== null) return extensionOf(after)
    const cause = (error as { cause?: unknown }).cause ?? error
    return { reason: `CREATE EXTENSION vector failed: ${cause instanceof Error ? cause.message : String(cause)}` }
  }
  return extensionOf(await readFacts(database))
}

/** Says what is there and changes nothing. */
export async function lookForExtension(database: Readable): Promise<Extension | WithoutExtension> {
  return extensionOf(await readFacts(database))
}

async function readFacts({ read }: Readable): Promise<Facts> {
  const [found] = await read.all<Facts>(facts)
  return found ?? { installed: null, schema: null, oid: null, available: null, may: false }
}

function extensionOf({ installed, schema, oid, available, may }: Facts): Extension | WithoutExtension {
  if (installed === null && available === null) return { reason: 'pgvector is not installed on the database server' }
  const version = installed ?? available ?? ''
  if (!isNewEnough(version)) return { reason: `pgvector ${version} is too old: ${oldest.join('.')} or newer is needed` }
  if (installed === null || schema === null || oid === null)
    return {
      reason: may
        ? `pgvector ${version} is there, but the extension is not created yet`
        : `pgvector ${version} is there, but this role may not create the extension. Run CREATE EXTENSION vector as an administrator`,
    }
  return { version: installed, schema, oid }
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = oldest
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
}
