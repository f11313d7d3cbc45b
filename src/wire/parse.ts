import type { z } from 'zod'
import { AppError } from '../core/error.ts'
import { isObject } from '../schema/field.ts'
import { checkRequest, withoutNulls, wrongRequest } from '../schema/request.ts'

type Kind = 'number' | 'boolean' | 'object' | 'text'

/** What is known about a schema's fields in advance: their kinds, and the camelCase names to refuse. */
interface Shape {
  kinds: Map<string, Kind>
  misspelled: Map<string, string>
}

const shapes = new WeakMap<z.ZodObject, Shape>()

/**
 * Validates a request body; throws `invalid_request` with the paths of wrong fields and the expected values. An
 * absent body is `{}`. Unknown fields are dropped, but the camelCase name of a known field is refused. `null` means
 * absent, unless `nulls` is `keep`.
 */
export function parseBody<S extends z.ZodObject>(
  schema: S,
  value: unknown,
  nulls: 'absent' | 'keep' = 'absent',
): z.infer<S> {
  if (value === undefined) return checkRequest(schema, {})
  if (!isObject(value)) throw new AppError('invalid_request', 'The body must be a JSON object.')
  const { misspelled } = shapeOf(schema)
  let hasNull = false
  for (const name in value) {
    refuseMisspelled(misspelled, name)
    if (value[name] === null) hasNull = true
  }
  return checkRequest(schema, hasNull && nulls === 'absent' ? withoutNulls(value) : value)
}

/** Converts text to the schema's types; `parseJson` reads object fields. Throws as `parseBody` does. */
export function parseQuery<S extends z.ZodObject>(
  schema: S,
  entries: Iterable<[string, string]>,
  parseJson: (text: string) => unknown = JSON.parse,
): z.infer<S> {
  const { kinds, misspelled } = shapeOf(schema)
  const values: Record<string, unknown> = {}
  for (const [name, text] of entries) {
    refuseMisspelled(misspelled, name)
    const kind = kinds.get(name)
    if (kind === undefined) continue
    if (Object.hasOwn(values, name)) throw wrongRequest([{ path: name, message: 'must be given once' }])
    values[name] = kind === 'object' ? readJson(text, parseJson) : read(kind, text)
  }
  return checkRequest(schema, values)
}

/** Text that is invalid for its kind stays text, so that the schema reports it. */
function read(kind: Kind, text: string): unknown {
  if (kind === 'number') return /^\d+$/.test(text) ? Number(text) : text
  if (kind === 'boolean') return /^(true|1)$/i.test(text) ? true : /^(false|0)$/i.test(text) ? false : text
  return text
}

function readJson(text: string, parseJson: (text: string) => unknown): unknown {
  try {
    return parseJson(text)
  } catch {
    return text
  }
}

function refuseMisspelled(misspelled: Map<string, string>, name: string): void {
  const right = misspelled.get(name)
  if (right !== undefined) throw wrongRequest([{ path: name, message: `is not a field; it is called ${right}` }])
}

function shapeOf(schema: z.ZodObject): Shape {
  const known = shapes.get(schema)
  if (known !== undefined) return known
  const shape: Shape = { kinds: new Map(), misspelled: new Map() }
  for (const [name, field] of Object.entries(schema.shape)) {
    shape.kinds.set(name, kindOf(field))
    const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    if (camel !== name) shape.misspelled.set(camel, name)
  }
  shapes.set(schema, shape)
  return shape
}

function kindOf(field: z.core.$ZodType): Kind {
  const def = field._zod.def as z.core.$ZodTypeDef & { innerType?: z.core.$ZodType }
  if (def.innerType !== undefined) return kindOf(def.innerType)
  if (def.type === 'number' || def.type === 'boolean') return def.type
  return def.type === 'custom' ? 'object' : 'text'
}
