import { AppError, invalid } from '../error.ts'
import type { Json, JsonObject } from '../json.ts'
import type { Filters, FilterValue } from './knowledge.ts'

export const maxFilterTerms = 64
const keyPattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

/** Keys that filter on the document itself; all other keys filter on its metadata. */
export const documentFilterKeys = ['source', 'document_id', 'chunker_type'] as const
export type DocumentFilterKey = (typeof documentFilterKeys)[number]

export function isDocumentFilterKey(key: string): key is DocumentFilterKey {
  return (documentFilterKeys as readonly string[]).includes(key)
}

/** Throws `invalid_request` with the path of the first invalid key or value. */
export function assertFilters(filters: unknown): asserts filters is Filters {
  if (typeof filters !== 'object' || filters === null || Array.isArray(filters))
    throw invalid('must be an object of key to value', 'filters')
  let terms = 0
  for (const [key, value] of Object.entries(filters)) {
    const path = `filters.${key.slice(0, 80)}`
    if (!keyPattern.test(key))
      throw invalid('a key is of letters, digits and _, does not begin with a digit and has at most 64', path)
    const values: unknown[] = Array.isArray(value) ? value : [value]
    terms += Math.max(1, values.length)
    if (terms > maxFilterTerms) throw invalid(`at most ${maxFilterTerms} values in all filters`, path)
    if (!values.every(isFilterValue)) throw invalid('must be a string, a number, a boolean or a list of these', path)
  }
}

function isFilterValue(value: unknown): value is FilterValue {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  )
}

export interface Filterable {
  source: string
  document_id: string
  chunker_type: string
  metadata: JsonObject
}

/**
 * Every key must match. A list matches any of its values (an empty list matches nothing). Types are not mixed: `1` is
 * not `'1'`. When the metadata holds a list, one of its elements must match.
 */
export function matchesFilters(document: Filterable, filters: Filters): boolean {
  return Object.entries(filters).every(([key, wanted]) => {
    const values: readonly FilterValue[] = Array.isArray(wanted) ? wanted : [wanted]
    const held = isDocumentFilterKey(key) ? document[key] : own(document.metadata, key)
    const candidates: readonly Json[] = Array.isArray(held) ? held : held === undefined ? [] : [held]
    return candidates.some((candidate) => values.some((value) => value === candidate))
  })
}

function own(metadata: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(metadata, key) ? metadata[key] : undefined
}

/** An error about a document; `reason` completes "… can't be read: ". */
export function unreadable(name: string | undefined, reason: string, cause?: unknown): AppError {
  return new AppError('unreadable_document', `${name ?? 'The document'} can't be read: ${reason}.`, {
    details: [{ path: 'content', message: reason }],
    cause,
  })
}
