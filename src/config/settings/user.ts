import { z } from 'zod'
import { defaultMaxFileSize, knowledgeLimits } from '../../core/knowledge/limits.ts'
import type { Runnable } from '../../core/runnable.ts'
import type { HostableAgent } from '../../runnables/agent/host.ts'
import type { McpServer } from '../../runnables/mcp/settings.ts'
import { callback, choose, duration, integer, list, object, oneOf, settings, text } from '../../schema/field.ts'
import { modelChoice } from '../../schema/model.ts'
import { prices } from './prices.ts'
import { schedules } from './schedules.ts'
import { scorers } from './scorers.ts'
import { collection, numberFormats, serverSettings } from './server.ts'
import { size } from './size.ts'
import { knowledgeSource } from './sources.ts'
import { webhooks } from './webhooks.ts'
import { sourceWeights } from './weights.ts'

const someSeconds = "a time from 1 ms to 60 s: milliseconds, or a time like '500ms' or '3s'"

/** An entity is a value of `agent`, `team` or `workflow`, or an AI SDK `Agent`. */
const entities = <T extends object>() => object<Record<string, T>>('an object with one entry per id').default({})

/** A cross-encoder that orders the best results of a hybrid search anew. `true`: with every default. Off without it. */
const rerankSettings = settings({
  /** A name in the model cache, or a folder: a path that begins with `/`, `./` or `../`, relative to the config file. */
  model: text().default('Xenova/ms-marco-MiniLM-L-6-v2'),
  candidates: integer(2, 100).default(20),
  /** After it a search goes on without. */
  timeout: duration(1, someSeconds, 60_000).default(3_000),
  dtype: oneOf(numberFormats).optional(),
}).transform(({ timeout, ...given }) => ({ ...given, timeoutMs: timeout }))
const rerank = choose(
  (value): z.ZodType<z.output<typeof rerankSettings> | undefined, z.input<typeof rerankSettings> | boolean> => {
    if (value === true) return z.literal(true).transform(() => rerankSettings.parse({}))
    return value === false ? z.literal(false).transform(() => undefined) : rerankSettings
  },
)

const userFields = settings({
  model: modelChoice.optional(),
  knowledge: settings({
    /** Files, folders and globs, relative to the config file, addresses and repositories; ingested when the server starts. */
    sources: list(knowledgeSource).optional(),
    collection: collection().optional(),
    chunkSize: integer(1, knowledgeLimits.chunkSize).optional(),
    chunkOverlap: integer(0, knowledgeLimits.chunkOverlap).optional(),
    maxFileSize: size().prefault(defaultMaxFileSize),
    weights: sourceWeights().optional(),
    rerank: rerank.optional(),
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
  /** Runs at fixed times, by name: `nightly: { cron: '0 3 * * *', agent: 'echo', input: 'hi', timeZone: 'Europe/Berlin' }`. */
  schedules: schedules().default({}),
  /** Addresses that hear of ends and pauses of runs, by name. */
  webhooks: webhooks().default({}),
  server: serverSettings.prefault({}),
  /** How good answers are, by name: what `agentserve test --scores` and the studio's tests ask of every saved conversation. */
  scorers: scorers().default({}),
  /** Called at shutdown, and when a reload has replaced this config and its last run has ended. */
  dispose: callback<() => void | Promise<void>>().optional(),
})
export interface UserConfig extends z.input<typeof userFields> {}
export interface CheckedConfig extends z.output<typeof userFields> {}
export const userSettings: z.ZodType<CheckedConfig, UserConfig> = userFields
