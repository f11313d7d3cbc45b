import { valueIn } from '../../core/form/answer.ts'
import type { Field, SingleField } from '../../core/form/fields.ts'
import type { Json } from '../../core/json.ts'

/** What the controls of a property are called. The entries of a list all have the name of the list. */
export function pathTo(name: string, path: string): string {
  return `${path}/${encodeURIComponent(name)}`
}

/** What was filled in; undefined: nothing, and nothing has to be. */
export function filledIn(field: Field, path: string, isRequired: boolean, data: FormData): Json | undefined {
  if (field.kind === 'object') {
    const entries = field.fields.flatMap(({ name, isRequired: isNeeded, field: inner }): [string, Json][] => {
      const value = filledIn(inner, pathTo(name, path), isNeeded, data)
      return value === undefined ? [] : [[name, value]]
    })
    return isRequired || entries.length > 0 ? Object.fromEntries(entries) : undefined
  }
  const texts = data.getAll(path).map(String)
  if (field.kind === 'list')
    return isRequired || texts.length > 0 ? texts.map((text) => valueIn(field.item, text)) : undefined
  const [text = ''] = texts
  return text === '' ? undefined : valueIn(field, text)
}

/** What a control has at first. */
export function textOf(field: SingleField, initial: Json | undefined): string {
  if (field.kind === 'choice') {
    const place = initial === undefined ? -1 : field.options.indexOf(initial)
    return place >= 0 ? String(place) : field.options.length === 1 ? '0' : ''
  }
  if (initial === undefined || initial === null) return ''
  return field.kind === 'text' && field.format === 'date-time' ? localOf(String(initial)) : String(initial)
}

/** As a control for date and time has it, in the time zone of the page. */
function localOf(moment: string): string {
  const date = new Date(moment)
  if (Number.isNaN(date.getTime())) return ''
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
