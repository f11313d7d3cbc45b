import type { Json } from '../json.ts'
import type { SingleField } from './fields.ts'

/** What the text that was filled in amounts to, or what is wrong with it, in words. */
export function answerOf(field: SingleField, text: string): { value: Json } | { problem: string } {
  if (text === '') return { problem: 'Fill this in.' }
  const problem = problemOf(field, text)
  return problem === undefined ? { value: valueIn(field, text) } : { problem }
}

/** Of a text that fits. */
export function valueIn(field: SingleField, text: string): Json {
  switch (field.kind) {
    case 'choice':
      return field.options[Number(text)] ?? null
    case 'boolean':
      return text === 'true'
    case 'number':
      return Number(text)
    case 'text':
      return field.format === 'date-time' ? new Date(text).toISOString() : text
  }
}

function problemOf(field: SingleField, text: string): string | undefined {
  if (field.kind === 'number') return numberProblem(field, text)
  return field.kind === 'text' ? textProblem(field, text) : undefined
}

function numberProblem(field: Extract<SingleField, { kind: 'number' }>, text: string): string | undefined {
  const { isInteger, min, max, above, below, step } = field
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) return 'This is not a number.'
  if (isInteger && !Number.isInteger(value)) return 'This must be a whole number.'
  if (value < min) return `This must be at least ${min}.`
  if (value > max) return `This must be at most ${max}.`
  if (value <= above) return `This must be more than ${above}.`
  if (value >= below) return `This must be less than ${below}.`
  const isStep = step === undefined || Math.abs(value / step - Math.round(value / step)) < 1e-9
  return isStep ? undefined : `This must be a multiple of ${step}.`
}

function textProblem(field: Extract<SingleField, { kind: 'text' }>, text: string): string | undefined {
  const { format, minLength, maxLength, pattern } = field
  if (format === 'date-time') return Number.isNaN(Date.parse(text)) ? 'This is not a date with a time.' : undefined
  if (format === 'date' && !/^\d{4}-\d{2}-\d{2}$/.test(text)) return 'This is not a date, like 2026-01-31.'
  // As JSON Schema counts: in characters, not in halves of them.
  const { length } = [...text]
  if (length < minLength) return `At least ${minLength} characters are needed.`
  if (length > maxLength) return `At most ${maxLength} characters are possible.`
  return pattern === undefined || fits(text, pattern) ? undefined : `This must match ${pattern}`
}

/** A pattern that this program can't read is left to the server. */
function fits(text: string, pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    return true
  }
}
