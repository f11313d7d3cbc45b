import { assertFilters, isDocumentFilterKey } from '../../core/knowledge/filter.ts'
import type { Filters } from '../../core/knowledge/knowledge.ts'

/** Filters as SQL over `document`, all values bound. Equivalent to `matchesFilters`: JSON is compared with JSON. */
export function filterSql(filters: Filters): { sql: string; parameters: string[] } {
  assertFilters(filters)
  const terms: string[] = []
  const parameters: string[] = []
  for (const [key, wanted] of Object.entries(filters)) {
    const values = JSON.stringify(Array.isArray(wanted) ? wanted : [wanted])
    if (isDocumentFilterKey(key)) {
      terms.push(`document.${key} IN (SELECT value FROM json_each(?) WHERE type = 'text')`)
      parameters.push(values)
    } else {
      terms.push(`EXISTS (SELECT 1 FROM json_each(document.metadata, ?) AS held JOIN json_each(?) AS wanted
        ON held.value = wanted.value AND ${kind('held')} = ${kind('wanted')}
        WHERE json_type(document.metadata, ?) <> 'object')`)
      parameters.push(`$."${key}"`, values, `$."${key}"`)
    }
  }
  return { sql: terms.map((term) => ` AND ${term}`).join(''), parameters }
}

const kind = (table: string) => `CASE ${table}.type WHEN 'integer' THEN 'real' ELSE ${table}.type END`
