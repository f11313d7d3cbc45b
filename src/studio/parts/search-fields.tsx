import type { JSX } from 'preact'
import { type SearchMode, searchModes } from '../../core/knowledge/knowledge.ts'
import { knowledgeLimits } from '../../core/knowledge/limits.ts'

interface SearchFieldsProps {
  /** Chosen at first. Absent: it may stay as it was. */
  mode?: SearchMode
  limit?: number
  filters?: object | undefined
}

/** How to search: fields of a form. */
export function SearchFields({ mode, limit, filters }: SearchFieldsProps): JSX.Element {
  const placeholder = 'as it was'
  return (
    <>
      <label>
        Mode{' '}
        <select name="mode">
          {mode === undefined ? <option value="">{placeholder}</option> : null}
          {searchModes.map((one) => (
            <option key={one} selected={one === mode}>
              {one}
            </option>
          ))}
        </select>
      </label>
      <label>
        Limit{' '}
        <input
          name="limit"
          class="short-field"
          type="number"
          min="1"
          max={knowledgeLimits.search}
          placeholder={placeholder}
          defaultValue={limit === undefined ? '' : `${limit}`}
        />
      </label>
      <label>
        Filters{' '}
        <input
          name="filters"
          placeholder="an object in JSON"
          defaultValue={filters === undefined ? '' : JSON.stringify(filters)}
        />
      </label>
    </>
  )
}
