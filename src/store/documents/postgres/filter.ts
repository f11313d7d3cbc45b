import type { Json, JsonObject } from '../../../core/json.ts'
import {
  type Comparison,
  type Condition,
  type DocumentFilterKey,
  type Filters,
  type FilterTest,
  isDocumentFilterKey,
  readFilters,
} from '../../../core/knowledge/filter.ts'
import { instantOf } from '../../../core/knowledge/filter-date.ts'
import { toStored } from './stored-text.ts'

/** One value of a key: the value, and the instant of a text that is a date. */
interface Held {
  v: string | number | boolean
  t?: number
}

/** No stored key of metadata: theirs have digits after this character. */
const ofSource = '\u0001source'

/** What filters see of a document beside its columns: the values of each key of its metadata that has some. */
export function toFilterable(metadata: JsonObject, source: string): Record<string, Held[]> {
  const keys = Object.entries(metadata).filter(([, value]) => value !== null)
  return {
    ...Object.fromEntries(
      keys.map(([key, value]) => [toStored(key), (Array.isArray(value) ? value : [value]).flatMap(toHeld)]),
    ),
    ...(instantOf(source) !== undefined && { [ofSource]: toHeld(source) }),
  }
}

function toHeld(value: Json): Held[] {
  if (value === null || typeof value === 'object') return []
  if (typeof value !== 'string') return [{ v: value }]
  const instant = instantOf(value)
  return [{ v: toStored(value), ...(instant !== undefined && { t: instant }) }]
}

/** Makes `$n` of values; numbers of parameters go on from those before. */
export class Parameters {
  readonly values: unknown[]

  constructor(...before: unknown[]) {
    this.values = before
  }

  add(value: unknown): string {
    return `$${this.values.push(value)}`
  }
}

/** Filters as SQL over `document`, to be added to a condition; empty without filters. Never null. */
export function filterSql(filters: Filters, parameters: Parameters): string {
  const condition = readFilters(filters)
  if (condition.kind === 'all' && condition.of.length === 0) return ''
  return ` AND ${compile(condition, parameters)}`
}

function compile(condition: Condition, parameters: Parameters): string {
  const all = (of: readonly Condition[]) => of.map((one) => compile(one, parameters))
  switch (condition.kind) {
    case 'all':
      return joined(all(condition.of), ' AND ', 'true')
    case 'any':
      return joined(all(condition.of), ' OR ', 'false')
    case 'not':
      return `(NOT ${compile(condition.of, parameters)})`
    case 'exists':
      return isDocumentFilterKey(condition.key)
        ? 'true'
        : `(document.filterable ? ${parameters.add(condition.key)}::text)`
    case 'value':
      return valueSql(condition.key, condition.tests, parameters)
  }
}

function joined(parts: readonly string[], by: string, none: string): string {
  return `(${parts.length === 0 ? none : parts.join(by)})`
}

function valueSql(key: string, tests: readonly FilterTest[], parameters: Parameters): string {
  const each = (test: (one: FilterTest) => string) => joined(tests.map(test), ' AND ', 'true')
  if (isDocumentFilterKey(key)) return each((test) => columnTest(test, key, parameters))
  return heldSql(
    key,
    each((test) => heldTest(test, parameters)),
    parameters,
  )
}

/** Whether a value of the key fulfils the condition on `held`. */
function heldSql(key: string, condition: string, parameters: Parameters): string {
  return `EXISTS (SELECT 1 FROM jsonb_array_elements(document.filterable -> ${parameters.add(key)}::text) AS value (held)
    WHERE ${condition})`
}

const signs: Record<Comparison, string> = { gt: '>', gte: '>=', lt: '<', lte: '<=' }

function columnTest(test: FilterTest, key: DocumentFilterKey, parameters: Parameters): string {
  const column = `document.${key}`
  if (test.is === 'in') {
    const texts = test.values.filter((value) => typeof value === 'string').map(toStored)
    return `${column} = ANY(${parameters.add(texts)}::text[])`
  }
  if (test.is === 'prefix') return prefixSql(column, test.text, parameters)
  // They are texts, and only a source may be a date.
  if (typeof test.than === 'number' || key !== 'source') return 'false'
  return heldSql(ofSource, heldTest(test, parameters), parameters)
}

function heldTest(test: FilterTest, parameters: Parameters): string {
  if (test.is === 'in') {
    const wanted = test.values.map((value) => JSON.stringify(typeof value === 'string' ? toStored(value) : value))
    return `held -> 'v' = ANY(${parameters.add(wanted)}::text[]::jsonb[])`
  }
  if (test.is === 'prefix')
    return `(jsonb_typeof(held -> 'v') = 'string' AND ${prefixSql("(held ->> 'v')", test.text, parameters)})`
  if (typeof test.than === 'number')
    return `(CASE WHEN jsonb_typeof(held -> 'v') = 'number'
      THEN (held ->> 'v')::numeric ${signs[test.is]} ${parameters.add(String(test.than))}::text::numeric ELSE false END)`
  return `coalesce((held ->> 't')::float8 ${signs[test.is]} ${parameters.add(instantOf(test.than) ?? null)}::float8, false)`
}

function prefixSql(text: string, prefix: string, parameters: Parameters): string {
  const folder = toStored(`${prefix.replace(/\/+$/, '')}/`)
  return `starts_with(${text} || '/', ${parameters.add(folder)}::text)`
}
