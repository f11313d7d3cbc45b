import { z } from 'zod'

/** The shapes that have a name in the OpenAPI document. A registry of our own: the user's `zod` may be the same module. */
export const components = z.registry<{ id: string }>()

/** Names a schema `#/components/schemas/<name>`; wherever it is used the document refers to it. Names are unique. */
export function component<S extends z.ZodType>(name: string, schema: S): S {
  components.add(schema, { id: name })
  return schema
}
