import type { RunEvent } from '../../core/event.ts'
import { toWireEvent } from '../../core/events/sent-event.ts'
import { encodeEvent } from '../../core/sse.ts'
import type { Frames } from '../../http/reply.ts'
import type { HttpRequest } from '../../http/request.ts'
import { mapBatches } from '../../service/events/map-batches.ts'
import type { Costs } from '../../service/services.ts'

/** Whether the request accepts an event stream. */
export function acceptsEvents(request: HttpRequest): boolean {
  return request.headers.accept?.toLowerCase().includes('text/event-stream') === true
}

/** The same with what a model call costs, which is in no copy of a record. */
export function toSentEvent(event: RunEvent, prompts: boolean, costs: Costs): RunEvent {
  return event.type === 'model_call_end' ? { ...event, cost: costs.ofCall(event) } : toWireEvent(event, prompts)
}

/** Batches of events as server-sent events. */
export function toFrames(
  batches: AsyncIterable<readonly RunEvent[]>,
  prompts: boolean,
  costs: Costs,
): AsyncIterable<Frames> {
  return mapBatches(batches, (batch) => toFrame(batch, prompts, costs))
}

/** Frames of larger batches are cached, because many readers may read the same recorded page. */
const sharedFrom = 8
const shared = new WeakMap<readonly RunEvent[], { bytes: Uint8Array; prices: object }>()

function toFrame(batch: readonly RunEvent[], prompts: boolean, costs: Costs): Frames {
  if (prompts || batch.length < sharedFrom) return encodeFrame(batch, prompts, costs)
  const known = shared.get(batch)
  if (known?.prices === costs.prices) return known.bytes
  const bytes = Buffer.from(encodeFrame(batch, prompts, costs))
  shared.set(batch, { bytes, prices: costs.prices })
  return bytes
}

function encodeFrame(batch: readonly RunEvent[], prompts: boolean, costs: Costs): string {
  let frames = ''
  for (const event of batch) {
    // A reader goes on after the last event with a number of its own.
    const id = event.type === 'data_delta' ? undefined : event.seq
    frames += encodeEvent({ id, event: event.type, data: toSentEvent(event, prompts, costs) })
  }
  return frames
}
