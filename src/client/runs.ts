import { AppError } from '../core/error.ts'
import type { RunStatus } from '../core/run.ts'
import type { ResumeRequest, RunAccepted, RunDetail, RunList, RunRequest, RunResult } from '../wire/run.ts'
import type { CallOptions, Connection, OpenAnswer } from './connection.ts'
import { followRun, type RunStream } from './stream.ts'

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
  /** Waits for the end. A run that fails throws `run_failed`, `timeout` or `run_cancelled` with its `runId`. */
  start(agentId: string, input: RunInput, options?: CallOptions): Promise<RunResult>
  /** Goes on without us; follow it with `events`. */
  background(agentId: string, input: RunInput, options?: CallOptions): Promise<RunAccepted>
  /**
   * The events as they happen, the final one last. A lost connection is taken up again and does not end the run; leaving the
   * loop or aborting does, unless `on_disconnect` is `continue`. With `on_disconnect: 'cancel'` a lost connection ends it too.
   */
  stream(agentId: string, input: RunInput, options?: StreamOptions): Promise<RunStream>
  get(runId: string, options?: CallOptions): Promise<RunDetail>
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
}

const defaultReconnects = 5
const cancelMs = 5000

export function createRunsClient(connection: Connection, prefix: string, silenceMs: number): RunsClient {
  const runPath = (runId: string) => `${prefix}/runs/${encodeURIComponent(runId)}`
  const agentPath = (agentId: string) => `${prefix}/agents/${encodeURIComponent(agentId)}`

  function openEvents(runId: string, after: number, options: StreamOptions): Promise<OpenAnswer> {
    return connection.open({
      ...options,
      method: 'GET',
      path: `${runPath(runId)}/events`,
      query: { include: options.includePrompts ? 'prompts' : undefined },
      headers: { accept: 'text/event-stream', ...(after > 0 ? { 'last-event-id': String(after) } : {}) },
      repeat: 'safe',
    })
  }

  function toStream(
    answer: OpenAnswer,
    runId: string,
    after: number,
    options: StreamOptions,
    leave: (() => Promise<unknown>) | undefined,
  ): RunStream {
    const follow = followRun({
      answer,
      runId,
      after,
      reconnects: options.reconnects ?? defaultReconnects,
      silenceMs,
      signal: options.signal,
      reopen: (from) => openEvents(runId, from, options),
      connection,
    })
    const events = leave === undefined ? follow : leaving(follow, options.signal, leave)
    return { runId, sessionId: answer.headers['x-session-id'], [Symbol.asyncIterator]: () => events }
  }

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
    async stream(agentId, input, options = {}) {
      const ours = input.on_disconnect === undefined
      const answer = await connection.open({
        ...options,
        method: 'POST',
        path: `${agentPath(agentId)}/run/stream`,
        query: { include: options.includePrompts ? 'prompts' : undefined },
        body: ours ? { ...input, on_disconnect: 'continue' } : input,
        headers: { accept: 'text/event-stream' },
        repeat: 'keyed',
        long: true,
      })
      const runId = answer.headers['x-run-id']
      if (runId === undefined) {
        answer.end()
        throw new AppError('internal', `${connection.name} sent a stream without an X-Run-Id.`)
      }
      // The run may end by itself in the same moment, which is as good.
      const cancel = () => client.cancel(runId, 'client_disconnected', { timeoutMs: cancelMs }).catch(() => {})
      const leave = ours ? cancel : undefined
      return toStream(answer, runId, 0, options, leave)
    },
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
    async events(runId, options = {}) {
      const after = options.after ?? 0
      return toStream(await openEvents(runId, after, options), runId, after, options, undefined)
    },
  }
  return client
}

/** Calls `leave` when the reader goes before the end; a stream that failed leaves the run as it is. */
async function* leaving<T>(
  events: AsyncIterable<T>,
  signal: AbortSignal | undefined,
  leave: () => Promise<unknown>,
): AsyncGenerator<T, void, void> {
  let left = true
  try {
    yield* events
    left = false
  } catch (error) {
    left = signal?.aborted ?? false
    throw error
  } finally {
    if (left) await leave()
  }
}
