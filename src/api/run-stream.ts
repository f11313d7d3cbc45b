import type { RunEvent } from '../core/event.ts'
import { encodeEvent } from '../core/sse.ts'

/** An event as it goes out: the prompts of model calls only to those who ask for them. */
export function toWireEvent(event: RunEvent, prompts: boolean): RunEvent {
  if (prompts || event.type !== 'model_call_start') return event
  const { messages: _, ...shown } = event
  return shown
}

/**
 * Batches of events as server-sent events. Not an async generator, whose `return()` would wait for the batch under way:
 * a reader that leaves must be let go at once.
 */
export function toFrames(batches: AsyncIterable<readonly RunEvent[]>, prompts: boolean): AsyncIterable<string> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = batches[Symbol.asyncIterator]()
      return {
        async next() {
          const { done, value } = await iterator.next()
          return done ? { done, value: undefined } : { done: false, value: toFrame(value, prompts) }
        },
        async return() {
          await iterator.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}

function toFrame(batch: readonly RunEvent[], prompts: boolean): string {
  let frames = ''
  for (const event of batch) {
    frames += encodeEvent({ id: event.seq, event: event.type, data: toWireEvent(event, prompts) })
  }
  return frames
}
