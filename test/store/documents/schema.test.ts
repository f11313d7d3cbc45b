import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentsDatabase } from '../../../src/store/documents/database.ts'
import * as schema from '../../../src/store/documents/schema.ts'
import type { Connection } from '../../../src/store/sqlite/connection.ts'
import { openDatabase } from '../../../src/store/sqlite/open-database.ts'

const tables = Object.values(schema) as SQLiteTable[]

describe('the schema of the documents', () => {
  let connection: Connection
  beforeAll(async () => {
    connection = await openDatabase(':memory:', documentsDatabase)
  })
  afterAll(() => connection.close())

  it('has the tables that the migrations make', async () => {
    const made = await connection.all(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    expect(made.map(({ name }) => name)).toEqual(tables.map((table) => getTableConfig(table).name).toSorted())
  })

  it.each(tables.map((table) => [getTableConfig(table).name, getTableConfig(table)] as const))(
    'has the columns of %s, and what is unique in it',
    async (name, { columns, primaryKeys, uniqueConstraints, indexes }) => {
      const made = await connection.all(`SELECT * FROM pragma_table_info('${name}')`)
      const inKey = new Set(primaryKeys.flatMap((key) => key.columns.map((column) => column.name)))
      expect(made.map((each) => [each.name, each.type, each.pk !== 0, each.dflt_value])).toEqual(
        columns.map((column) => [
          column.name,
          column.getSQLType().toUpperCase(),
          column.primary || inKey.has(column.name),
          column.default === undefined ? null : String(column.default),
        ]),
      )
      const optional = made.filter((each) => each.notnull === 0 && each.pk === 0).map((each) => each.name)
      expect(optional).toEqual(columns.filter((column) => !column.notNull).map((column) => column.name))
      const unique = await connection.all(
        `SELECT (SELECT group_concat(name) FROM pragma_index_info(list.name)) AS names
         FROM pragma_index_list('${name}') AS list WHERE "unique" AND origin <> 'pk'`,
      )
      const namesOf = (some: readonly object[]) => some.map((each) => ('name' in each ? each.name : undefined)).join()
      expect(unique.map(({ names }) => names).toSorted()).toEqual(
        [
          ...columns.filter((column) => column.isUnique).map((column) => column.name),
          ...uniqueConstraints.map((constraint) => namesOf(constraint.columns)),
          ...indexes.filter(({ config }) => config.unique).map(({ config }) => namesOf(config.columns)),
        ].toSorted(),
      )
    },
  )

  it('names no column twice', () => {
    const names = tables.flatMap((table) => getTableConfig(table).columns.map((column) => column.name))
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted())
  })
})
