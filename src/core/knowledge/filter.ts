import { AppError, invalid } from '../error.ts'
import { nearest } from '../text/nearest.ts'
import { instantOf } from './filter-date.ts'

export type FilterValue = string | number | boolean

/** What a value must be like. Of a list in the metadata, one element must pass all of it, and none be what is excluded. */
export type FilterOperators = {
  eq?: FilterValue
  in?: FilterValue[]
  /** A number, or an ISO date: `2026-01-31`, `2026-01-31T09:30:00Z`. */
  gt?: number | string
  gte?: number | string
  lt?: number | string
  lte?: number | string
  /** The text itself, or a text below it: `docs/a` has `docs/a/b.md` below it, not `docs/ab.md`. */
  prefix?: string
  /** Also where the key is missing. */
  ne?: FilterValue
  not_in?: FilterValue[]
  /** Whether there is a value; null is none. */
  exists?: boolean
}

/** All keys must match; a list matches any of its values. `and` and `or` take lists of filters, `not` takes one. */
export interface Filters {
  [key: string]: FilterValue | FilterValue[] | FilterOperators | Filters | Filters[]
}

const maxFilterTerms = 64
const maxFilterDepth = 8
const keyPattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

/** Keys that filter on the document itself; all other keys filter on its metadata. */
const documentFilterKeys = ['source', 'document_id', 'chunker_type'] as const
export type DocumentFilterKey = (typeof documentFilterKeys)[number]

export function isDocumentFilterKey(key: string): key is DocumentFilterKey {
  return (documentFilterKeys as readonly string[]).includes(key)
}

const comparisons = ['gt', 'gte', 'lt', 'lte'] as const
export type Comparison = (typeof comparisons)[number]

export const filterOperators = [
  'eq',
  'in',
  ...comparisons,
  'prefix',
  'ne',
  'not_in',
  'exists',
] as const satisfies readonly (keyof FilterOperators)[]

/** What one value must be like. Types are not mixed: `1` is not `'1'`. */
export type FilterTest =
  | { is: 'in'; values: readonly FilterValue[] }
  | { is: Comparison; than: number | string }
  | { is: 'prefix'; text: string }

/** Filters once they are checked, in as few words as there are meanings. */
export type Condition =
  | { kind: 'all' | 'any'; of: Condition[] }
  | { kind: 'not'; of: Condition }
  /** One value of the key passes every test. */
  | { kind: 'value'; key: string; tests: FilterTest[] }
  | { kind: 'exists'; key: string }

/** Throws `invalid_request` with the path of the first invalid key or value. */
export function readFilters(filters: unknown): Condition {
  try {
    return conditionOf(filters, { path: [], depth: 0, budget: { terms: 0 } })
  } catch (error) {
    if (error instanceof Problem) throw invalid(error.message, ['filters', ...error.path].join('.'))
    throw error
  }
}

/** What is wrong with filters, and with which key. */
export function filterProblem(filters: unknown): { path: string[]; message: string } | undefined {
  try {
    conditionOf(filters, { path: [], depth: 0, budget: { terms: 0 } })
    return undefined
  } catch (error) {
    if (error instanceof Problem) return { path: error.path, message: error.message }
    throw error
  }
}

/** Filters of which all must match; undefined if there are none. */
export function allOf(...given: readonly (Filters | undefined)[]): Filters | undefined {
  const [first, ...others] = given.filter((filters) => filters !== undefined && Object.keys(filters).length > 0)
  return first === undefined || others.length === 0 ? first : { and: [first, ...(others as Filters[])] }
}

class Problem extends Error {
  readonly path: string[]

  constructor(path: readonly string[], message: string) {
    super(message)
    this.path = [...path]
  }
}

interface Place {
  path: readonly string[]
  depth: number
  budget: { terms: number }
}

const below = (place: Place, key: string): Place => ({ ...place, path: [...place.path, key.slice(0, 80)] })

function spend({ path, budget }: Place, terms: number): void {
  budget.terms += terms
  if (budget.terms > maxFilterTerms)
    throw new Problem(
      path,
      `is too much: all filters together may have at most ${maxFilterTerms} values and filters inside`,
    )
}

function conditionOf(filters: unknown, place: Place): Condition {
  if (!isObject(filters)) {
    const what = place.depth === 0 ? 'must be an object of strings, numbers, booleans or lists of these' : mustBeFilters
    throw new Problem(place.path, what)
  }
  if (place.depth > maxFilterDepth)
    throw new Problem(place.path, `is too deep: filters may be nested ${maxFilterDepth} deep`)
  const of = Object.entries(filters).map(([key, wanted]): Condition => {
    const at = below(place, key)
    if (!keyPattern.test(key))
      throw new Problem(at.path, 'must be a key of at most 64 letters, digits and _, beginning with a letter or _')
    return isNesting(key, wanted) ? nested(key, wanted, at) : fieldCondition(key, wanted, at)
  })
  return all(of)
}

const mustBeFilters = 'must be an object of filters'
const all = (of: Condition[]): Condition => (of.length === 1 && of[0] !== undefined ? of[0] : { kind: 'all', of })

