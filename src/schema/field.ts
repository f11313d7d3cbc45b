import { z } from 'zod'
import { type Duration, parseDuration } from '../core/duration.ts'
import { nearest } from '../core/text/nearest.ts'

/*
 * The kinds of field that settings are made of, each with what it expects. The words follow the field's path:
 * `server.debug must be true or false, not 1`.
 */

interface Problem {
  code?: string | undefined
  input?: unknown
  keys?: readonly string[] | undefined
}

/** The error of a schema that expects `words`. The value of a secret is never shown. */
export function mustBe(words: string, isSecret = false): { error: (problem: Problem) => string } {
  return {
    error: ({ input }) => {
      if (input === undefined) return `is missing; it must be ${words}`
      if (!isSecret) return `must be ${words}, not ${show(input)}`
      return typeof input === 'string' ? `must be ${words}` : `must be ${words}, not ${kindOf(input)}`
    },
  }
}

/** The same words after what is many: the settings, not a field of them. */
export function ofMany(message: string): string {
  return message.replace(/^is missing; it must be /, 'are missing; they must be ')
}

/** What `test` accepts. */
export function is<T>(words: string, test: (value: unknown) => boolean, isSecret = false) {
  return z.custom<T>(test, mustBe(words, isSecret))
}

/** What `problemOf` finds nothing wrong with; its words follow the path. */
export function sound<T>(problemOf: (value: unknown) => string | undefined) {
  return z.custom<T>((value) => problemOf(value) === undefined, { error: ({ input }) => problemOf(input) })
}

/** Whatever somebody else checks. */
export function anything<T>() {
  return z.custom<T>()
}

/** A text, empty or not. */
export function string() {
  return z.string(mustBe('a text'))
}

export function number() {
  return z.number(mustBe('a number'))
}

export function text(words = 'a text that is not empty', isSecret = false) {
  return is<string>(words, (value) => typeof value === 'string' && value.trim() !== '', isSecret)
}

/** A text of this form. */
export function match(words: string, pattern: RegExp) {
  return is<string>(words, (value) => typeof value === 'string' && pattern.test(value))
}

export function flag() {
  return z.boolean(mustBe('true or false'))
}

export function integer(from: number, to: number) {
  return is<number>(
    `a whole number from ${from} to ${to}`,
    (value) => Number.isInteger(value) && Number(value) >= from && Number(value) <= to,
  )
}

export function count() {
  return integer(1, Number.MAX_SAFE_INTEGER)
}

export function oneOf<const T extends readonly string[]>(values: T) {
  const quoted = values.map((value) => `'${value}'`)
  return z.enum(values, mustBe(quoted.length > 2 ? `one of ${quoted.join(', ')}` : quoted.join(' or ')))
}

export function list<T extends z.ZodType>(item: T, words = 'a list') {
  return z.array(item, mustBe(words))
}

/** An object that is given on as it is. */
export function object<T extends object>(words = 'an object') {
  return is<T>(words, isObject)
}

/** Texts by name. Values are secrets as often as not, so they are not shown. */
export function textByName() {
  const value = z.string({ error: () => 'must be a text; is a variable not set?' })
  return z.record(z.string(), value, mustBe('an object of texts'))
}

export function callback<T>() {
  return is<T>('a function', (value) => typeof value === 'function')
}

const someTime = "milliseconds or a time like '500ms', '30s', '10m', '2h' or '30d'"

/** A time above 0 (or from 0), in milliseconds once it is checked. */
export function duration(fromMs = 1, words = someTime, toMs = Number.POSITIVE_INFINITY) {
  const fits = (value: unknown) => {
    const ms = parseDuration(value)
    return ms !== undefined && ms >= fromMs && ms <= toMs
  }
  return is<Duration>(words, fits).transform((value) => parseDuration(value) ?? fromMs)
}

/** An http or https address. */
export function address() {
  return is<string>("an http or https address like 'http://127.0.0.1:8080'", isAddress)
}

export function isAddress(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value) && /^https?:/.test(value)
}

/** Checks by the schema that the value is meant for, which says what is wrong with it. */
export function choose<S extends z.ZodType>(pick: (value: unknown) => S): z.ZodType<z.output<S>, z.input<S>> {
  return z.transform((value, context) => {
    const result = pick(value).safeParse(value, { jitless: true })
    if (result.success) return result.data
    const issues = result.error.issues.map((issue) => ({ ...issue, input: value }) as z.core.$ZodRawIssue)
    context.issues.push(...issues)
    return z.NEVER
  }) as z.ZodType<unknown, unknown> as z.ZodType<z.output<S>, z.input<S>>
}

/** An object with these keys and no others. `renamed` has the new word for each old one, which is refused. */
export function settings<S extends z.core.$ZodLooseShape>(
  shape: S,
  renamed: Readonly<Record<string, string>> = {},
): z.ZodObject<S, z.core.$strict> {
  const known = Object.keys(shape)
  const wrongKind = mustBe(`an object with ${known.join(', ')}`)
  return z.strictObject(shape, {
    error: (problem: Problem) =>
      problem.code === 'unrecognized_keys'
        ? (problem.keys ?? []).map((key) => unknownKey(key, known, renamed)).join('\n')
        : wrongKind.error(problem),
  })
}

function unknownKey(key: string, known: readonly string[], renamed: Readonly<Record<string, string>>): string {
  if (Object.hasOwn(renamed, key)) return `is now called '${renamed[key]}': rename it`
  const meant = nearest(key, known)
  return meant === undefined
    ? `is not a setting; expected one of ${known.join(', ')}`
    : `is not a setting; did you mean '${meant}'?`
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value in a message: short, on one line; of what is no text, number or boolean only its kind. */
export function show(value: unknown): string {
  if (typeof value === 'string') return value.length > 60 ? `'${value.slice(0, 60)}…'` : `'${value}'`
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  return kindOf(value)
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'a list'
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
}
