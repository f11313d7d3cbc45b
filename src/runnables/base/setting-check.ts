import { parseDuration } from '../../core/duration.ts'
import { AppError } from '../../core/error.ts'
import { nearest } from '../../core/text/nearest.ts'

/** What a setting may be: a JavaScript type, or a check that gives what is wrong, or nothing. */
export type SettingRule =
  | 'string'
  | 'number'
  | 'boolean'
  | 'function'
  | 'object'
  | 'array'
  | 'any'
  | ((value: unknown) => string | undefined)

/**
 * Throws `invalid_request` naming the first key that is unknown or of the wrong type, and what is allowed. `subject` begins
 * the message: `agent()`, `knowledge`. A key that is `undefined` counts as left out. `renamed` names the new word for each
 * old one.
 */
export function checkSettings(
  subject: string,
  settings: unknown,
  rules: Readonly<Record<string, SettingRule>>,
  path = '',
  renamed: Readonly<Record<string, string>> = {},
): void {
  if (!isObject(settings)) throw wrong(path, `${subject} takes an object of settings, not ${describe(settings)}`)
  for (const [key, value] of Object.entries(settings)) {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined
    const at = path === '' ? key : `${path}.${key}`
    if (Object.hasOwn(renamed, key))
      throw wrong(at, `${subject}: \`${at}\` is now called \`${renamed[key]}\`: rename it`)
    if (rule === undefined) throw wrong(at, `${subject} does not know \`${at}\`${suggest(key, Object.keys(rules))}`)
    if (value === undefined) continue
    const problem = problemOf(rule, value)
    if (problem !== undefined) throw wrong(at, `${subject}: \`${at}\` ${problem}`)
  }
}

function suggest(key: string, known: readonly string[]): string {
  const meant = nearest(key, known)
  return meant === undefined ? `. Allowed: ${known.join(', ')}` : `; did you mean \`${meant}\`?`
}

function problemOf(rule: SettingRule, value: unknown): string | undefined {
  if (typeof rule === 'function') return rule(value)
  const fits =
    rule === 'any' ||
    (rule === 'object' ? isObject(value) : rule === 'array' ? Array.isArray(value) : typeof value === rule)
  return fits
    ? undefined
    : `must be ${rule === 'object' || rule === 'array' ? 'an' : 'a'} ${rule}, not ${describe(value)}`
}

export function wrong(path: string, message: string): AppError {
  const sentence = message.endsWith('?') ? message : `${message}.`
  return new AppError('invalid_request', sentence, { details: path === '' ? [] : [{ path, message: sentence }] })
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function oneOf(...allowed: readonly string[]): SettingRule {
  const list = allowed.map((name) => `'${name}'`).join(' or ')
  return (value) => (allowed.includes(value as string) ? undefined : `must be ${list}, not ${describe(value)}`)
}

export function wholeNumber(from: number, to: number): SettingRule {
  return (value) =>
    Number.isInteger(value) && Number(value) >= from && Number(value) <= to
      ? undefined
      : `must be a whole number from ${from} to ${to}, not ${describe(value)}`
}

export const duration: SettingRule = (value) => {
  const ms = parseDuration(value)
  return ms !== undefined && ms > 0
    ? undefined
    : `must be milliseconds or a time like '30s', '10m', not ${describe(value)}`
}

/** The value in a message: strings and numbers as they are, of others the type. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return `'${value.slice(0, 60)}'`
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value === null || value === undefined) return String(value)
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