/** Metadata may have keys of these names: with values instead of filters, they are looked for there. */
function isNesting(key: string, wanted: unknown): boolean {
  if (key === 'not') return isObject(wanted)
  if (key !== 'and' && key !== 'or') return false
  return isObject(wanted) || (Array.isArray(wanted) && (wanted.length === 0 || wanted.some(isObject)))
}

function nested(key: string, wanted: unknown, place: Place): Condition {
  const inside = (filters: unknown, at: Place): Condition => {
    spend(at, 1)
    return conditionOf(filters, { ...at, depth: place.depth + 1 })
  }
  if (key === 'not') return { kind: 'not', of: inside(wanted, place) }
  if (!Array.isArray(wanted) || wanted.length === 0)
    throw new Problem(place.path, 'must be a list of filters, at least one')
  const of = wanted.map((filters: unknown, index) => inside(filters, below(place, String(index))))
  return { kind: key === 'and' ? 'all' : 'any', of }
}

function fieldCondition(key: string, wanted: unknown, place: Place): Condition {
  if (!isObject(wanted)) return { kind: 'value', key, tests: [{ is: 'in', values: valuesOf(wanted, place) }] }
  const tests: FilterTest[] = []
  const of: Condition[] = []
  const excluded = (values: readonly FilterValue[]): Condition => ({
    kind: 'not',
    of: { kind: 'value', key, tests: [{ is: 'in', values }] },
  })
  for (const [name, operand] of Object.entries(wanted)) {
    const at = below(place, name)
    const operator = operatorOf(name, at)
    if (operator === 'eq') tests.push({ is: 'in', values: [scalarOf(operand, at)] })
    else if (operator === 'in') tests.push({ is: 'in', values: listOf(operand, at) })
    else if (operator === 'prefix') tests.push({ is: 'prefix', text: prefixOf(operand, at) })
    else if (operator === 'ne') of.push(excluded([scalarOf(operand, at)]))
    else if (operator === 'not_in') of.push(excluded(listOf(operand, at)))
    else if (operator === 'exists') of.push(existence(key, operand, at))
    else tests.push({ is: operator, than: boundOf(operand, at) })
  }
  if (tests.length > 0) of.unshift({ kind: 'value', key, tests })
  if (of.length === 0) throw new Problem(place.path, `must have an operator: ${filterOperators.join(', ')}`)
  return all(of)
}

function operatorOf(name: string, { path }: Place): (typeof filterOperators)[number] {
  const known = filterOperators.find((one) => one === name)
  if (known !== undefined) return known
  const meant = nearest(name.slice(0, 80), filterOperators)
  const hint = meant === undefined ? `; expected one of ${filterOperators.join(', ')}` : ` (did you mean '${meant}'?)`
  throw new Problem(path, `is not an operator${hint}`)
}

function valuesOf(wanted: unknown, place: Place): FilterValue[] {
  const values: unknown[] = Array.isArray(wanted) ? wanted : [wanted]
  spend(place, Math.max(1, values.length))
  if (values.every(isFilterValue)) return values
  throw new Problem(place.path, 'must be a string, a number, a boolean, a list of these, or an object of operators')
}

function listOf(operand: unknown, place: Place): FilterValue[] {
  if (!Array.isArray(operand)) throw new Problem(place.path, 'must be a list of strings, numbers and booleans')
  spend(place, Math.max(1, operand.length))
  if (operand.every(isFilterValue)) return operand
  throw new Problem(place.path, 'must be a list of strings, numbers and booleans')
}

function scalarOf(operand: unknown, place: Place): FilterValue {
  spend(place, 1)
  if (isFilterValue(operand)) return operand
  throw new Problem(place.path, 'must be a string, a number or a boolean')
}

function boundOf(operand: unknown, place: Place): number | string {
  spend(place, 1)
  if (typeof operand === 'number' && Number.isFinite(operand)) return operand
  if (typeof operand === 'string' && instantOf(operand) !== undefined) return operand
  throw new Problem(place.path, 'must be a number, or an ISO date like 2026-01-31 or 2026-01-31T09:30:00Z')
}

function prefixOf(operand: unknown, place: Place): string {
  spend(place, 1)
  if (typeof operand === 'string' && operand !== '') return operand
  throw new Problem(place.path, 'must be a text that is not empty')
}

function existence(key: string, operand: unknown, place: Place): Condition {
  spend(place, 1)
  if (typeof operand !== 'boolean') throw new Problem(place.path, 'must be true or false')
  return operand ? { kind: 'exists', key } : { kind: 'not', of: { kind: 'exists', key } }
}

function isFilterValue(value: unknown): value is FilterValue {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An error about a document; `reason` completes "… can't be read: ". */
export function unreadable(name: string | undefined, reason: string, cause?: unknown): AppError {
  return new AppError('unreadable_document', `${name ?? 'The document'} can't be read: ${reason}.`, {
    details: [{ path: 'content', message: reason }],
    cause,
  })
}
