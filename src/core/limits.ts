import { AppError } from './error.ts'

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

/** The limits that end a run while it runs. */
export type RunLimitName =
  | 'run.output'
  | 'run.events'
  | 'run.time'
  | 'run.steps'
  | 'run.tokens'
  | 'toolResult.record'
  | 'state'

/** A run went over a limit; `what` is the whole of what it did, as in "It emitted more text and data". */
export function runLimit(name: RunLimitName, value: string, what: string): AppError {
  return new AppError(
    'run_limit',
    `The run reached its limit \`${name}\` of ${value}. ${what}. Raise \`server.limits.${name}\` to allow more.`,
  )
}

/** As it is written in a config: `16 MB`. */
export function shownBytes(bytes: number): string {
  const [unit, size] =
    (
      [
        ['GB', 1024 ** 3],
        ['MB', 1024 ** 2],
        ['KB', 1024],
      ] as const
    ).find(([, size]) => bytes >= size) ?? (['bytes', 1] as const)
  return `${Math.round((bytes / size) * 100) / 100} ${unit}`
}

/** Whether a text has more bytes of UTF-8 than that. */
export function isLonger(text: string, bytes: number): boolean {
  if (text.length > bytes) return true
  // No character of UTF-16 takes more than three.
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes
}
