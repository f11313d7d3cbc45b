import { AppError } from '../../core/error.ts'
import { isFinalEvent, type RunEvent } from '../../core/event.ts'
import { parseSse, type SseEvent } from '../../core/sse.ts'
import { pause } from '../../runtime/abort.ts'
import type { Connection, OpenAnswer } from './connection.ts'
import { toNetworkError } from './network-error.ts'
import { isPassing } from './retry.ts'

export const defaultReconnects = 5
const reconnectMs = 200
const longestReconnectMs = 5000

/**
 * The events of an open stream, until it ends. Throws `unavailable` if it is cut or silent for longer than `silenceMs`
 * (heartbeats count as data). Leaving the loop closes the connection.
 */
export async function* readStream(answer: OpenAnswer, silenceMs: number, name: string): AsyncGenerator<SseEvent> {
  try {
    yield* parseSse(watch(answer, silenceMs))
  } catch (error) {
    throw toNetworkError(error, name)
  } finally {
    answer.end()
  }
}

async function* watch(answer: OpenAnswer, silenceMs: number): AsyncGenerator<Uint8Array> {
  const chunks = answer.body[Symbol.asyncIterator]()
  let silent = false
  const give = () => {
    silent = true
    answer.end()
  }
  try {
    for (;;) {
      const timer = setTimeout(give, silenceMs)
      const chunk = await chunks.next().finally(() => clearTimeout(timer))
      if (chunk.done) return
      yield chunk.value
    }
  } catch (error) {
    throw silent ? new AppError('unavailable', `The stream has been silent for ${silenceMs} ms.`) : error
  } finally {
    // After an error there is nothing left to release.
    await chunks.return?.().catch(() => {})
  }
}

/** The same as JSON, each with its `id`, from which the stream goes on. Who has read the last one leaves: the end is an error. */
export async function* readEvents<EVENT extends { type: string }>(
  answer: OpenAnswer,
  { silenceMs, name }: Connection,
): AsyncGenerator<{ event: EVENT; id: string | undefined }> {
  for await (const { data, id } of readStream(answer, silenceMs, name)) yield { event: parseEvent(data, name), id }
  throw new AppError('unavailable', `The stream from ${name} ended early.`)
}

/** The JSON of an event, which must be an object with a `type`. */
function parseEvent<EVENT>(data: string, name: string): EVENT {
  try {
    const value: unknown = JSON.parse(data)
    if (typeof value === 'object' && value !== null && 'type' in value) return value as EVENT
  } catch {
    // Said below.
  }
  throw new AppError('internal', `${name} sent an event that is not JSON with a type.`)
}

export interface FollowOptions {
  /** The stream as it was opened. */
  answer: OpenAnswer
  /** Only events with a larger number are returned. */
  after: number
  /** Maximum number of reconnects in a row after the stream was cut. */
  reconnects: number
  signal: AbortSignal | undefined
  /** Opens the run's events after a number. */
  reopen: (after: number) => Promise<OpenAnswer>
  connection: Connection
}

/**
 * A run's events to the final one, without gaps or repeats: a cut stream continues after the last number seen.
 * Throws the last error if the reconnects fail.
 */
export async function* followRun(options: FollowOptions): AsyncGenerator<RunEvent, void, void> {
  const { connection, reconnects, signal } = options
  let after = options.after
  let answer: OpenAnswer | undefined = options.answer
  let failures = 0
  for (;;) {
    try {
      answer ??= await options.reopen(after)
      for await (const { event } of readEvents<RunEvent>(answer, connection)) {
        // Partial data has the number of the event before it.
        if (event.type === 'data_delta' ? event.seq < after : event.seq <= after) continue
        after = event.seq
        failures = 0
        yield event
        if (isFinalEvent(event)) return
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (!isPassing(error) || failures >= reconnects || connection.isClosed) throw error
    }
    answer = undefined
    await pause(reconnectWaitMs(failures), signal)
    failures++
  }
}

/** Zero the first time: most cuts are over as soon as they are noticed. */
export function reconnectWaitMs(failures: number): number {
  return failures === 0
    ? 0
    : Math.min(longestReconnectMs, reconnectMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2)
}
