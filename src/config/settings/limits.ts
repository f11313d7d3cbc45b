import type { z } from 'zod'
import type { Limits } from '../../core/limits.ts'
import { count, duration, settings } from '../../schema/field.ts'
import { size } from './size.ts'

const runLimits = settings({
  /** Text and data that it emits. Default 16 MB. */
  output: size().prefault('16MB'),
  /** Events; deltas of text and reasoning are not counted. Default 100,000. */
  events: count().default(100_000),
  /** Work time of a background run, without queued and paused time. Default 24 h. */
  time: duration().prefault('24h'),
  /** Model steps, unless the agent sets `stopWhen`. Default 50. */
  steps: count().default(50),
  /** Tokens, child runs included. Default: no limit. */
  tokens: count().optional(),
  /** Simultaneous `ask` calls; more wait. Default 16. */
  asks: count().default(16),
  /** Files. Default 10. */
  files: count().default(10),
}).transform(({ output, events, time, steps, tokens, asks, files }) => ({
  outputBytes: output,
  events,
  timeMs: time,
  steps,
  tokens,
  asks,
  files,
}))

const toolResultLimits = settings({
  /** Text of one tool result for the model; the rest is cut, with a note. Default 1 MB. */
  prompt: size().prefault('1MB'),
  /** One tool result in the record; a larger one fails the call. Default 8 MB. */
  record: size().prefault('8MB'),
}).transform(({ prompt: promptBytes, record: recordBytes }) => ({ promptBytes, recordBytes }))

const clientToolLimits = settings({
  /** Client tools of one run. Default 128. */
  count: count().default(128),
  /** Their schemas as JSON. Default 256 KB. */
  schemas: size().prefault('256KB'),
}).transform(({ count, schemas: schemasBytes }) => ({ count, schemasBytes }))

const historyLimits = settings({
  /** Messages of a history that the caller gives a run. Default 1,000. */
  messages: count().default(1_000),
  /** These messages as JSON. Default 2 MB. */
  size: size().prefault('2MB'),
}).transform(({ messages, size: sizeBytes }) => ({ messages, sizeBytes }))

const limitFields = settings({
  /** Open connections. Default 10,000. */
  connections: count().default(10_000),
  /** Requests in progress, without streams that have begun. Default 2,048. */
  requests: count().default(2_048),
  /** Requests per minute and key (without `auth`: per address). Default: no limit. */
  requestsPerMinute: count().optional(),
  /** Queued and active runs per key. Default: no limit. */
  concurrentRuns: count().optional(),
  /** All request bodies in flight. Default 256 MB. */
  bodies: size().prefault('256MB'),
  /** Request bodies in flight per key; only with `auth`. Default 64 MB. */
  bodiesPerKey: size().prefault('64MB'),
  /** One import of sessions. Default 2 GB. */
  importSize: size().prefault('2GB'),
  /** Limits of one run; exceeding one fails it with the code `run_limit`. */
  run: runLimits.prefault({}),
  toolResult: toolResultLimits.prefault({}),
  /** One file. Default 8 MB. */
  fileSize: size().prefault('8MB'),
  clientTools: clientToolLimits.prefault({}),
  history: historyLimits.prefault({}),
  /** `metadata` of a session or run. Default 64 KB. */
  metadata: size().prefault('64KB'),
  /** `state` of a session. Default 1 MB. */
  state: size().prefault('1MB'),
  /** One message of an MCP server. Default 8 MB. */
  mcpMessage: size().prefault('8MB'),
}).transform(
  ({ bodies, bodiesPerKey, importSize, fileSize, metadata, state, mcpMessage, ...same }): Limits => ({
    ...same,
    requestsPerMinute: same.requestsPerMinute,
    concurrentRuns: same.concurrentRuns,
    bodiesBytes: bodies,
    bodiesPerKeyBytes: bodiesPerKey,
    importBytes: importSize,
    fileBytes: fileSize,
    metadataBytes: metadata,
    stateBytes: state,
    mcpMessageBytes: mcpMessage,
  }),
)

/** `server.limits`: limits of requests and runs. An error names the limit. */
export interface ServerLimits extends z.input<typeof limitFields> {}
export const limitSettings: z.ZodType<Limits, ServerLimits> = limitFields

export function usualLimits(): Limits {
  return limitSettings.parse({})
}
