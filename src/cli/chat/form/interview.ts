import { answerOf } from '../../../core/form/answer.ts'
import { type Field, fieldOf, type SingleField } from '../../../core/form/fields.ts'
import type { Json, JsonObject } from '../../../core/json.ts'
import { terminalLine, terminalText } from '../../terminal/text.ts'

/** One question of a form. Texts are safe for the terminal. */
export interface Step {
  /** What is asked for, and in brackets what an empty line takes; empty where the whole form is one question. */
  label: string
  /** What may be answered: the description, the range, the options. */
  about: readonly string[]
  isSecret: boolean
}

/** Asks for what a schema describes, one field after the other. An answer that does not fit is asked for again. */
export class Interview {
  readonly #field: Field | undefined
  readonly #schema: JsonObject
  #steps: Generator<Step, Json | undefined, string>
  #answers: string[] = []
  #step: Step | undefined
  #value: Json | undefined
  #problem: string | undefined

  constructor(schema: JsonObject) {
    this.#schema = schema
    this.#field = fieldOf(schema)
    this.#steps = this.#begin()
    this.#take(this.#steps.next())
  }

  /** The question that is open; undefined: the form is filled in. */
  get step(): Step | undefined {
    return this.#step
  }

  get value(): Json | undefined {
    return this.#value
  }

  /** Answers the open question. Gives what is wrong with the answer, if anything. */
  answer(text: string): string | undefined {
    this.#problem = undefined
    this.#take(this.#steps.next(text))
    if (this.#problem === undefined) this.#answers.push(text)
    return this.#problem
  }

  /** Opens the question before; false at the first one. */
  back(): boolean {
    if (this.#answers.length === 0) return false
    const kept = this.#answers.slice(0, -1)
    this.#answers = []
    this.#steps = this.#begin()
    this.#take(this.#steps.next())
    for (const text of kept) this.answer(text)
    return true
  }

  #take({ done, value }: IteratorResult<Step, Json | undefined>): void {
    this.#step = done ? undefined : value
    if (done) this.#value = value
  }

  #begin(): Generator<Step, Json | undefined, string> {
    if (this.#field !== undefined) return this.#ask(this.#field, '', true)
    return this.#askJson()
  }

  *#ask(field: Field, name: string, isRequired: boolean): Generator<Step, Json | undefined, string> {
    if (field.kind === 'object') return yield* this.#askObject(field, name, isRequired)
    if (field.kind === 'list') return yield* this.#askList(field, name, isRequired)
    return yield* this.#askSingle(field, name, isRequired)
  }

  *#askObject(field: Extract<Field, { kind: 'object' }>, name: string, isRequired: boolean) {
    if (!isRequired) {
      const wanted: Field = { kind: 'boolean', title: undefined, description: field.description, initial: false }
      if ((yield* this.#askSingle(wanted, `fill in ${labelOf(field, name)}`, false)) !== true) return undefined
    }
    const entries: [string, Json][] = []
    for (const one of field.fields) {
      const path = name === '' ? one.name : `${name}.${one.name}`
      const value: Json | undefined = yield* this.#ask(one.field, path, one.isRequired)
      if (value !== undefined) entries.push([one.name, value])
    }
    return Object.fromEntries(entries)
  }

  *#askList(field: Extract<Field, { kind: 'list' }>, name: string, isRequired: boolean) {
    const { item, initial, minItems, maxItems } = field
    const items: Json[] = []
    const end = Array.isArray(initial) ? `an empty line takes ${inShort(initial)}` : 'an empty line ends the list'
    while (items.length < maxItems) {
      const label = `${labelOf(field, name)}, entry ${items.length + 1}`
      const about = [...aboutOf(field), items.length === 0 ? end : 'an empty line ends the list', ...aboutOf(item)]
      const text: string = yield { label, about, isSecret: item.kind === 'text' && item.isSecret }
      if (text === '') {
        if (items.length === 0 && Array.isArray(initial)) return initial
        if (items.length === 0 && !isRequired) return undefined
        if (items.length >= minItems) break
        this.#problem = `At least ${minItems} ${minItems === 1 ? 'entry is' : 'entries are'} needed.`
        continue
      }
      const value = this.#read(item, text)
      if (value !== undefined) items.push(value)
    }
    return items
  }

