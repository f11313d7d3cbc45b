import { z } from 'zod'
import type { Json, JsonObject } from '../core/json.ts'
import { isMoment } from '../core/time.ts'
import { isObject } from './field.ts'

/*
 * The kinds of fields in requests and answers, each with its error text. The text follows the field's path: `limit must
 * be an integer from 1 to 100`.
 */

type Said = { error: (issue: { input?: unknown }) => string }

/** `is required` for a missing value, otherwise the given text. */
export function said(words: string): Said {
  return { error: (issue) => (issue.input === undefined ? 'is required' : words) }
}

/** Text of `min` to `max` UTF-16 units. */
export function text(min = 1, max?: number): z.ZodString {
  const schema = z.string(said('must be a string')).min(min, { error: 'must not be empty' })
  return max === undefined ? schema : schema.max(max, { error: `must have at most ${max} characters` })
}

export function integer(min: number, max?: number): z.ZodInt {
  const words = max === undefined ? `must be an integer of at least ${min}` : `must be an integer from ${min} to ${max}`
  const schema = z.int(said(words)).min(min, { error: words })
  return max === undefined ? schema : schema.max(max, { error: words })
}

export function flag(): z.ZodBoolean {
  return z.boolean(said('must be true or false'))
}

export function oneOf<const T extends readonly string[]>(values: T): z.ZodEnum<{ [K in T[number]]: K }> {
  return z.enum(values, said(`must be one of ${values.join(', ')}`))
}

/** Any JSON object. Not validated further: it comes from `JSON.parse`. */
export function jsonObject() {
  return z
    .custom<JsonObject>(isObject, said('must be a JSON object'))
    .meta({ type: 'object', additionalProperties: true })
}

/** Any JSON value except `undefined`. */
export function json() {
  return z.custom<Json>((value) => value !== undefined, said('must be a JSON value')).meta({})
}

/** An id that callers choose: agents, teams, workflows, users. */
export function id(): z.ZodString {
  return text(1, 256)
}

/** RFC 3339 in UTC with milliseconds, in answers. */
export function timestamp(): z.ZodString {
  return z.string().meta({ format: 'date-time' })
}

const momentWords = 'must be a time such as 2026-01-05T09:30:00.000Z'
/** A time in a request: RFC 3339 in UTC with milliseconds, as times are stored. */
export const moment = z
  .string(said(momentWords))
  .refine((value) => isMoment(value), { error: momentWords })
  .meta({ format: 'date-time' })
