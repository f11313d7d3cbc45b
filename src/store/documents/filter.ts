import {
  type Comparison,
  type Condition,
  type Filters,
  type FilterTest,
  isDocumentFilterKey,
  readFilters,
} from '../../core/knowledge/filter.ts'

interface Sql {
  sql: string
  parameters: string[]
}

/** Filters as SQL over `document`, all values bound as JSON, so that JSON is compared with JSON. Never null. */
export function filterSql(filters: Filters): Sql {
  const condition = readFilters(filters)
  if (condition.kind === 'all' && condition.of.length === 0) return { sql: '', parameters: [] }
  const { sql, parameters } = compile(condition)
  return { sql: ` AND ${sql}`, parameters }
}

function compile(condition: Condition): Sql {
  switch (condition.kind) {
    case 'all':
      return joined(condition.of.map(compile), ' AND ', '1')
    case 'any':
      return joined(condition.of.map(compile), ' OR ', '0')
    case 'not': {
      const { sql, parameters } = compile(condition.of)
      return { sql: `NOT ${sql}`, parameters }
    }
    case 'exists':
      if (isDocumentFilterKey(condition.key)) return { sql: '1', parameters: [] }
      return {
        sql: `coalesce(json_type(document.metadata, ?), 'null') <> 'null'`,
        parameters: [pathOf(condition.key)],
      }
    case 'value':
      return valueSql(condition.key, condition.tests)
  }
}

function joined(parts: readonly Sql[], by: string, none: string): Sql {
  const sql = parts.length === 0 ? none : parts.map((part) => part.sql).join(by)
  return { sql: `(${sql})`, parameters: parts.flatMap(({ parameters }) => parameters) }
}

function valueSql(key: string, tests: readonly FilterTest[]): Sql {
  if (isDocumentFilterKey(key)) {
    return joined(
      tests.map((test) => testSql(test, `document.${key}`)),
      ' AND ',
      '1',
    )
  }
  const { sql, parameters } = joined(
    tests.map((test) => testSql(test, 'held.value', 'held.type')),
    ' AND ',
    '1',
  )
  const path = pathOf(key)
  return {
    sql: `EXISTS (SELECT 1 FROM json_each(document.metadata, ?) AS held
      WHERE json_type(document.metadata, ?) <> 'object' AND ${sql})`,
    parameters: [path, path, ...parameters],
  }
}

/** The pattern of keys has no quotation mark. */
const pathOf = (key: string) => `$."${key}"`

const signs: Record<Comparison, string> = { gt: '>', gte: '>=', lt: '<', lte: '<=' }
const kind = (type: string) => `CASE ${type} WHEN 'integer' THEN 'real' ELSE ${type} END`

/** `value` is a text column, unless `type` says otherwise. */
function testSql(test: FilterTest, value: string, type = "'text'"): Sql {
  if (test.is === 'in' && type === "'text'")
    // In this form SQLite finds sources by their index.
    return {
      sql: `${value} IN (SELECT value FROM json_each(?) WHERE type = 'text')`,
      parameters: [JSON.stringify(test.values)],
    }
  if (test.is === 'in')
    return {
      sql: `EXISTS (SELECT 1 FROM json_each(?) AS wanted
        WHERE ${value} = wanted.value AND ${kind(type)} = ${kind('wanted.type')})`,
      parameters: [JSON.stringify(test.values)],
    }
  if (test.is === 'prefix') {
    const folder = JSON.stringify(`${test.text.replace(/\/+$/, '')}/`)
    return {
      // As bytes, since text functions stop at a null character.
      sql: `(${type} = 'text' AND substr(CAST(${value} || '/' AS BLOB), 1,
        length(CAST(json_extract(?, '$') AS BLOB))) = CAST(json_extract(?, '$') AS BLOB))`,
      parameters: [folder, folder],
    }
  }
  const than = JSON.stringify(test.than)
  if (typeof test.than === 'number')
    return {
      sql: `(${type} IN ('integer', 'real') AND ${value} ${signs[test.is]} json_extract(?, '$'))`,
      parameters: [than],
    }
  return {
    sql: `(${type} = 'text' AND (${instantSql(value)} ${signs[test.is]} julianday(json_extract(?, '$'))) IS TRUE)`,
    parameters: [than],
  }
}

const day = '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'

/** A number that orders the dates which `instantOf` knows; null for other texts, of which SQLite would take some. */
function instantSql(value: string): string {
  return `CASE WHEN (${value} GLOB '${day}' OR ${value} GLOB '${day}T[01][0-9]:*' OR ${value} GLOB '${day}T2[0-3]:*')
    AND ${value} NOT GLOB '*[^0-9TZ:.+-]*' AND instr(${value}, char(0)) = 0
    AND date(substr(${value}, 1, 10)) = substr(${value}, 1, 10) THEN julianday(${value}) END`
}
