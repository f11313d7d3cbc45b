import { isJsonObject } from '../../../core/json.ts'
import type { Filters } from '../../../core/knowledge/filter.ts'
import { type SearchMode, searchModes } from '../../../core/knowledge/knowledge.ts'
import { given } from './address.ts'

export interface AskedSearch {
  mode?: SearchMode
  limit?: number
  filters?: Filters
}

/** What the fields of a search say, or its address. Throws for filters that are none. */
export function searchOf({
  mode,
  limit,
  filters = '',
}: {
  mode?: unknown
  limit?: unknown
  filters?: unknown
}): AskedSearch {
  return given({
    mode: searchModes.find((one) => one === mode),
    limit: Number(limit) || undefined,
    filters: filtersIn(String(filters)),
  }) as AskedSearch
}

function filtersIn(text: string): Filters | undefined {
  if (text.trim() === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value)) return value as Filters
  } catch {
    // Said below.
  }
  throw new Error('Filters must be an object in JSON, such as {"topic": "office"}.')
}
