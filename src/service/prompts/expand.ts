import type { RunEvent } from '../../core/event.ts'
import type { PromptReader } from './reader.ts'

type Batches = AsyncIterable<readonly RunEvent[]>

/**
 * A run's events with the prompts of its model calls whole. `earlier` gives its events from the first on: a stream that
 * begins later has calls that refer to those before it.
 */
// Not an async generator, whose `return()` would wait for the batch under way.
export function withPrompts(
  batches: Batches,
  open: () => Promise<PromptReader>,
  earlier: () => Promise<Batches>,
): Batches {
  return {
    [Symbol.asyncIterator]() {
      const iterator = batches[Symbol.asyncIterator]()
      let reader: PromptReader | undefined
      let fromStart: boolean | undefined

      async function expand(event: RunEvent): Promise<RunEvent> {
        fromStart ??= event.seq === 1
        if (event.type !== 'model_call_start') return event
        if (reader === undefined) {
          reader = await open()
          if (!fromStart) await readUntil(event.seq, await earlier(), reader)
        }
        return reader.expand(event)
      }

      return {
        async next() {
          const { done, value } = await iterator.next()
          if (done) return { done, value: undefined }
          const events: RunEvent[] = []
          for (const event of value) events.push(await expand(event))
          return { done: false, value: events }
        },
        async return() {
          await iterator.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}

async function readUntil(seq: number, batches: Batches, reader: PromptReader): Promise<void> {
  for await (const events of batches) {
    for (const event of events) {
      if (event.seq >= seq) return
      if (event.type === 'model_call_start') await reader.read(event)
    }
  }
}
