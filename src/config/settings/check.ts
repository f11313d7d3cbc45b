import { nearest } from '../../core/text/nearest.ts'

/** Reports what is wrong with the value of one key. */
export type Complain = (key: string, message: string) => void
/** Looks at a value that is present. */
export type Check = (value: unknown, key: string, complain: Complain) => void

/** Passes what `test` accepts. The value of a secret is never shown. */
export function is(allowed: string, test: (value: unknown) => boolean, secret = false): Check {
  return (value, key, complain) => {
    if (!test(value)) complain(key, `is ${secret ? describe(value) : show(value)}; allowed: ${allowed}`)
  }
}

export function oneOf(...values: readonly string[]): Check {
  return is(values.map((value) => `'${value}'`).join(', '), (value) => values.includes(value as string))
}

export function integer(least: number, most: number): Check {
  return is(
    `an integer from ${least} to ${most}`,
    (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  )
}

export function listOf(check: Check): Check {
  return (value, key, complain) => {
    if (!Array.isArray(value)) complain(key, `is ${show(value)}; allowed: a list`)
    else for (const [index, item] of value.entries()) check(item, `${key}.${index}`, complain)
  }
}

/** An object with these keys and no others. `renamed` names the new word for each old one. */
export function fields(checks: Record<string, Check>, renamed: Readonly<Record<string, string>> = {}): Check {
  const known = Object.keys(checks)
  return (value, key, complain) => {
    if (!isPlain(value)) {
      complain(key, `is ${show(value)}; allowed: an object with ${known.join(', ')}`)
      return
    }
    for (const [name, item] of Object.entries(value)) {
      const path = key === '' ? name : `${key}.${name}`
      const check = Object.hasOwn(checks, name) ? checks[name] : undefined
      if (Object.hasOwn(renamed, name)) complain(path, `is now called '${renamed[name]}': rename it`)
      else if (check === undefined) complain(path, `is not a setting; ${suggest(name, known)}`)
      else if (item !== undefined) check(item, path, complain)
    }
  }
}

function suggest(name: string, known: readonly string[]): string {
  const meant = nearest(name, known)
  return meant === undefined ? `known here: ${known.join(', ')}` : `did you mean '${meant}'`
}

export function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (value === '') return 'an empty text'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'string' ? 'a text' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
}

/** A value as a complaint shows it: short, on one line. */
export function show(value: unknown): string {
  if (typeof value === 'string') return value.length > 60 ? `'${value.slice(0, 60)}…'` : `'${value}'`
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  return describe(value)
}
