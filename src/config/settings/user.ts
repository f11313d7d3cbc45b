import type { z } from 'zod'
import { defaultMaxFileSize, knowledgeLimits } from '../../core/knowledge/limits.ts'
import type { Runnable } from '../../core/runnable.ts'
import type { HostableAgent } from '../../runnables/agent/host.ts'
import type { McpServer } from '../../runnables/mcp/settings.ts'
import { callback, integer, list, object, settings } from '../../schema/field.ts'
import { modelSetting } from '../../schema/model.ts'
import { prices } from './prices.ts'
import { collection, serverSettings } from './server.ts'
import { size } from './size.ts'
import { knowledgeSource } from './sources.ts'
import { sourceWeights } from './weights.ts'

/** An entity is a value of `agent`, `team` or `workflow`, or an AI SDK `Agent`. */
const entities = <T extends object>() => object<Record<string, T>>('an object with one entry per id').default({})

const userFields = settings({
  model: modelSetting.optional(),
  knowledge: settings({
    /** Files, folders and globs, relative to the config file, addresses and repositories; ingested when the server starts. */
    sources: list(knowledgeSource).optional(),
    collection: collection().optional(),
    chunkSize: integer(1, knowledgeLimits.chunkSize).optional(),
    chunkOverlap: integer(0, knowledgeLimits.chunkOverlap).optional(),
    maxFileSize: size().prefault(defaultMaxFileSize),
    weights: sourceWeights().optional(),
  })
    .superRefine(({ chunkSize, chunkOverlap }, context) => {
      if (chunkSize === undefined || chunkOverlap === undefined || chunkOverlap < chunkSize) return
      const message = `must be less than knowledge.chunkSize (${chunkSize}), not ${chunkOverlap}`
      context.addIssue({ code: 'custom', path: ['chunkOverlap'], message })
    })
    .prefault({}),
  agents: entities<Runnable<'agent'> | HostableAgent>(),
  teams: entities<Runnable<'team'>>(),
  workflows: entities<Runnable<'workflow'>>(),
  /** MCP servers by name; `mcp('name')` gives an agent their tools. */
  mcpServers: object<Record<string, McpServer>>('an object with one entry per name').default({}),
  /** What models cost in USD per million tokens, by name: `'openai/gpt-5': { input, output }`, or `'local'`. */
  prices: prices().default({}),
  server: serverSettings.prefault({}),
  /** Called at shutdown, and when a reload has replaced this config and its last run has ended. */
  dispose: callback<() => void | Promise<void>>().optional(),
})
export interface UserConfig extends z.input<typeof userFields> {}
export interface CheckedConfig extends z.output<typeof userFields> {}
export const userSettings: z.ZodType<CheckedConfig, UserConfig> = userFields
