import { z } from 'zod'
import type { SourcedConfig } from '../core/entity/config.ts'
import type { EntityInfo } from '../core/runnable.ts'
import { flag, jsonObject, oneOf } from '../schema/request-field.ts'
import { component } from './document/component.ts'
import { EntityKind } from './event.ts'

export const AgentConfig = component(
  'AgentConfig',
  z.object({
    fallback_models: z.array(z.string()).describe('The models that are tried after `model`, in order.'),
    instructions: z.string().nullable().describe('Null without instructions as text.'),
    tools: z
      .array(
        z.object({
          name: z.string(),
          description: z.string().nullable(),
          input_schema: jsonObject().nullable().describe('Null where it is not known before a run.'),
          approval: z.enum(['never', 'always', 'sometimes', 'denied']).describe('`sometimes`: code decides.'),
        }),
      )
      .describe('Of an MCP server that is not connected, one entry stands for its tools.'),
    knowledge: z
      .object({
        mode: z.enum(['first', 'tool']),
        limit: z.int(),
        filters: jsonObject().nullable(),
        collection: z.string().nullable(),
      })
      .nullable(),
    memory: z.object({ runs: z.int(), tokens: z.int().nullable(), summary: flag(), user: flag() }).nullable(),
    output_schema: jsonObject().nullable(),
    guardrails: z
      .object({ input: z.array(z.string()), output: z.array(z.string()) })
      .describe('The names of the functions, or their places.'),
    hooks: z.array(z.string()),
    members: z.array(z.string()).describe("A team's."),
    mode: z.string().nullable().describe("A team's."),
    input_schema: jsonObject().nullable().describe("A workflow's."),
    source: z
      .object({ file: z.string(), line: z.int().nullable() })
      .nullable()
      .describe('The config file that lists it. Null for one that a program has registered.'),
    version: z.string().nullable().describe('A hash of the settings. Null when they are not pure data.'),
  }),
) satisfies z.ZodType<SourcedConfig>
export type AgentConfig = z.infer<typeof AgentConfig>

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
    config: AgentConfig.exactOptional().describe('With `include=config`.'),
  }),
) satisfies z.ZodType<EntityInfo>
export type Agent = z.infer<typeof Agent>

export const AgentList = component('AgentList', z.object({ agents: z.array(Agent), count: z.int() }))
export type AgentList = z.infer<typeof AgentList>

export const AgentQuery = z.object({
  include: oneOf(['config']).optional().describe('`config`: how it is configured. For operators only.'),
})

export const AgentsQuery = z.object({ kind: oneOf(['agent', 'team', 'workflow']).optional() })
