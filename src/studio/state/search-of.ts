import type { Filters } from '../../core/knowledge/filter.ts'
import { type SearchMode, searchModes } from '../../core/knowledge/knowledge.ts'
import { readFilters } from './address.ts'

export interface AskedSearch {
  mode?: SearchMode
  limit?: number
  filters?: Filters
}

/** What is chosen in the fields of a search. Throws for filters that are none. */
export function searchOf(form: FormData): AskedSearch {
  const filters = readFilters(String(form.get('filters') ?? '').trim() || undefined)
  if (typeof filters === 'string') throw new Error(filters)
  const mode = searchModes.find((one) => one === form.get('mode'))
  const limit = Number(form.get('limit'))
  return { ...(mode && { mode }), ...(limit > 0 && { limit }), ...(filters && { filters }) }
}
