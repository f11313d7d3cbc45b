import { z } from 'zod'

/** Named shapes. A separate registry, because the user's `zod` may be the same module. */
export const components = z.registry<{ id: string }>()

/** Names a schema `#/components/schemas/<name>`; every use becomes a reference. Names are unique. */
export function component<S extends z.ZodType>(name: string, schema: S): S {
  components.add(schema, { id: name })
  return schema
}
