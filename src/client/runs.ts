import { AppError } from '../core/error.ts'
import type { RunStatus } from '../core/run.ts'
import type { ResumeRequest, RunDetail, RunList } from '../wire/run.ts'
import type { RunTrace } from '../wire/run-trace.ts'
import type { RunStream } from './run-result.ts'
import type { RunStreams } from './run-stream.ts'
import type { CallOptions, Connection, PageOptions } from './transport/connection.ts'

export interface StreamOptions extends CallOptions {
  /** How often in a row a stream that was cut is taken up again; default 5. */
  reconnects?: number | undefined
  /** Ask for the exact prompts of model calls. */
  includePrompts?: boolean | undefined
}

export interface RunsClient {
  /** Live or recorded. */
  get(runId: string, options?: CallOptions): Promise<RunDetail>
  /** The newest first. */
  list(
    filter?: {
      status?: RunStatus | undefined
      agent_id?: string | undefined
      session_id?: string | undefined
      parent_run_id?: string | undefined
    },
    options?: PageOptions,
  ): Promise<RunList>
  /** A run that has ended is `conflict`. */
  cancel(runId: string, reason?: string, options?: CallOptions): Promise<RunDetail>
  /**
   * Gives a paused run what it waits for, and waits for its end or its next pause; with `background`, or for a run that was
   * started so, only until it goes on. `conflict` when it does not wait.
   */
  resume(runId: string, answer?: Omit<ResumeRequest, 'stream'>, options?: CallOptions): Promise<RunDetail>
  /** Live or recorded, from the start or behind a number; leaving changes nothing. */
  events(runId: string, options?: StreamOptions & { after?: number | undefined }): Promise<RunStream>
  /** What each model call was told and gave, as far as it is recorded; a page has at most `limit` calls. */
  trace(runId: string, options?: PageOptions): Promise<RunTrace>
}

export function createRunsClient(connection: Connection, prefix: string, streams: RunStreams): RunsClient {
  const runPath = (runId: string) => `${prefix}/runs/${encodeURIComponent(runId)}`
  const client: RunsClient = {
    get: (runId, options) => connection.get(runPath(runId), options),
    list: (filter, options) => connection.list(`${prefix}/runs`, filter, options),
    cancel: (runId, reason, options) =>
      connection.post(`${runPath(runId)}/cancel`, reason === undefined ? {} : { reason }, 'never', options),
    resume: (runId, answer = {}, options) =>
      connection.post(`${runPath(runId)}/resume`, answer, 'never', { ...options, long: true }),
    events: (runId, options = {}) => streams.follow(runId, options.after ?? 0, options),
    trace: (runId, options) => connection.list(`${runPath(runId)}/trace`, {}, options),
  }
  return Object.setPrototypeOf(client, moved) as RunsClient
}

/** For code that calls what has moved. */
const moved = {
  start: () => refuse('start', 'run'),
  background: () => refuse('background', 'background'),
  stream: () => refuse('stream', 'stream'),
}

function refuse(old: string, name: string): never {
  throw new AppError('invalid_request', `client.runs.${old}() is now called client.agents.${name}(): rename it.`)
}
