import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { Field, SingleField } from '../../core/form/fields.ts'
import { isJsonObject, type Json } from '../../core/json.ts'
import { pathTo, textOf } from './form-values.ts'

interface FieldsProps<Of extends Field = Field> {
  field: Of
  /** Of the property; of the whole what it is. */
  name: string
  /** What its controls are called. */
  path: string
  isRequired: boolean
  initial?: Json | undefined
}

/** The fields of a form. The browser checks them when it is sent, and what is wrong with one is said at it. */
export function Fields({ field, initial = field.initial, ...props }: FieldsProps): JSX.Element {
  if (field.kind === 'object') return <Group {...props} field={field} initial={initial} />
  if (field.kind === 'list') return <List {...props} field={field} initial={initial} />
  return <Single {...props} field={field} initial={initial} />
}

function labelOf({ field, name, isRequired }: FieldsProps): string {
  const label = field.title ?? name
  return isRequired ? label : `${label} (optional)`
}

function Group(props: FieldsProps<Extract<Field, { kind: 'object' }>>): JSX.Element {
  const { field, path, initial } = props
  const given = isJsonObject(initial) ? initial : {}
  return (
    <fieldset class="fields">
      <legend dir="auto">{labelOf(props)}</legend>
      <p class="about">{field.description}</p>
      {field.fields.map(({ name, isRequired, field: inner }) => (
        <Fields
          key={name}
          field={inner}
          name={name}
          path={pathTo(name, path)}
          isRequired={isRequired && props.isRequired}
          initial={given[name]}
        />
      ))}
    </fieldset>
  )
}

function List(props: FieldsProps<Extract<Field, { kind: 'list' }>>): JSX.Element {
  const { field, name, path, initial } = props
  const [entries, setEntries] = useState(() => {
    const given = Array.isArray(initial) ? initial : []
    return Array.from({ length: Math.max(given.length, Math.min(field.minItems, 20)) }, (_, place) => ({
      initial: given[place],
    }))
  })
  return (
    <fieldset class="fields">
      <legend dir="auto">{labelOf(props)}</legend>
      <p class="about">{field.description}</p>
      {entries.map((entry, place) => (
        <div class="bar" key={entry}>
          <Fields field={field.item} name={`${place + 1}`} path={path} isRequired {...entry} />
          <button
            type="button"
            aria-label={`Remove ${place + 1}`}
            onClick={() => setEntries(entries.toSpliced(place, 1))}
          >
            Remove
          </button>
        </div>
      ))}
      <button
        type="button"
        disabled={entries.length >= field.maxItems}
        data-many
        onClick={() => setEntries([...entries, { initial: undefined }])}
      >
        Add to {field.title ?? name}
      </button>
    </fieldset>
  )
}

function Single(props: FieldsProps<SingleField>): JSX.Element {
  const { field, path, isRequired, initial } = props
  const id = useId()
  const [problem, setProblem] = useState('')
  const about = {
    id,
    name: path,
    required: isRequired,
    'aria-invalid': problem !== '',
    'aria-describedby': `${id}-about`,
    onInvalid: ({ currentTarget }: InvalidEvent) => setProblem(currentTarget.validationMessage),
    onInput: () => setProblem(''),
  }
  return (
    <div class="field">
      <label for={id} dir="auto">
        {labelOf(props)}
      </label>
      <Control field={field} text={textOf(field, initial)} about={about} />
      <p id={`${id}-about`} class={problem === '' ? 'about' : 'wrong'} dir="auto">
        {problem || `${field.description ?? ''} ${rangeOf(field)}`.trim()}
      </p>
    </div>
  )
}

interface InvalidEvent {
  currentTarget: { validationMessage: string }
}

interface ControlProps {
  field: SingleField
  /** At first. */
  text: string
  about: {
    id: string
    name: string
    required: boolean
    'aria-invalid': boolean
    'aria-describedby': string
    onInvalid: (event: InvalidEvent) => void
    onInput: () => void
  }
}

function Control({ field, text, about }: ControlProps): JSX.Element {
  if (field.kind === 'choice' || field.kind === 'boolean') {
    const options = field.kind === 'choice' ? field.options.map(optionOf) : booleans
    return (
      <select {...about}>
        <option value="">–</option>
        {options.map(([given, words]) => (
          <option key={given} value={given} selected={given === text}>
            {words}
          </option>
        ))}
      </select>
    )
  }
  if (field.kind === 'number') {
    const { isInteger, min, max } = field
    // An infinite limit is none to a browser.
    const limits = isInteger ? { min: Math.ceil(min), max, step: 1 } : { min, max, step: 'any' }
    return <input {...about} type="number" {...limits} defaultValue={text} />
  }
  const { isSecret, format, minLength, maxLength } = field
  if (isSecret) return <input {...about} type="password" autocomplete="off" minLength={minLength} defaultValue={text} />
  // What JavaScript reads has four digits for the year.
  if (format === 'date-time')
    return <input {...about} type="datetime-local" step={1} max="9999-12-31T23:59:59" defaultValue={text} />
  if (format === 'date') return <input {...about} type="date" defaultValue={text} />
  if (maxLength > 200) return <textarea {...about} rows={1} minLength={minLength} defaultValue={text} />
  return <input {...about} minLength={minLength} defaultValue={text} />
}

const booleans: readonly [string, string][] = [
  ['true', 'yes'],
  ['false', 'no'],
]

function optionOf(option: Json, place: number): [string, string] {
  return [String(place), typeof option === 'string' ? option : JSON.stringify(option)]
}

function rangeOf(field: Field): string {
  if (field.kind !== 'number') return ''
  // Limits that only say what a number can be at all are not told.
  const told = (words: string, limit: number) =>
    Math.abs(limit) < Number.MAX_SAFE_INTEGER ? `${words} ${limit}. ` : ''
  return told('At least', field.min) + told('At most', field.max)
}
