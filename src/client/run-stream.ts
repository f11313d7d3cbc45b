import { AppError, isAppError } from '../core/error.ts'
import type { RunEvent } from '../core/event.ts'
import type { RunInput } from './agents.ts'
import { toBody } from './attachments.ts'
import { type RunEvents, toQuery } from './run-events.ts'
import { type RunStream, toRunStream } from './run-result.ts'
import type { StreamOptions } from './runs.ts'
import type { Call, Connection, KeyedOptions, OpenAnswer } from './transport/connection.ts'
import { ServerError, withRun } from './transport/error.ts'
import { newKey } from './transport/key.ts'
import { isAtWork } from './transport/retry.ts'

const cancelMs = 5000

interface OpenRun {
  runId: string
  sessionId: string | undefined
  answer: OpenAnswer
}

export interface RunStreams {
  start(path: string, input: RunInput, options: StreamOptions & KeyedOptions): Promise<RunStream>
  follow(runId: string, after: number, options: StreamOptions): Promise<RunStream>
}

/** Streams of runs. Leaving a stream ends the run if this call started it, and has no effect if it only follows the run. */
export function createRunStreams(connection: Connection, prefix: string, events: RunEvents): RunStreams {
  /** Never fails: the run may already have ended. */
  async function cancel(runId: string): Promise<void> {
    const body = { reason: 'client_disconnected' }
    const path = `${prefix}/runs/${encodeURIComponent(runId)}/cancel`
    const call = { timeoutMs: cancelMs, method: 'POST', path, body, repeat: 'never' } as const
    await connection.whole(call).catch(() => {})
  }

  /** Opens the run that this call starts, or that an earlier call with the same key has started. */
  async function openRun(call: Call, options: StreamOptions): Promise<OpenRun> {
    try {
      return toOpenRun(await connection.open(call), connection.name)
    } catch (error) {
      const before = startedBefore(error)
      if (before === undefined) throw error
      return { ...before, answer: await events.open(before.runId, 0, options) }
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

  /** Errors have the id of the run. */
  async function* readRun({ runId, answer }: OpenRun, after: number, options: StreamOptions): AsyncGenerator<RunEvent> {
    try {
      yield* events.read(runId, answer, after, options)
    } catch (error) {
      options.signal?.throwIfAborted()
      throw withRun(error, runId)
    }
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
        const read = readRun(run, 0, options)
        return toRunStream(run, ours ? leaving(read, signal, () => cancel(run.runId)) : read)
      } catch (error) {
        if (ours && (signal?.aborted || isOwnTimeout(error))) await cancelUnseen(call)
        throw error
      }
    },
    async follow(runId, after, options) {
      const run = openRunOf(runId, await events.open(runId, after, options))
      return toRunStream(run, readRun(run, after, options))
    },
  }
}

function openRunOf(runId: string, answer: OpenAnswer): OpenRun {
  return { runId, sessionId: answer.headers['x-session-id'], answer }
}

function toOpenRun(answer: OpenAnswer, name: string): OpenRun {
  const runId = answer.headers['x-run-id']
  if (runId !== undefined) return openRunOf(runId, answer)
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
