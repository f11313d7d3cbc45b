import { appliedSteps, checkDatabase, prepareSchema, schemaScript } from '../schema/prepare.ts'
import { newestStep } from '../schema/steps.ts'
import { type DatabaseOptions, withDatabase } from './database.ts'

export interface Prepared {
  step: number
  /** How many steps were missing. */
  applied: number
}

/** Makes what is missing of the tables. Servers do the same when they start, if their role may. */
export function prepareDatabase(options: DatabaseOptions): Promise<Prepared> {
  return withDatabase(options, async (connection) => {
    await checkDatabase(connection)
    const count = async () => (await connection.alone((sql) => appliedSteps(sql, options.schema)))?.length ?? 0
    const before = await count()
    await prepareSchema(connection, options.schema)
    return { step: newestStep, applied: (await count()) - before }
  })
}

/** What an owner of the database executes for servers whose role may not make tables. Undefined `role`: not known. */
export function preparationScript(schema: string, role: string | undefined): string {
  const name = role === undefined ? '<role>' : quoted(role)
  const grants = [
    `GRANT USAGE ON SCHEMA ${quoted(schema)} TO ${name};`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${quoted(schema)} TO ${name};`,
  ]
  return [
    '-- For an empty database. Execute it once, as a role that may make a schema.',
    schemaScript(schema).trimEnd(),
    '',
    '-- What the role of the servers needs.',
    ...grants.map((line) => (role === undefined ? `-- ${line}` : line)),
    '',
  ].join('\n')
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
