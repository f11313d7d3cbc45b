import type { RunEvent } from '../core/event.ts'
import type { StreamOptions } from './runs.ts'
import type { Connection, OpenAnswer } from './transport/connection.ts'
import { defaultReconnects, followRun } from './transport/stream.ts'

export interface OpenRun {
  runId: string
  sessionId: string | undefined
  answer: OpenAnswer
}

/** How the events of runs are read. */
export interface RunEvents {
  /** Opens the events of a run after a number. */
  open(runId: string, after: number, options: StreamOptions): Promise<OpenAnswer>
  /** The events of an open run, to the final one. Leaving the loop has no effect on the run. */
  read(run: OpenRun, after: number, options: StreamOptions): AsyncGenerator<RunEvent, void, void>
  /** Both. */
  follow(runId: string, after: number, options: StreamOptions): Promise<AsyncGenerator<RunEvent, void, void>>
}

export function createRunEvents(connection: Connection, prefix: string, silenceMs: number): RunEvents {
  function open(runId: string, after: number, options: StreamOptions): Promise<OpenAnswer> {
    return connection.open({
      signal: options.signal,
      timeoutMs: options.timeoutMs,
      method: 'GET',
      path: `${prefix}/runs/${encodeURIComponent(runId)}/events`,
      query: toQuery(options),
      headers: after > 0 ? { 'last-event-id': String(after) } : {},
      repeat: 'safe',
      // A queued run has no events yet.
      long: true,
    })
  }

  function read({ runId, answer }: OpenRun, after: number, options: StreamOptions) {
    const { reconnects = defaultReconnects, signal } = options
    const reopen = (from: number) => open(runId, from, options)
    return followRun({ answer, runId, after, reconnects, silenceMs, signal, reopen, connection })
  }

  return {
    open,
    read,
    async follow(runId, after, options) {
      const answer = await open(runId, after, options)
      return read(openRunOf(runId, answer), after, options)
    },
  }
}

export function openRunOf(runId: string, answer: OpenAnswer): OpenRun {
  return { runId, sessionId: answer.headers['x-session-id'], answer }
}

export function toQuery({ includePrompts }: StreamOptions) {
  return { include: includePrompts ? 'prompts' : undefined }
}
