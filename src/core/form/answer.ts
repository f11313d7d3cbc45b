import type { Json } from '../json.ts'
import type { Field } from './fields.ts'

/** What a person has filled in so far: text of one field, or those of its parts. */
export type Draft = string | Draft[] | { [name: string]: Draft }

/** By the path of the field, dotted; `''` for the whole answer. */
export type Problems = ReadonlyMap<string, string>

/** The form as it is before anybody wrote in it. */
export function draftOf(field: Field, initial: Json | undefined = field.initial): Draft {
  switch (field.kind) {
    case 'object': {
      const given = typeof initial === 'object' && initial !== null && !Array.isArray(initial) ? initial : {}
      return Object.fromEntries(
        field.fields.map(({ name, field: inner }) => [name, draftOf(inner, given[name] ?? inner.initial)]),
      )
    }
    case 'list': {
      const given = Array.isArray(initial) ? initial : []
      const blank = Math.max(0, Math.min(field.minItems, 20) - given.length)
      return [...given.map((item) => draftOf(field.item, item)), ...Array<Draft>(blank).fill('')]
    }
    case 'choice': {
      const place = field.options.indexOf(initial ?? Number.NaN)
      return place >= 0 ? String(place) : field.options.length === 1 ? '0' : ''
    }
    case 'text':
      if (typeof initial !== 'string') return ''
      return field.format === 'date-time' ? localOf(initial) : initial
    default:
      return initial === undefined || initial === null ? '' : String(initial)
  }
}

/** The answer that the form amounts to, or what is wrong with each field, in words. */
export function answerOf(field: Field, draft: Draft): { value: Json } | { problems: Problems } {
  const problems = new Map<string, string>()
  const value = read(field, draft, true, '', problems)
  return problems.size > 0 || value === undefined ? { problems } : { value }
}

function read(field: Field, draft: Draft, isRequired: boolean, path: string, problems: Map<string, string>) {
  if (isBlank(draft) && !isRequired) return undefined
  const value = readPart(field, draft, path, problems)
  if (value === undefined && !problems.has(path)) problems.set(path, 'Fill this in.')
  return value
}

function readPart(field: Field, draft: Draft, path: string, problems: Map<string, string>): Json | undefined {
  const at = (name: string | number) => (path === '' ? String(name) : `${path}.${name}`)
  if (field.kind === 'object') {
    const parts = draft as { [name: string]: Draft }
    const entries: [string, Json][] = []
    for (const { name, isRequired, field: inner } of field.fields) {
      const value = read(inner, parts[name] ?? '', isRequired, at(name), problems)
      if (value !== undefined) entries.push([name, value])
    }
    return Object.fromEntries(entries)
  }
  if (field.kind === 'list') {
    const items = (draft as Draft[]).map((item, place) => read(field.item, item, true, at(place), problems))
    const problem = countProblem(field, items.length)
    if (problem !== undefined) problems.set(path, problem)
    return items.filter((item) => item !== undefined)
  }
  const text = draft as string
  if (text === '') return undefined
  if (field.kind === 'boolean') return text === 'true'
  if (field.kind === 'choice') return field.options[Number(text)]
  const [value, problem] = field.kind === 'number' ? numberOf(field, text) : textOf(field, text)
  if (problem !== undefined) problems.set(path, problem)
  return value
}

function isBlank(draft: Draft): boolean {
  if (typeof draft === 'string') return draft === ''
  return Object.values(draft).every(isBlank)
}

function countProblem({ minItems, maxItems }: Extract<Field, { kind: 'list' }>, count: number): string | undefined {
  if (count < minItems) return `At least ${minItems} ${minItems === 1 ? 'entry is' : 'entries are'} needed.`
  return count > maxItems ? `At most ${maxItems} entries are possible.` : undefined
}

type Read = [value: Json | undefined, problem: string | undefined]

function numberOf(field: Extract<Field, { kind: 'number' }>, text: string): Read {
  const { isInteger, min, max, above, below, step } = field
  const value = Number(text.trim())
  if (text.trim() === '' || !Number.isFinite(value)) return [undefined, 'This is not a number.']
  if (isInteger && !Number.isInteger(value)) return [value, 'This must be a whole number.']
  if (value < min) return [value, `This must be at least ${min}.`]
  if (value > max) return [value, `This must be at most ${max}.`]
  if (value <= above) return [value, `This must be more than ${above}.`]
  if (value >= below) return [value, `This must be less than ${below}.`]
  const isStep = step === undefined || Math.abs(value / step - Math.round(value / step)) < 1e-9
  return [value, isStep ? undefined : `This must be a multiple of ${step}.`]
}

function textOf(field: Extract<Field, { kind: 'text' }>, text: string): Read {
  const { format, minLength, maxLength, pattern } = field
  if (format === 'date-time') {
    const date = new Date(text)
    return Number.isNaN(date.getTime())
      ? [undefined, 'This is not a date with a time.']
      : [date.toISOString(), undefined]
  }
  if (format === 'date' && !/^\d{4}-\d{2}-\d{2}$/.test(text)) return [text, 'This is not a date, like 2026-01-31.']
  // As JSON Schema counts: in characters, not in halves of them.
  const { length } = [...text]
  if (length < minLength) return [text, `At least ${minLength} characters are needed.`]
  if (length > maxLength) return [text, `At most ${maxLength} characters are possible.`]
  return [text, pattern === undefined || fits(text, pattern) ? undefined : `This must match ${pattern}`]
}

/** A pattern that this browser can't read is left to the server. */
function fits(text: string, pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    return true
  }
}

/** As a field for date and time has it, in the time zone of the page. */
function localOf(moment: string): string {
  const date = new Date(moment)
  if (Number.isNaN(date.getTime())) return ''
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
