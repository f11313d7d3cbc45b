import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { type Draft, draftOf, type Problems } from '../../core/form/answer.ts'
import type { Field } from '../../core/form/fields.ts'
import type { Json } from '../../core/json.ts'

interface FieldsProps {
  field: Field
  /** Of the property; of the whole what it is. */
  name: string
  path: string
  isRequired: boolean
  draft: Draft
  problems: Problems
  onChange: (draft: Draft) => void
}

/** The fields of a form. What is wrong with one is said at it. */
export function Fields(props: FieldsProps): JSX.Element {
  const { field } = props
  if (field.kind === 'object') return <Group {...props} field={field} />
  return field.kind === 'list' ? <List {...props} field={field} /> : <Single {...props} field={field} />
}

function labelOf({ field, name, isRequired }: FieldsProps): string {
  const label = field.title ?? name
  return isRequired ? label : `${label} (optional)`
}

function Group(props: FieldsProps & { field: Extract<Field, { kind: 'object' }> }): JSX.Element {
  const { field, path, draft, problems, onChange } = props
  const parts = draft as { [name: string]: Draft }
  const content = field.fields.map(({ name, isRequired, field: inner }) => (
    <Fields
      key={name}
      field={inner}
      name={name}
      path={path === '' ? name : `${path}.${name}`}
      isRequired={isRequired}
      draft={parts[name] ?? ''}
      problems={problems}
      onChange={(part) => onChange({ ...parts, [name]: part })}
    />
  ))
  return (
    <fieldset class="fields">
      <legend dir="auto">{labelOf(props)}</legend>
      {field.description === undefined ? null : <p class="about">{field.description}</p>}
      {content}
      <p class="wrong">{problems.get(path)}</p>
    </fieldset>
  )
}

function List(props: FieldsProps & { field: Extract<Field, { kind: 'list' }> }): JSX.Element {
  const { field, path, draft, problems, onChange } = props
  const items = draft as Draft[]
  return (
    <fieldset class="fields">
      <legend dir="auto">{labelOf(props)}</legend>
      {field.description === undefined ? null : <p class="about">{field.description}</p>}
      {items.map((item, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: entries have nothing but their place
        <div class="bar" key={place}>
          <Fields
            field={field.item}
            name={`${place + 1}`}
            path={path === '' ? String(place) : `${path}.${place}`}
            isRequired
            draft={item}
            problems={problems}
            onChange={(changed) => onChange(items.with(place, changed))}
          />
          <button type="button" aria-label={`Remove ${place + 1}`} onClick={() => onChange(items.toSpliced(place, 1))}>
            Remove
          </button>
        </div>
      ))}
      <button
        type="button"
        disabled={items.length >= field.maxItems}
        data-many
        onClick={() => onChange([...items, draftOf(field.item)])}
      >
        Add to {field.title ?? (path === '' ? 'the list' : props.name)}
      </button>
      <p class="wrong">{problems.get(path)}</p>
    </fieldset>
  )
}

function Single(props: FieldsProps & { field: Exclude<Field, { kind: 'object' | 'list' }> }): JSX.Element {
  const { field, path, isRequired, problems } = props
  const id = useId()
  const problem = problems.get(path)
  return (
    <div class="field">
      <label for={id} dir="auto">
        {labelOf(props)}
      </label>
      <Control
        {...props}
        about={{
          id,
          'aria-required': isRequired,
          'aria-invalid': problem !== undefined,
          'aria-describedby': `${id}-about`,
        }}
      />
      <p id={`${id}-about`} class={problem === undefined ? 'about' : 'wrong'} dir="auto">
        {problem ?? [field.description, rangeOf(field)].filter((words) => words !== undefined).join(' ')}
      </p>
    </div>
  )
}

interface ControlProps {
  field: Exclude<Field, { kind: 'object' | 'list' }>
  draft: Draft
  onChange: (draft: Draft) => void
  about: { id: string; 'aria-required': boolean; 'aria-invalid': boolean; 'aria-describedby': string }
}

function Control({ field, draft, onChange, about }: ControlProps): JSX.Element {
  const value = draft as string
  if (field.kind === 'choice' || field.kind === 'boolean') {
    const options = field.kind === 'choice' ? field.options.map(optionOf) : booleans
    return (
      <select {...about} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">–</option>
        {options.map(([given, words]) => (
          <option key={given} value={given}>
            {words}
          </option>
        ))}
      </select>
    )
  }
  const onInput = ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
    onChange(currentTarget.value)
  if (field.kind === 'text' && !field.isSecret && field.format === undefined && field.maxLength > 200)
    return <textarea {...about} rows={1} value={value} onInput={onInput} />
  if (field.kind === 'number')
    return <input {...about} inputMode={field.isInteger ? 'numeric' : 'decimal'} value={value} onInput={onInput} />
  if (field.isSecret) return <input {...about} type="password" autocomplete="off" value={value} onInput={onInput} />
  if (field.format === undefined) return <input {...about} value={value} onInput={onInput} />
  const isTimed = field.format === 'date-time'
  return (
    <input
      {...about}
      type={isTimed ? 'datetime-local' : 'date'}
      step={isTimed ? 1 : undefined}
      value={value}
      onInput={onInput}
    />
  )
}

const booleans: readonly [string, string][] = [
  ['true', 'yes'],
  ['false', 'no'],
]

function optionOf(option: Json, place: number): [string, string] {
  return [String(place), typeof option === 'string' ? option : JSON.stringify(option)]
}

function rangeOf(field: Field): string | undefined {
  if (field.kind !== 'number') return undefined
  const { min, max } = field
  // Limits that only say what a number can be at all.
  const isSafe = (limit: number) => Math.abs(limit) < Number.MAX_SAFE_INTEGER
  if (isSafe(min) && isSafe(max)) return `From ${min} to ${max}.`
  if (isSafe(min)) return `At least ${min}.`
  return isSafe(max) ? `At most ${max}.` : undefined
}
