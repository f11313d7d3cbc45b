import { isJsonObject, type Json, type JsonObject } from '../json.ts'

interface About {
  title: string | undefined
  description: string | undefined
  /** What the form has at first. */
  initial: Json | undefined
}
interface TextField extends About {
  kind: 'text'
  format: 'date' | 'date-time' | undefined
  minLength: number
  maxLength: number
  pattern: string | undefined
  /** What is typed is not shown and not kept: `format: password` or `writeOnly`. */
  isSecret: boolean
}
interface NumberField extends About {
  kind: 'number'
  isInteger: boolean
  min: number
  max: number
  above: number
  below: number
  step: number | undefined
}
interface BooleanField extends About {
  kind: 'boolean'
}
interface ChoiceField extends About {
  kind: 'choice'
  options: readonly Json[]
}
interface ObjectField extends About {
  kind: 'object'
  fields: readonly { name: string; isRequired: boolean; field: Field }[]
}
interface ListField extends About {
  kind: 'list'
  item: SingleField
  minItems: number
  maxItems: number
}
/** A field that holds one value. */
export type SingleField = TextField | NumberField | BooleanField | ChoiceField
/** A field of a form that fills in what a JSON schema describes. */
export type Field = SingleField | ObjectField | ListField

const deepest = 5
const mostFields = 60
const mostOptions = 200

/** Words of a schema that change nothing in a form, or that it follows. Any other is more than a form can say. */
const said = new Set([
  ...[
    'type',
    'title',
    'description',
    'default',
    'examples',
    '$schema',
    '$id',
    '$comment',
    'deprecated',
    'readOnly',
    'writeOnly',
  ],
  ...['enum', 'const', 'format', 'minLength', 'maxLength', 'pattern', 'minimum', 'maximum', 'exclusiveMinimum'],
  ...[
    'exclusiveMaximum',
    'multipleOf',
    'properties',
    'required',
    'additionalProperties',
    'items',
    'minItems',
    'maxItems',
  ],
])

/** The fields for a schema; undefined where a form can't express it, so that the answer is written as JSON. */
export function fieldOf(schema: JsonObject): Field | undefined {
  const left = { fields: mostFields }
  return read(schema, 0, left)
}

function read(schema: Json | undefined, depth: number, left: { fields: number }): Field | undefined {
  if (!isJsonObject(schema) || depth > deepest || left.fields-- <= 0) return undefined
  if (Object.keys(schema).some((word) => !said.has(word))) return undefined
  const about = { title: textOf(schema.title), description: textOf(schema.description), initial: schema.default }
  const options = schema.const === undefined ? schema.enum : [schema.const]
  if (options !== undefined) return choiceOf(options, about)
  switch (schema.type) {
    case 'string':
      return {
        ...about,
        kind: 'text',
        format: schema.format === 'date' || schema.format === 'date-time' ? schema.format : undefined,
        minLength: numberOf(schema.minLength, 0),
        maxLength: numberOf(schema.maxLength, Number.POSITIVE_INFINITY),
        pattern: textOf(schema.pattern),
        isSecret: schema.format === 'password' || schema.writeOnly === true,
      }
    case 'number':
    case 'integer':
      return {
        ...about,
        kind: 'number',
        isInteger: schema.type === 'integer',
        min: numberOf(schema.minimum, Number.NEGATIVE_INFINITY),
        max: numberOf(schema.maximum, Number.POSITIVE_INFINITY),
        above: numberOf(schema.exclusiveMinimum, Number.NEGATIVE_INFINITY),
        below: numberOf(schema.exclusiveMaximum, Number.POSITIVE_INFINITY),
        step: typeof schema.multipleOf === 'number' ? schema.multipleOf : undefined,
      }
    case 'boolean':
      return { ...about, kind: 'boolean' }
    case 'object':
      return objectOf(schema, about, depth, left)
    case 'array':
      return listOf(schema, about, depth, left)
    default:
      return undefined
  }
}

function choiceOf(options: Json, about: About): ChoiceField | undefined {
  if (!Array.isArray(options) || options.length === 0 || options.length > mostOptions) return undefined
  if (options.some((option) => typeof option === 'object' && option !== null)) return undefined
  return { ...about, kind: 'choice', options }
}

function objectOf(schema: JsonObject, about: About, depth: number, left: { fields: number }): ObjectField | undefined {
  const { properties, required = [], additionalProperties = false } = schema
  if (!isJsonObject(properties) || !Array.isArray(required) || typeof additionalProperties !== 'boolean')
    return undefined
  // A field that must be there and is not described can't be filled in.
  if (required.some((name) => typeof name !== 'string' || !Object.hasOwn(properties, name))) return undefined
  const fields: ObjectField['fields'][number][] = []
  for (const [name, inner] of Object.entries(properties)) {
    const field = read(inner, depth + 1, left)
    if (field === undefined) return undefined
    fields.push({ name, isRequired: required.includes(name), field })
  }
  return fields.length === 0 ? undefined : { ...about, kind: 'object', fields }
}

function listOf(schema: JsonObject, about: About, depth: number, left: { fields: number }): ListField | undefined {
  const item = read(schema.items, depth + 1, left)
  if (item === undefined || item.kind === 'object' || item.kind === 'list') return undefined
  const { minItems, maxItems } = schema
  return {
    ...about,
    kind: 'list',
    item,
    minItems: numberOf(minItems, 0),
    maxItems: numberOf(maxItems, Number.POSITIVE_INFINITY),
  }
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function numberOf(value: Json | undefined, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}
