import type { RunEvent } from '../../core/event.ts'

/**
 * How long a run worked before it was resumed: from each start or resumption to the last event before the next pause. `before`
 * begins with the first event and ends with the newest `run_resumed`.
 */
export function workedMs(before: readonly RunEvent[], startedAt: string | null): number {
  let worked = 0
  let since = Date.parse(startedAt ?? '')
  let last = since
  for (const { type, at } of before) {
    const now = Date.parse(at)
    if (type === 'run_resumed') {
      if (last > since) worked += last - since
      since = now
    }
    last = now
  }
  return worked
}
