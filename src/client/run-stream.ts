import { AppError, isAppError } from '../core/error.ts'
import type { RunEvent } from '../core/event.ts'
import type { RunInput } from './agents.ts'
import { toBody } from './attachments.ts'
import { type RunStream, toRunStream } from './run-result.ts'
import type { StreamOptions } from './runs.ts'
import type { Call, Connection, KeyedOptions, OpenAnswer } from './transport/connection.ts'
import { ServerError } from './transport/error.ts'
import { newKey } from './transport/key.ts'
import { isAtWork } from './transport/retry.ts'
import { defaultReconnects, followRun } from './transport/stream.ts'

const cancelMs = 5000

export interface RunStreams {
  start(path: string, input: RunInput, options: StreamOptions & KeyedOptions): Promise<RunStream>
  follow(runId: string, after: number, options: StreamOptions): Promise<RunStream>
}

interface OpenRun {
  runId: string
  sessionId: string | undefined
  answer: OpenAnswer
}

/** Streams of runs. Leaving a stream ends the run if this call started it, and has no effect if it only follows the run. */
export function createRunStreams(connection: Connection, prefix: string, silenceMs: number): RunStreams {
  const runPath = (runId: string) => `${prefix}/runs/${encodeURIComponent(runId)}`

  /** Never fails: the run may already have ended. */
  async function cancel(runId: string): Promise<void> {
    const body = { reason: 'client_disconnected' }
    const path = `${runPath(runId)}/cancel`
    const call = { timeoutMs: cancelMs, method: 'POST', path, body, repeat: 'never' } as const
    await connection.text(call).catch(() => {})
  }

  function openEvents(runId: string, after: number, options: StreamOptions): Promise<OpenAnswer> {
    return connection.open({
      signal: options.signal,
      timeoutMs: options.timeoutMs,
      method: 'GET',
      path: `${runPath(runId)}/events`,
      query: toQuery(options),
      headers: after > 0 ? { 'last-event-id': String(after) } : {},
      repeat: 'safe',
      // A queued run has no events yet.
      long: true,
    })
  }

  function toEvents({ runId, answer }: OpenRun, after: number, options: StreamOptions) {
    const { reconnects = defaultReconnects, signal } = options
    const reopen = (from: number) => openEvents(runId, from, options)
    return followRun({ answer, runId, after, reconnects, silenceMs, signal, reopen, connection })
  }

  /** Opens the run that this call starts, or that an earlier call with the same key has started. */
  async function openRun(call: Call, options: StreamOptions): Promise<OpenRun> {
    try {
      return toOpenRun(await connection.open(call), connection.name)
    } catch (error) {
      const before = startedBefore(error)
      if (before === undefined) throw error
      return { ...before, answer: await openEvents(before.runId, 0, options) }
    }
  }

  /** Cancels a run that may have started before its id arrived: the same request, repeated, returns the id. */
  async function cancelUnseen(call: Call): Promise<void> {
    const asked = { ...call, signal: undefined, timeoutMs: cancelMs }
    const runId = await connection.open(asked).then(
      (answer) => {
        answer.end()
        return answer.headers['x-run-id']
      },
      (error: unknown) => startedBefore(error)?.runId,
    )
    if (runId !== undefined) await cancel(runId)
  }

  return {
    async start(path, input, options) {
      const { signal, timeoutMs, idempotencyKey = newKey() } = options
      const ours = input.on_disconnect === undefined
      const call: Call = {
        signal,
        timeoutMs,
        idempotencyKey,
        method: 'POST',
        path,
        query: toQuery(options),
        ...(await toBody(ours ? { ...input, on_disconnect: 'continue' } : input)),
        repeat: 'keyed',
        long: true,
      }
      signal?.throwIfAborted()
      try {
        const run = await openRun(call, options)
        const events = toEvents(run, 0, options)
        return toRunStream(run, ours ? leaving(events, signal, () => cancel(run.runId)) : events)
      } catch (error) {
        if (ours && (signal?.aborted || isOwnTimeout(error))) await cancelUnseen(call)
        throw error
      }
    },
    async follow(runId, after, options) {
      const answer = await openEvents(runId, after, options)
      const run = { runId, sessionId: answer.headers['x-session-id'], answer }
      return toRunStream(run, toEvents(run, after, options))
    },
  }
}

function toQuery({ includePrompts }: StreamOptions) {
  return { include: includePrompts ? 'prompts' : undefined }
}

function toOpenRun(answer: OpenAnswer, name: string): OpenRun {
  const runId = answer.headers['x-run-id']
  if (runId !== undefined) return { runId, sessionId: answer.headers['x-session-id'], answer }
  answer.end()
  throw new AppError('internal', `${name} sent a stream without an X-Run-Id.`)
}

/** The run that the key belongs to, active or interrupted. Undefined if the error is not about that. */
function startedBefore(error: unknown): { runId: string; sessionId: string | undefined } | undefined {
  if (!isAppError(error) || error.runId === undefined) return undefined
  if (!isAtWork(error) && error.code !== 'run_interrupted') return undefined
  return { runId: error.runId, sessionId: error.sessionId }
}

function isOwnTimeout(error: unknown): boolean {
  return isAppError(error) && error.code === 'timeout' && !(error instanceof ServerError)
}

/** Calls `leave` once if the reader leaves before the end or aborts. A failed stream has no effect on the run. */
function leaving(
  events: AsyncGenerator<RunEvent, void, void>,
  signal: AbortSignal | undefined,
  leave: () => Promise<void>,
): AsyncGenerator<RunEvent, void, void> {
  let left: Promise<void> | undefined
  const leaveOnce = () => {
    left ??= leave()
    return left
  }
  signal?.addEventListener('abort', leaveOnce, { once: true })
  return (async function* () {
    let isOver = false
    try {
      yield* events
      isOver = true
    } catch (error) {
      isOver = !signal?.aborted
      throw error
    } finally {
      signal?.removeEventListener('abort', leaveOnce)
      if (!isOver) await leaveOnce()
    }
  })()
}
