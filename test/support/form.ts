import { type Field, fieldOf } from '../../src/core/form/fields.ts'
import type { JsonObject } from '../../src/core/json.ts'

export function objectOf(properties: JsonObject, required: string[] = []): JsonObject {
  return { type: 'object', properties, required }
}

export function formOf(schema: JsonObject): Field {
  const field = fieldOf(schema)
  if (field === undefined) throw new Error('no form')
  return field
}
