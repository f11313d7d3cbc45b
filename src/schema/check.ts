import type { z } from 'zod'
import { AppError, type ErrorDetail } from '../core/error.ts'
import { ofMany } from './field.ts'

/**
 * A value by its schema: as it is resolved, defaults filled in, or undefined and every mistake told to `complain`, the path
 * below `at` and words that follow it.
 */
export function check<S extends z.ZodType>(
  schema: S,
  value: unknown,
  at: string,
  complain: (path: string, message: string) => void,
): z.output<S> | undefined {
  // A schema of settings is used a few times in the life of a process: compiling it would take longer than it saves.
  const result = schema.safeParse(value, { jitless: true })
  if (result.success) return result.data
  for (const issue of result.error.issues) {
    const pathOf = (...keys: PropertyKey[]) =>
      [...(at === '' ? [] : [at]), ...issue.path, ...keys].join('.').replace(/\s+/g, ' ')
    if (issue.code !== 'unrecognized_keys') complain(pathOf(), issue.message)
    else {
      const messages = issue.message.split('\n')
      for (const [index, key] of issue.keys.entries()) complain(pathOf(key), messages[index] ?? '')
    }
  }
  return undefined
}

/** The settings of something that a config makes, as `agent()`. Throws `invalid_request` with every mistake. */
export function checkSettings<S extends z.ZodType>(subject: string, schema: S, value: unknown): z.output<S> {
  const mistakes: ErrorDetail[] = []
  const checked = check(schema, value, '', (path, message) => mistakes.push({ path, message }))
  if (mistakes.length > 0) throw wrongSettings(subject, mistakes)
  return checked as z.output<S>
}

/** One `invalid_request` for all mistakes in the settings of `subject`; each message follows its path. */
function wrongSettings(subject: string, mistakes: readonly ErrorDetail[]): AppError {
  const lines = mistakes.map(({ path, message }) =>
    sentence(path === '' ? `${subject}: the settings ${ofMany(message)}` : `${subject}: \`${path}\` ${message}`),
  )
  return new AppError('invalid_request', lines.join('\n'), { details: [...mistakes] })
}

/** An `invalid_request` about one key, in a sentence of its own. */
export function wrong(path: string, message: string): AppError {
  const details = path === '' ? [] : [{ path, message: sentence(message) }]
  return new AppError('invalid_request', sentence(message), { details })
}

/** With a full stop, unless it has an end already. */
export function sentence(text: string): string {
  return /[.?]$/.test(text) ? text : `${text}.`
}
