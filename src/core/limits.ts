import { AppError } from './error.ts'

/** What one run may use; a run over a limit fails with `run_limit`. */
export interface RunLimits {
  /** Emitted text and data, in bytes of UTF-8. */
  outputBytes: number
  /** Events, without deltas of text and reasoning. */
  events: number
  /** Working time; time in a queue or paused does not count. */
  timeMs: number
  /** Model steps, unless the agent sets `stopWhen`. */
  steps: number
  /** Tokens of all model calls, child runs included. */
  tokens: number | undefined
  /** `ask` calls at the same time; more wait. */
  asks: number
  /** Files. */
  files: number
}

/** How much of one tool result is kept. */
export interface ToolResultLimits {
  /** Sent to the model; the rest is cut, with a note. */
  promptBytes: number
  /** Recorded; a call that returns more fails. */
  recordBytes: number
}

/** Client tools of one run. */
export interface ClientToolLimits {
  count: number
  /** Their schemas, as JSON. */
  schemasBytes: number
}

/** History that the caller gives a run. */
export interface HistoryLimits {
  messages: number
  /** As JSON. */
  sizeBytes: number
}

/** `server.limits` with all defaults filled in. */
export interface Limits {
  /** Open connections. */
  connections: number
  /** Active requests; streams that have started do not count. */
  requests: number
  /** Per key; without keys, per address. */
  requestsPerMinute: number | undefined
  /** Queued and active runs per key. */
  concurrentRuns: number | undefined
  /** All request bodies in flight. */
  bodiesBytes: number
  /** Request bodies in flight per key. */
  bodiesPerKeyBytes: number
  /** One import of sessions. */
  importBytes: number
  run: RunLimits
  toolResult: ToolResultLimits
  /** One file. */
  fileBytes: number
  clientTools: ClientToolLimits
  history: HistoryLimits
  /** `metadata` of a session or run, as JSON. */
  metadataBytes: number
  /** `state` of a session, as JSON. */
  stateBytes: number
  /** One message of an MCP server. */
  mcpMessageBytes: number
}

/** The limits that end an active run. */
export type RunLimitName =
  | 'run.output'
  | 'run.events'
  | 'run.time'
  | 'run.steps'
  | 'run.tokens'
  | 'run.files'
  | 'fileSize'
  | 'toolResult.record'
  | 'state'

/** The error of a run over a limit; `what` is a full clause, as in "It emitted more text and data". */
export function runLimit(name: RunLimitName, value: string, what: string): AppError {
  return new AppError(
    'run_limit',
    `The run reached its limit \`${name}\` of ${value}. ${what}. Raise \`server.limits.${name}\` to allow more.`,
  )
}

/** As in a config: `16 MB`. */
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

export function isLonger(text: string, bytes: number): boolean {
  if (text.length > bytes) return true
  // A UTF-16 unit takes at most three bytes.
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes
}
