import { Client } from 'pg'
import type { Place } from './test-postgres.ts'
import { testPostgres } from './test-postgres.ts'

/** One schema for the tests of a file: to delete the rows of a test is much faster than to make the tables anew. */
export interface EmptiedSchema {
  /** Without rows, as far as there are tables. No store of an earlier test may be open. */
  empty(): Promise<Place>
  drop(): Promise<void>
}

const emptyTables = (schema: string) => `DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = '${schema}' AND tablename <> 'schema_version'
  LOOP EXECUTE format('DELETE FROM ${schema}.%I', name); END LOOP; END $$`

export function emptiedSchema(): EmptiedSchema {
  let opened: Promise<{ place: Place; client: Client }> | undefined
  const open = async () => {
    const place = (await testPostgres()).newSchema()
    const client = new Client({ connectionString: place.url })
    await client.connect()
    return { place, client }
  }
  return {
    async empty() {
      opened ??= open()
      const { place, client } = await opened
      await client.query(emptyTables(place.name))
      return place
    },
    async drop() {
      const { place, client } = (await opened) ?? {}
      await client?.end()
      await place?.drop()
    },
  }
}
