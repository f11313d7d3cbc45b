import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { components } from '../src/wire/document/component.ts'
import { type JsonSchema, toJsonSchemas } from '../src/wire/document/json-schema.ts'

const folder = join(import.meta.dirname, '../src/wire')

export interface Shapes {
  /** The name that a type of the wire has in the OpenAPI document; undefined for what is no body. */
  nameOf(type: string): string | undefined
  /** The shapes of these names and of all that they are made of, in the order of the alphabet, as Markdown. */
  document(names: Iterable<string>): string[]
}

/** What crosses the network, from the schemas that validate it. */
export async function readShapes(): Promise<Shapes> {
  const byType = new Map<string, string>()
  for (const file of (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'))) {
    for (const [type, schema] of Object.entries(await import(join(folder, file)))) {
      const name = schema instanceof z.ZodType ? components.get(schema)?.id : undefined
      if (name !== undefined) byType.set(type, name)
    }
  }
  const schemas = toJsonSchemas([]).components
  return {
    nameOf: (type) => byType.get(type),
    document(names) {
      const used = new Set<string>()
      const use = (name: string) => {
        if (used.has(name) || schemas[name] === undefined) return
        used.add(name)
        for (const [, inner] of JSON.stringify(schemas[name]).matchAll(/"#\/components\/schemas\/(\w+)"/g))
          use(inner ?? '')
      }
      for (const name of names) use(name)
      return [...used].sort().map((name) => section(name, schemas[name] ?? {}))
    },
  }
}

function section(name: string, schema: JsonSchema): string {
  const { properties } = schema as { properties?: Record<string, JsonSchema> }
  const body = properties === undefined ? variants(schema) : fields(schema, properties)
  return [`### ${name}`, ...(schema.description === undefined ? [] : [schema.description]), body].join('\n\n')
}

function variants(schema: JsonSchema): string {
  const either = (schema.oneOf ?? schema.anyOf) as JsonSchema[] | undefined
  return (either ?? [schema]).map((variant) => `- \`${typeOf(variant)}\``).join('\n')
}

function fields(schema: JsonSchema, properties: Record<string, JsonSchema>): string {
  const required = new Set(schema.required as string[] | undefined)
  return Object.entries(properties)
    .map(([name, property]) => {
      const said = property.description === undefined ? '' : ` — ${property.description}`
      return `- \`${name}${required.has(name) ? '' : '?'}: ${typeOf(property)}\`${said}`
    })
    .join('\n')
}

/** A JSON Schema in the words of TypeScript. */
function typeOf(schema: JsonSchema): string {
  if (typeof schema.$ref === 'string') return schema.$ref.split('/').at(-1) ?? ''
  if ('const' in schema) return literal(schema.const)
  if (Array.isArray(schema.enum)) return schema.enum.map(literal).join(' | ')
  const either = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined
  if (either !== undefined) return [...new Set(either.map(typeOf))].join(' | ')
  if (Array.isArray(schema.type)) return schema.type.join(' | ')
  if (schema.type === 'integer') return 'number'
  if (schema.type === 'array') return arrayOf(typeOf(schema.items as JsonSchema))
  if (schema.type !== 'object') return typeof schema.type === 'string' ? schema.type : 'Json'
  if (schema.properties === undefined) return recordOf(schema.additionalProperties)
  const required = new Set(schema.required as string[] | undefined)
  const inner = Object.entries(schema.properties as Record<string, JsonSchema>)
  return `{ ${inner.map(([name, property]) => `${name}${required.has(name) ? '' : '?'}: ${typeOf(property)}`).join('; ')} }`
}

const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value))
const arrayOf = (item: string) => (/[ |]/.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`)
const recordOf = (value: unknown) => {
  const inner = typeof value === 'object' && value !== null ? typeOf(value as JsonSchema) : 'Json'
  return inner === 'Json' ? 'JsonObject' : `Record<string, ${inner}>`
}
