import type { RunEvent } from '../core/event.ts'
import { isFinalEvent } from '../core/event.ts'

/** Reads a run to its end or pause, at most for so long. Ends early when the signal aborts. */
export async function followRun(
  events: AsyncIterable<readonly RunEvent[]>,
  { signal, mostMs }: { signal: AbortSignal; mostMs: number },
  onEvent: (event: RunEvent) => void,
): Promise<void> {
  const iterator = events[Symbol.asyncIterator]()
  const left = Promise.withResolvers<undefined>()
  const leave = () => left.resolve(undefined)
  const timer = setTimeout(leave, mostMs)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), left.promise])
      if (next === undefined || next.done) return
      for (const event of next.value) onEvent(event)
      const last = next.value.at(-1)
      if (last !== undefined && isFinalEvent(last)) return
    }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
    // A reader that waits for the next event may not end before that comes, and what it then fails with concerns nobody.
    iterator.return?.().then(undefined, () => undefined)
  }
}
