import { AppError } from '../../core/error.ts'
import type { RunContext, RunInput } from '../../core/runnable.ts'

interface Issue {
  message: string
  path?: readonly (PropertyKey | { key: PropertyKey })[] | undefined
}
type ValidationResult<T> = { value: T; issues?: undefined } | { issues: readonly Issue[] }

/** Any schema that follows Standard Schema: zod, valibot, arktype. */
export interface InputSchema<T = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => ValidationResult<T> | Promise<ValidationResult<T>>
    readonly types?: { readonly input: unknown; readonly output: T } | undefined
  }
}

const maxIssues = 20

export function isInputSchema(value: unknown): value is InputSchema {
  return (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value
}

/**
 * The checked input: the first data part, else the text read as JSON, else the text itself. Throws `invalid_request`
 * naming the path (`input.topic`).
 */
export async function readInput<T>(schema: InputSchema<T>, { parts, text }: RunInput): Promise<T> {
  const data = parts.find((part) => part.type === 'data')
  const candidates = data === undefined ? readings(text) : [data.data]
  let first: readonly Issue[] | undefined
  for (const candidate of candidates) {
    const outcome = await schema['~standard'].validate(candidate)
    if (outcome.issues === undefined) return outcome.value
    first ??= outcome.issues
  }
  throw wrongValue(
    "The workflow's input is not valid",
    'input',
    first ?? [],
    ' Send it as an object, as a data part or as JSON text.',
  )
}

/** Throws as `readInput` does. */
export async function checkInput(schema: InputSchema | undefined, input: RunInput): Promise<void> {
  if (schema !== undefined) await readInput(schema, input)
}

/** Validates the session's state and replaces its content in place. Throws `invalid_request` naming the path. */
export async function readState<T extends object>(
  schema: InputSchema<T> | undefined,
  { state }: RunContext,
): Promise<T> {
  if (schema !== undefined) {
    const outcome = await schema['~standard'].validate(state)
    if (outcome.issues !== undefined)
      throw wrongValue("The session's state does not match the workflow's `state` schema", 'state', outcome.issues)
    Object.assign(state, outcome.value)
  }
  return state as object as T
}

function readings(text: string): unknown[] {
  try {
    return [JSON.parse(text), text]
  } catch {
    return [text]
  }
}

function wrongValue(what: string, root: string, issues: readonly Issue[], hint = ''): AppError {
  const details = issues.slice(0, maxIssues).map(({ path = [], message }) => {
    const keys = path.map((key) => String(typeof key === 'object' ? key.key : key))
    return { path: [root, ...keys].join('.'), message }
  })
  const left = issues.length - details.length
  const more = left > 0 ? `; and ${left} more` : ''
  const listed = details.map(({ path, message }) => `${path}: ${message}`).join('; ') + more
  return new AppError('invalid_request', `${what}: ${listed}.${hint}`, { details })
}
