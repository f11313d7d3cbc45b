import type { RunEvent } from '../core/event.ts'
import { isFinalEvent } from '../core/event.ts'

/** Reads a run to its end or pause. False when the signal aborted before. */
export async function followRun(
  events: AsyncIterable<readonly RunEvent[]>,
  signal: AbortSignal,
  onEvent: (event: RunEvent) => void,
): Promise<boolean> {
  const iterator = events[Symbol.asyncIterator]()
  const left = Promise.withResolvers<undefined>()
  const leave = () => left.resolve(undefined)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), left.promise])
      if (next === undefined) return false
      if (next.done) return true
      for (const event of next.value) onEvent(event)
      const last = next.value.at(-1)
      if (last !== undefined && isFinalEvent(last)) return true
    }
  } finally {
    signal.removeEventListener('abort', leave)
    // A reader that waits for the next event may not end before that comes, and what it then fails with concerns nobody.
    iterator.return?.().then(undefined, () => undefined)
  }
}
