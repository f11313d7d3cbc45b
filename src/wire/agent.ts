import { z } from 'zod'
import type { EntityInfo } from '../core/runnable.ts'
import { oneOf } from '../schema/request-field.ts'
import { component } from './document/component.ts'
import { EntityKind } from './event.ts'

export const Agent = component(
  'Agent',
  z.object({
    id: z.string(),
    kind: EntityKind,
    name: z.string().nullable(),
    description: z.string().nullable(),
    model: z.string().nullable(),
    tools: z.array(z.object({ name: z.string(), description: z.string().nullable() })),
    knowledge: z.boolean(),
    streaming: z.boolean(),
  }),
) satisfies z.ZodType<EntityInfo>
export type Agent = z.infer<typeof Agent>

export const AgentList = component('AgentList', z.object({ agents: z.array(Agent), count: z.int() }))
export type AgentList = z.infer<typeof AgentList>

export const AgentsQuery = z.object({ kind: oneOf(['agent', 'team', 'workflow']).optional() })
