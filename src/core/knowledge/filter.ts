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

/** What is wrong with filters, and with which key. */
export function filterProblem(filters: unknown): { path: string[]; message: string } | undefined {
  if (typeof filters !== 'object' || filters === null || Array.isArray(filters))
    return { path: [], message: 'must be an object of strings, numbers, booleans or lists of these' }
  let terms = 0
  for (const [key, value] of Object.entries(filters)) {
    const path = [key.slice(0, 80)]
    if (!keyPattern.test(key))
      return { path, message: 'must be a key of at most 64 letters, digits and _, beginning with a letter or _' }
    const values: unknown[] = Array.isArray(value) ? value : [value]
    terms += Math.max(1, values.length)
    if (terms > maxFilterTerms)
      return { path, message: `is too much: all filters together may have at most ${maxFilterTerms} values` }
    if (!values.every(isFilterValue))
      return { path, message: 'must be a string, a number, a boolean or a list of these' }
  }
  return undefined
}

/** Throws `invalid_request` with the path of the first invalid key or value. */
export function assertFilters(filters: unknown): asserts filters is Filters {
  const problem = filterProblem(filters)
  if (problem) throw invalid(problem.message, ['filters', ...problem.path].join('.'))
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
