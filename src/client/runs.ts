import type { RunStatus } from '../core/run.ts'
import type { ResumeRequest, RunAccepted, RunDetail, RunList, RunRequest, RunResult } from '../wire/run.ts'
import type { RunTrace } from '../wire/run-trace.ts'
import { createRunStreams } from './run-stream.ts'
import type { CallOptions, Connection, KeyedOptions } from './transport/connection.ts'
import type { RunStream } from './transport/stream.ts'

/** What a run is asked for; how it is answered is the method's. */
export type RunInput = Omit<RunRequest, 'stream' | 'background'>

export interface StreamOptions extends CallOptions {
  /** How often in a row a stream that was cut is taken up again; default 5. */
  reconnects?: number | undefined
  /** Ask for the exact prompts of model calls. */
  includePrompts?: boolean | undefined
}

export interface PageOptions extends CallOptions {
  /** 1–100, default 20. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

export interface RunsClient {
  /**
   * Waits for the end. A run that fails throws `run_failed`, `timeout` or `run_cancelled` with its `runId`. It is cancelled
   * with its connection, unless `on_disconnect` is `continue`: then a lost answer is asked for again until the run has ended.
   */
  start(agentId: string, input: RunInput, options?: KeyedOptions): Promise<RunResult>
  /** Goes on without us; follow it with `events`. */
  background(agentId: string, input: RunInput, options?: KeyedOptions): Promise<RunAccepted>
  /**
   * The events as they happen, the final one last. A lost connection is taken up again and does not end the run; leaving the
   * loop or aborting does, unless `on_disconnect` is `continue`. With `on_disconnect: 'cancel'` a lost connection ends it too.
   */
  stream(agentId: string, input: RunInput, options?: StreamOptions & KeyedOptions): Promise<RunStream>
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

export function createRunsClient(connection: Connection, prefix: string, silenceMs: number): RunsClient {
  const runPath = (runId: string) => `${prefix}/runs/${encodeURIComponent(runId)}`
  const agentPath = (agentId: string) => `${prefix}/agents/${encodeURIComponent(agentId)}`

  // The run may end by itself in the same moment, which is as good.
  const cancel = (runId: string, timeoutMs: number) =>
    client.cancel(runId, 'client_disconnected', { timeoutMs }).then(ignore, ignore)
  const streams = createRunStreams(connection, runPath, silenceMs, cancel)

  const client: RunsClient = {
    start: (agentId, input, options) =>
      connection.json({
        ...options,
        method: 'POST',
        path: `${agentPath(agentId)}/run`,
        body: input,
        repeat: 'keyed',
        long: true,
      }),
    background: (agentId, input, options) =>
      connection.json({
        ...options,
        method: 'POST',
        path: `${agentPath(agentId)}/run`,
        body: { ...input, background: true },
        repeat: 'keyed',
      }),
    stream: (agentId, input, options = {}) => streams.start(`${agentPath(agentId)}/run/stream`, input, options),
    get: (runId, options) => connection.json({ ...options, method: 'GET', path: runPath(runId), repeat: 'safe' }),
    list: (filter, options) =>
      connection.json({
        ...options,
        method: 'GET',
        path: `${prefix}/runs`,
        query: { ...filter, limit: options?.limit, cursor: options?.cursor },
        repeat: 'safe',
      }),
    cancel: (runId, reason, options) =>
      connection.json({
        ...options,
        method: 'POST',
        path: `${runPath(runId)}/cancel`,
        body: reason === undefined ? {} : { reason },
        repeat: 'never',
      }),
    resume: (runId, answer = {}, options) =>
      connection.json({
        ...options,
        method: 'POST',
        path: `${runPath(runId)}/resume`,
        body: answer,
        repeat: 'never',
        long: true,
      }),
    events: (runId, options = {}) => streams.follow(runId, options.after ?? 0, options),
    trace: (runId, options) =>
      connection.json({
        ...options,
        method: 'GET',
        path: `${runPath(runId)}/trace`,
        query: { limit: options?.limit, cursor: options?.cursor },
        repeat: 'safe',
      }),
  }
  return client
}

function ignore(): void {}
