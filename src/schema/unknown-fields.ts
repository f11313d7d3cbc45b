import type { z } from 'zod'
import type { ErrorDetail } from '../core/error.ts'
import { nearest } from '../core/text/nearest.ts'
import { isObject } from './field.ts'

/** What is read of a schema's definition, whatever its kind. */
interface Definition {
  type: string
  shape?: Record<string, z.core.$ZodType>
  /** Of fields beside the shape; `never` refuses them. */
  catchall?: z.core.$ZodType
  innerType?: z.core.$ZodType
  element?: z.core.$ZodType
  valueType?: z.core.$ZodType
  in?: z.core.$ZodType
  options?: readonly z.core.$ZodType[]
  discriminator?: string
}

const few = 8

/**
 * The fields of a value that its schema does not know, at every depth that it describes, each with the name that may have
 * been meant. Objects that may hold anything have none.
 */
export function unknownFields(schema: z.core.$ZodType, value: unknown, path: readonly string[] = []): ErrorDetail[] {
  if (typeof value !== 'object' || value === null) return []
  const { type, shape, innerType, element, valueType, options = [], ...more } = definitionOf(schema)
  const inner = innerType ?? more.in
  if (inner !== undefined) return unknownFields(inner, value, path)
  if (Array.isArray(value)) {
    if (element === undefined) return unionFields(options, value, path)
    return value.flatMap((item, at) => unknownFields(element, item, [...path, String(at)]))
  }
  if (!isObject(value)) return []
  if (type === 'record' && valueType !== undefined)
    return Object.entries(value).flatMap(([name, field]) => unknownFields(valueType, field, [...path, name]))
  if (shape === undefined) return unionFields(options, value, path, more.discriminator)
  const isOpen = more.catchall !== undefined && definitionOf(more.catchall).type !== 'never'
  return Object.entries(value).flatMap(([name, field]) => {
    const known = Object.hasOwn(shape, name) ? shape[name] : undefined
    if (known !== undefined) return unknownFields(known, field, [...path, name])
    return isOpen ? [] : { path: [...path, name].join('.'), message: describe(name, Object.keys(shape)) }
  })
}

/** Those of the option that the value is of; none when it is of none, which is another error. */
function unionFields(
  options: readonly z.core.$ZodType[],
  value: object,
  path: readonly string[],
  discriminator?: string,
): ErrorDetail[] {
  const isMeant = (option: z.core.$ZodType) => {
    if (discriminator === undefined) return (option as z.ZodType).safeParse(value).success
    const named = definitionOf(option).shape?.[discriminator] as z.ZodType | undefined
    return named?.safeParse((value as Record<string, unknown>)[discriminator]).success === true
  }
  const found = options.filter(isMeant).map((option) => unknownFields(option, value, path))
  return found.sort((one, other) => one.length - other.length)[0] ?? []
}

function definitionOf(schema: z.core.$ZodType): Definition {
  return schema._zod.def as unknown as Definition
}

function describe(name: string, known: readonly string[]): string {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  if (known.includes(snake)) return `is not a field; it is called ${snake}`
  const meant = nearest(name, known)
  if (meant !== undefined) return `is not a field; did you mean ${meant}?`
  const others = known.length > few ? ' and others' : ''
  return `is not a field; there are ${known.slice(0, few).join(', ')}${others}`
}
