import type { JsonObject } from '../../../src/core/json.ts'

/** What filters see of a document. */
export interface Filterable {
  source: string
  document_id: string
  chunker_type: string
  metadata: JsonObject
}

type Operators = Record<string, unknown>

/** What filters mean, said without the code that is tested. */
export function matches(document: Filterable, filters: object): boolean {
  return Object.entries(filters).every(([key, wanted]) => {
    if (key === 'not' && isObject(wanted)) return !matches(document, wanted)
    if (key === 'and' && isGroup(wanted)) return wanted.every((one) => matches(document, one))
    if (key === 'or' && isGroup(wanted)) return wanted.some((one) => matches(document, one))
    return fits(held(document, key), isObject(wanted) ? wanted : { in: [wanted].flat() })
  })
}

const isObject = (value: unknown): value is Operators =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isGroup = (value: unknown): value is object[] => Array.isArray(value) && value.some(isObject)

function held(document: Filterable, key: string): unknown {
  if (key === 'source' || key === 'document_id' || key === 'chunker_type') return document[key]
  return Object.hasOwn(document.metadata, key) ? document.metadata[key] : undefined
}

function fits(value: unknown, operators: Operators): boolean {
  const values: unknown[] = Array.isArray(value) ? value : [value]
  const { ne, not_in, exists, ...wanted } = operators
  const excluded = [...(ne === undefined ? [] : [ne]), ...((not_in as unknown[] | undefined) ?? [])]
  if (values.some((one) => excluded.includes(one))) return false
  if (exists !== undefined && exists !== (value !== undefined && value !== null)) return false
  const tests = Object.entries(wanted)
  return tests.length === 0 || values.some((one) => tests.every(([name, operand]) => passes(one, name, operand)))
}

function passes(value: unknown, name: string, operand: unknown): boolean {
  if (name === 'eq') return value === operand
  if (name === 'in') return (operand as unknown[]).includes(value)
  if (name === 'prefix') return typeof value === 'string' && isBelow(value, String(operand))
  const [one, other] = typeof operand === 'number' ? [value, operand] : [momentOf(value), momentOf(operand)]
  if (typeof one !== 'number' || typeof other !== 'number') return false
  return { gt: one > other, gte: one >= other, lt: one < other, lte: one <= other }[name] === true
}

function isBelow(text: string, folder: string): boolean {
  const names = folder.replace(/\/+$/, '').split('/')
  return text.split('/').slice(0, names.length).join('/') === names.join('/') && text.split('/').length >= names.length
}

/** Days that are on the calendar, to the millisecond. */
function momentOf(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined
  const [, date, time = 'T00:00', fraction = '', zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)?(\.\d+)?(Z|[+-](?:0\d|1[0-4]):[0-5]\d)?$/.exec(
      value,
    ) ?? []
  if (date === undefined || (time === 'T00:00' && !value.includes('T') && value !== date)) return undefined
  if (fraction !== '' && time.length < 9) return undefined
  const midnight = new Date(`${date}T00:00:00Z`)
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== date) return undefined
  const exact = Date.parse(`${date}${time}${zone}`) + Math.min(Math.round(Number(fraction || 0) * 1000), 999)
  return exact > Date.UTC(9999, 11, 31, 23, 59, 59, 999) ? undefined : exact
}
