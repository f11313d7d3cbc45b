import { z } from 'zod'
import { component } from '../document/component.ts'

/** RFC 9728, 2. */
export const ProtectedResourceMetadata = component(
  'ProtectedResourceMetadata',
  z.object({
    resource: z.string(),
    authorization_servers: z.array(z.string()),
    bearer_methods_supported: z.array(z.string()),
    scopes_supported: z.array(z.string()).optional(),
    resource_name: z.string(),
  }),
)
