import { AppError, type ErrorDetail, invalid } from '../core/error.ts'
import type { Json, JsonObject } from '../core/json.ts'

/** An argument of a tool. `anything`: any JSON value. */
export type Argument = { description: string; required?: true } & (
  | { type: 'text'; most: number; pattern?: RegExp; says?: string }
  | { type: 'integer'; from: number; to: number }
  | { type: 'flag' }
  | { type: 'anything' }
)
export type Arguments = Readonly<Record<string, Argument>>

/** The JSON schema of a tool's input. */
export function schemaOf(given: Arguments): {
  type: 'object'
  properties: Record<string, JsonObject>
  required?: string[]
} {
  const required = Object.keys(given).filter((name) => given[name]?.required)
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(given).map(([name, argument]) => [name, propertyOf(argument)])),
    ...(required.length > 0 && { required }),
  }
}

function propertyOf({ description, ...argument }: Argument): JsonObject {
  switch (argument.type) {
    case 'text':
      return {
        type: 'string',
        description,
        minLength: 1,
        maxLength: argument.most,
        ...(argument.pattern && { pattern: argument.pattern.source }),
      }
    case 'integer':
      return { type: 'integer', description, minimum: argument.from, maximum: argument.to }
    case 'flag':
      return { type: 'boolean', description }
    default:
      return { description }
  }
}

/** What a model gave a tool. Others than those of the tool are ignored, and `null` counts as absent, except for `anything`. */
export class GivenArguments {
  readonly #values = new Map<string, Json>()

  /** Throws `invalid_request` with every mistake. */
  constructor(expected: Arguments, given: unknown) {
    if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given))) {
      throw invalid('The arguments must be an object.')
    }
    const mistakes: ErrorDetail[] = []
    for (const [name, argument] of Object.entries(expected)) {
      const value =
        given !== undefined && Object.hasOwn(given, name) ? (given as Record<string, Json>)[name] : undefined
      if (value === undefined || (value === null && argument.type !== 'anything')) {
        if (argument.required) mistakes.push({ path: name, message: 'is required' })
        continue
      }
      const mistake = mistakeIn(argument, value)
      if (mistake === undefined) this.#values.set(name, value)
      else mistakes.push({ path: name, message: mistake })
    }
    if (mistakes.length > 0) {
      const sentences = mistakes.map(({ path, message }) => `\`${path}\` ${message}.`)
      throw new AppError('invalid_request', sentences.join(' '), { details: mistakes })
    }
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name)
    return typeof value === 'string' ? value : undefined
  }

  integer(name: string): number | undefined {
    const value = this.#values.get(name)
    return typeof value === 'number' ? value : undefined
  }

  flag(name: string): boolean | undefined {
    const value = this.#values.get(name)
    return typeof value === 'boolean' ? value : undefined
  }

  anything(name: string): Json | undefined {
    return this.#values.get(name)
  }
}

function mistakeIn(argument: Argument, value: Json): string | undefined {
  switch (argument.type) {
    case 'text':
      if (typeof value !== 'string') return 'must be a string'
      if (value.trim() === '') return 'must not be empty'
      if (value.length > argument.most) return `must have at most ${argument.most} characters`
      return argument.pattern?.test(value) === false
        ? (argument.says ?? 'has characters that are not allowed')
        : undefined
    case 'integer': {
      const { from, to } = argument
      const fits = typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to
      return fits ? undefined : `must be an integer from ${from} to ${to}`
    }
    case 'flag':
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    default:
      return undefined
  }
}
