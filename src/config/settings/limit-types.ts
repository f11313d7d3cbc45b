import type { ByteSize, Duration } from '../types.ts'

/** What one run may use; over any of these it fails with the code `run_limit`. */
export interface RunLimitSettings {
  /** Text and data that it may emit. Default 16 MB. */
  output?: ByteSize
  /** Events, deltas of text and reasoning not counted. Default 100,000. */
  events?: number
  /** Time that a background run may work; queued and paused time not counted. Default 24 h. */
  time?: Duration
  /** Model steps, unless the agent sets `stopWhen`. Default 50. */
  steps?: number
  /** Tokens, child runs included. Default: any number. */
  tokens?: number
}

/** What the server takes in, and what a run may use. A refusal names the limit. */
export interface ServerLimits {
  /** Open connections. Default 10,000. */
  connections?: number
  /** Requests at work, streams that have begun not counted. Default 2,048. */
  requests?: number
  /** Requests of one key (without `auth`: of one address) in a minute. Default: any number. */
  requestsPerMinute?: number
  /** Runs of one key that wait or run. Default: any number. */
  concurrentRuns?: number
  /** All request bodies in flight. Default 256 MB. */
  bodies?: ByteSize
  /** The request bodies of one key in flight; only with `auth`. Default 64 MB. */
  bodiesPerKey?: ByteSize
  /** One import of sessions. Default 2 GB. */
  importSize?: ByteSize
  run?: RunLimitSettings
  toolResult?: {
    /** Text of one tool result that the model is told; the rest is cut, with a note. Default 1 MB. */
    prompt?: ByteSize
    /** One tool result in the record; a call that returns more fails. Default 8 MB. */
    record?: ByteSize
  }
  /** `metadata` of a session or run. Default 64 KB. */
  metadata?: ByteSize
  /** `state` of a session. Default 1 MB. */
  state?: ByteSize
  /** One message of an MCP server. Default 8 MB. */
  mcpMessage?: ByteSize
}
