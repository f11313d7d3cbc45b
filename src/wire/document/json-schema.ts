import { z } from 'zod'
import { components } from './component.ts'
import { examples } from './examples.ts'

export type JsonSchema = Record<string, unknown>

export interface JsonSchemas {
  components: Record<string, JsonSchema>
  /** The schema in place: a reference when it has a name. */
  of(schema: z.ZodType): JsonSchema
}

/** JSON Schemas (draft 2020-12) of these schemas and all that they refer to. */
export function toJsonSchemas(used: Iterable<z.ZodType>): JsonSchemas {
  const registry = z.registry<{ id: string }>()
  const inline = new Map<z.ZodType, string>()
  for (const schema of used) {
    if (inline.has(schema) || components.has(schema)) continue
    const id = `inline-${inline.size}`
    inline.set(schema, id)
    registry.add(schema, { id })
  }
  for (const [id, schema] of components._idmap) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { io: 'input', unrepresentable: 'any', uri: reference })
  const named: Record<string, JsonSchema> = {}
  const unnamed = new Map<string, JsonSchema>()
  for (const [id, { $schema, $id, ...schema }] of Object.entries(schemas)) {
    if (id.startsWith('inline-')) unnamed.set(id, schema)
    else named[id] = id in examples ? { ...schema, examples: [examples[id]] } : schema
  }
  return {
    components: named,
    of: (schema) => {
      const name = components.get(schema)?.id
      return name === undefined ? (unnamed.get(inline.get(schema) ?? '') ?? {}) : { $ref: reference(name) }
    },
  }
}

function reference(name: string): string {
  return `#/components/schemas/${name}`
}
