/* What a request can say, as the OpenAPI document tells it. */

interface Schema {
  $ref?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

interface OpenApiOperation {
  operationId: string
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

export interface OpenApi {
  paths: Record<string, Record<string, OpenApiOperation>>
  components: { schemas: Record<string, Schema> }
}

export interface Operation {
  operationId: string
  method: string
  path: string
  /** `path.id`, `query.cursor`, `header.If-Match`, `body.session_id`; what is inside an object comes by its own name. */
  fields: string[]
}

export function operationsOf({ paths, components }: OpenApi): Operation[] {
  function namesIn(schema: Schema, seen: ReadonlySet<string> = new Set()): string[] {
    const { $ref, properties = {}, items, anyOf = [], oneOf = [], allOf = [] } = schema
    if ($ref !== undefined) {
      const target = components.schemas[$ref.split('/').at(-1) ?? '']
      return target === undefined || seen.has($ref) ? [] : namesIn(target, new Set([...seen, $ref]))
    }
    const inner = [...Object.values(properties), ...(items === undefined ? [] : [items]), ...anyOf, ...oneOf, ...allOf]
    return [...Object.keys(properties), ...inner.flatMap((one) => namesIn(one, seen))]
  }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters = [], requestBody }]) => {
      const bodies = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => namesIn(schema))
      const fields = [...parameters.map((one) => `${one.in}.${one.name}`), ...bodies.map((name) => `body.${name}`)]
      return { operationId, method: method.toUpperCase(), path, fields: [...new Set(fields)] }
    }),
  )
}
