import type { RunEvent } from '../core/event.ts'
import type { StreamOptions } from './runs.ts'
import type { Connection, OpenAnswer } from './transport/connection.ts'
import { defaultReconnects, followRun } from './transport/stream.ts'

/** How the events of runs are read. */
export interface RunEvents {
  /** Opens the events of a run after a number. */
  open(runId: string, after: number, options: StreamOptions): Promise<OpenAnswer>
  /** The events of an open run, to the final one. Leaving the loop has no effect on the run. */
  read(runId: string, answer: OpenAnswer, after: number, options: StreamOptions): AsyncGenerator<RunEvent, void, void>
}

export function createRunEvents(connection: Connection, prefix: string): RunEvents {
  function open(runId: string, after: number, options: StreamOptions): Promise<OpenAnswer> {
    const { signal, timeoutMs } = options
    return connection.open({
      signal,
      timeoutMs,
      method: 'GET',
      path: `${prefix}/runs/${encodeURIComponent(runId)}/events`,
      query: toQuery(options),
      headers: after > 0 ? { 'last-event-id': String(after) } : {},
      repeat: 'safe',
      // A queued run has no events yet.
      long: true,
    })
  }

  return {
    open,
    read(runId, answer, after, options) {
      const { reconnects = defaultReconnects, signal } = options
      const reopen = (from: number) => open(runId, from, options)
      return followRun({ answer, after, reconnects, signal, reopen, connection })
    },
  }
}

export function toQuery({ includePrompts }: StreamOptions) {
  return { include: includePrompts ? 'prompts' : undefined }
}