  *#askSingle(field: SingleField, name: string, isRequired: boolean) {
    const { initial } = field
    const otherwise = initial !== undefined ? ` [${inShort(initial)}]` : isRequired ? '' : ' (optional)'
    for (;;) {
      const step = { label: labelOf(field, name) + otherwise, about: aboutOf(field) }
      const text: string = yield { ...step, isSecret: field.kind === 'text' && field.isSecret }
      if (text === '') {
        if (initial !== undefined) return initial
        if (!isRequired) return undefined
        this.#problem = 'Fill this in.'
        continue
      }
      const value = this.#read(field, text)
      if (value !== undefined) return value
    }
  }

  *#askJson(): Generator<Step, Json | undefined, string> {
    for (;;) {
      const text = yield { label: '', about: ['As JSON, by this schema:', inShort(this.#schema)], isSecret: false }
      try {
        return JSON.parse(text) as Json
      } catch (error) {
        this.#problem = `This is not JSON: ${terminalLine(error instanceof Error ? error.message : String(error))}`
      }
    }
  }

  #read(field: SingleField, text: string): Json | undefined {
    const draft = draftFor(field, text)
    if (draft === undefined) {
      this.#problem = field.kind === 'boolean' ? 'y for yes, n for no.' : 'This is none of the choices.'
      return undefined
    }
    const answer = answerOf(field, draft)
    if ('value' in answer) return answer.value
    this.#problem = terminalLine(answer.problem)
    return undefined
  }
}

/** What the form of a page would have for a typed text. A choice is typed as it is, or by its number. */
function draftFor(field: SingleField, text: string): string | undefined {
  if (field.kind === 'boolean') {
    const [, yes, no] = /^(?:(y|yes|true)|(n|no|false))$/i.exec(text) ?? []
    return yes !== undefined ? 'true' : no !== undefined ? 'false' : undefined
  }
  if (field.kind !== 'choice') return text
  const words = field.options.map((option) => wordOf(option).toLowerCase())
  const named = words.indexOf(text.toLowerCase())
  if (named >= 0) return String(named)
  const number = /^\d+$/.test(text) ? Number(text) : 0
  return number >= 1 && number <= words.length ? String(number - 1) : undefined
}

function labelOf({ title }: Field, name: string): string {
  return terminalLine(title ?? name)
}

function aboutOf(field: Field): string[] {
  const about = field.description === undefined ? [] : [terminalText(field.description)]
  if (field.kind === 'boolean') return [...about, 'y or n']
  if (field.kind === 'choice')
    return [...about, ...field.options.map((option, place) => `${place + 1}  ${terminalLine(wordOf(option))}`)]
  if (field.kind === 'number') return [...about, ...rangeOf(field)]
  if (field.kind === 'text' && field.format === 'date') return [...about, 'a date, like 2026-01-31']
  if (field.kind === 'text' && field.format === 'date-time') return [...about, 'a time, like 2026-01-31 18:30']
  return about
}

function rangeOf({ isInteger, min, max }: Extract<Field, { kind: 'number' }>): string[] {
  const what = isInteger ? 'a whole number' : 'a number'
  // Limits that only say what a number can be at all.
  const isReal = (limit: number) => Math.abs(limit) < Number.MAX_SAFE_INTEGER
  if (isReal(min) && isReal(max)) return [`${what} from ${min} to ${max}`]
  if (isReal(min)) return [`${what}, at least ${min}`]
  return [isReal(max) ? `${what}, at most ${max}` : what]
}

function wordOf(option: Json): string {
  return typeof option === 'string' ? option : JSON.stringify(option)
}

function inShort(value: Json): string {
  const text = terminalLine(wordOf(value).slice(0, 2000))
  return text.length > 600 ? `${text.slice(0, 600)}…` : text
}
