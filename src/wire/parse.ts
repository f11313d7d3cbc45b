import type { z } from 'zod'
import { AppError } from '../core/error.ts'
import { editDistance } from '../core/text/edit-distance.ts'
import { isObject } from '../schema/field.ts'
import { checkRequest, withoutNulls, wrongRequest } from '../schema/request.ts'
import { unknownFields } from '../schema/unknown-fields.ts'

type Kind = 'number' | 'boolean' | 'object' | 'text'

/** What is known about a schema's fields in advance: their kinds, and the camelCase names to refuse. */
interface Shape {
  kinds: Map<string, Kind>
  misspelled: Map<string, string>
}

/** Shorter ones are near to too many. */
const shortestMisspelt = 4

const shapes = new WeakMap<z.ZodObject, Shape>()

interface BodyRules {
  /** Whether `null` in a field means that it is absent; default: `absent`. */
  nulls?: 'absent' | 'keep'
  /** What is said of an unknown field besides that it is none. */
  hints?: Readonly<Record<string, string>>
}

/**
 * Validates a request body; throws `invalid_request` with the paths of wrong fields and the expected values. An
 * absent body is `{}`. Unknown fields are refused at every depth, because to ignore them would lose what they say.
 */
export function parseBody<S extends z.ZodObject>(
  schema: S,
  value: unknown,
  { nulls = 'absent', hints = {} }: BodyRules = {},
): z.infer<S> {
  if (value === undefined) return checkRequest(schema, {})
  if (!isObject(value)) throw new AppError('invalid_request', 'The body must be a JSON object.')
  const unknown = unknownFields(schema, value)
  if (unknown.length > 0)
    throw wrongRequest(unknown.map(({ path, message }) => ({ path, message: hints[path] ?? message })))
  return checkRequest(schema, nulls === 'absent' ? withoutNulls(value) : value)
}

/** As `parseBody`, but unknown fields are ignored: in protocols that are not ours, clients send what we don't know yet. */
export function parseKnown<S extends z.ZodObject>(schema: S, value: unknown = {}): z.infer<S> {
  if (!isObject(value)) throw new AppError('invalid_request', 'The body must be a JSON object.')
  return checkRequest(schema, withoutNulls(value))
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
    if (kind === undefined) {
      refuseNear(kinds, name)
      continue
    }
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

/** A parameter that differs from a known one by one edit was meant to be that one; others may be for a proxy. */
function refuseNear(kinds: Map<string, Kind>, name: string): void {
  if (name.length < shortestMisspelt) return
  const meant = [...kinds.keys()].find((known) => editDistance(name, known) === 1)
  if (meant !== undefined) throw wrongRequest([{ path: name, message: `is not a parameter; did you mean ${meant}?` }])
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
