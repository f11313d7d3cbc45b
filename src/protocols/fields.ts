import { type AppError, invalid } from '../core/error.ts'

/* What requests say. Null counts as absent, as clients send it; unknown fields are ignored. */

export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An own field; undefined for null. */
export function field(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? (fields[name] ?? undefined) : undefined
}

export function textField(fields: Fields, name: string, param = name): string | undefined {
  const value = field(fields, name)
  if (value === undefined || typeof value === 'string') return value
  throw wrong(param, 'a string')
}

export function flagField(fields: Fields, name: string, param = name): boolean | undefined {
  const value = field(fields, name)
  if (value === undefined || typeof value === 'boolean') return value
  throw wrong(param, 'a boolean')
}

export function objectField(fields: Fields, name: string, param = name): Fields | undefined {
  const value = field(fields, name)
  if (value === undefined || isFields(value)) return value
  throw wrong(param, 'an object')
}

export function listField(fields: Fields, name: string, param = name): readonly unknown[] | undefined {
  const value = field(fields, name)
  if (value === undefined || Array.isArray(value)) return value
  throw wrong(param, 'a list')
}

/** `param`: as OpenAI writes it, `messages[0].content`. */
export function wrong(param: string, wanted: string): AppError {
  return invalid(`${param} must be ${wanted}.`, param)
}
