import { pause } from '../runtime/abort.ts'
import type { A2AStreamEvent } from '../wire/protocols/a2a.ts'
import type { Connection, OpenAnswer } from './transport/connection.ts'
import { ServerError, withRun } from './transport/error.ts'
import { isPassing } from './transport/retry.ts'
import { readEvents, reconnectWaitMs } from './transport/stream.ts'

export interface FollowTaskOptions {
  /** The stream as it was opened. */
  answer: OpenAnswer
  runId: string | undefined
  /** Maximum number of reconnects in a row after the stream was cut. */
  reconnects: number
  signal: AbortSignal | undefined
  /** Sends the same message again. The reply starts from its beginning. */
  reopen: () => Promise<OpenAnswer>
  connection: Connection
}

/**
 * Reads a reply until `done`. Events of the dialect have no numbers, so after a reconnect, text that was already seen is
 * skipped by its length: the text is the same, even if it is split into other fragments.
 */
export async function* followTask(options: FollowTaskOptions): AsyncGenerator<A2AStreamEvent, void, void> {
  const { connection, runId, signal } = options
  let answer: OpenAnswer | undefined = options.answer
  let seenChars = 0
  let failed = false
  let failures = 0
  for (;;) {
    try {
      answer ??= await options.reopen()
      let position = 0
      for await (const { event } of readEvents<A2AStreamEvent>(answer, connection)) {
        if (event.type === 'content') {
          const seen = seenChars - position
          position += event.content.length
          if (seen > 0 && seen >= event.content.length) continue
          seenChars = position
          failures = 0
          yield seen > 0 ? { type: 'content', content: event.content.slice(seen) } : event
          continue
        }
        if (event.type === 'error') {
          if (failed) continue
          failed = true
        }
        yield event
        if (event.type === 'done') return
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (isEndOf(error, runId)) {
        if (!failed) yield { type: 'error', code: internalError, message: error.message }
        yield { type: 'done' }
        return
      }
      if (!isPassing(error) || failures >= options.reconnects || connection.isClosed) {
        throw runId === undefined ? error : withRun(error, runId)
      }
    }
    answer = undefined
    await pause(reconnectWaitMs(failures), signal)
    failures++
  }
}

const internalError = -32603

/** Whether the error is the end of this run: a run that ended without an answer repeats its error for the same message. */
function isEndOf(error: unknown, runId: string | undefined): error is ServerError {
  return error instanceof ServerError && error.runId === runId && error.code === 'run_failed'
}
