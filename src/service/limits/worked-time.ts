import type { RunEvent } from '../../core/event.ts'

/**
 * How long a run had worked before it went on, as far as its events tell: from each beginning to the last event before the
 * pause. `before` begins with the first event and ends with the newest `run_resumed`.
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
