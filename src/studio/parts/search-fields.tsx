import type { JSX } from 'preact'
import { searchModes } from '../../core/knowledge/knowledge.ts'
import { knowledgeLimits } from '../../core/knowledge/limits.ts'

interface SearchFieldsProps {
  /** Chosen at first. Absent: it may stay as it was. */
  mode?: string | undefined
  limit?: number
  /** An object as JSON. */
  filters?: string | undefined
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
            // The type of the element does not know it: a form that is reset has it chosen again.
            <option key={one} {...{ defaultSelected: one === mode }}>
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
          defaultValue={limit}
        />
      </label>
      <label>
        Filters <input name="filters" placeholder="an object in JSON" defaultValue={filters} />
      </label>
    </>
  )
}
