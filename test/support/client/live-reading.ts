import type { Client, LiveEvent, LiveOptions } from '../../../src/client/index.ts'

/** Reads in the background until it is aborted. */
export function readLive(client: Client, options: LiveOptions = {}, take: (event: LiveEvent) => unknown = () => {}) {
  const events: LiveEvent[] = []
  const controller = new AbortController()
  const waiting = new Set<() => void>()
  const stream = client.live({ ...options, signal: controller.signal })
  const done = (async () => {
    for await (const event of stream) {
      await take(event)
      events.push(event)
      for (const wake of waiting) wake()
    }
  })().catch((error: unknown) => {
    if (!controller.signal.aborted) throw error
  })
  return {
    events,
    stream,
    async until(isEnough: (events: readonly LiveEvent[]) => boolean) {
      while (!isEnough(events)) await Promise.race([new Promise<void>((wake) => waiting.add(wake)), failing(done)])
    },
    async stop() {
      controller.abort()
      await done
    },
  }
}

async function failing(done: Promise<void>): Promise<never> {
  await done
  throw new Error('the stream has ended')
}
