/** What one run may use; over any of these it fails with `run_limit`. */
export interface RunLimits {
  /** Text and data that it emits, in bytes of UTF-8. */
  outputBytes: number
  /** Events, deltas of text and reasoning not counted. */
  events: number
  /** Of work; waiting in a queue and paused time do not count. */
  timeMs: number
  /** Steps of a model, unless its agent sets `stopWhen`. */
  steps: number
  /** Of all its model calls, child runs included. */
  tokens: number | undefined
}

/** How much of one tool result is kept. */
export interface ToolResultLimits {
  /** Told to the model; the rest is cut, with a note. */
  promptBytes: number
  /** Kept in the record; a call that returns more fails. */
  recordBytes: number
}

/** What the server takes in, and what a run may use: `server.limits`, every default filled in. */
export interface Limits {
  /** Connections that are open at once. */
  connections: number
  /** Requests at work, streams that have begun not counted. */
  requests: number
  /** Of one key; without keys, of one address. */
  requestsPerMinute: number | undefined
  /** Runs of one key that wait or run. */
  concurrentRuns: number | undefined
  /** Of all request bodies in flight. */
  bodiesBytes: number
  /** Of the request bodies of one key in flight. */
  bodiesPerKeyBytes: number
  /** Of one import of sessions. */
  importBytes: number
  run: RunLimits
  toolResult: ToolResultLimits
  /** `metadata` of a session or run, as JSON. */
  metadataBytes: number
  /** `state` of a session, as JSON. */
  stateBytes: number
  /** Of one message that an MCP server sends. */
  mcpMessageBytes: number
}
