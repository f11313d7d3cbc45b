import type { InputRequired, RunEvent, Stamp } from '../../core/event.ts'
import { encodeEvent } from '../../core/sse.ts'
import { kindOf } from '../../core/waiting.ts'
import type { Frames } from '../../http/reply.ts'
import type { HttpRequest } from '../../http/request.ts'
import { mapBatches } from '../../service/events/map-batches.ts'

/** Whether the request accepts an event stream. */
export function acceptsEvents(request: HttpRequest): boolean {
  return request.headers.accept?.toLowerCase().includes('text/event-stream') === true
}

/** An event as it is sent. Prompts and the data for resuming are left out unless `prompts` is set. */
export function toWireEvent(event: RunEvent, prompts: boolean): RunEvent {
  if (prompts) return event.type === 'input_required' ? withKind(event) : event
  if (event.type === 'model_call_start') {
    const { type, run_id, seq, at, call_id, model } = event
    return { type, run_id, seq, at, call_id, model }
  }
  if (event.type === 'input_required') {
    const { messages: _, ...shown } = event
    return withKind(shown)
  }
  if (event.type === 'step_end') {
    const { state: _, ...shown } = event
    return shown
  }
  return event
}

/** Earlier versions did not record it. */
function withKind(event: InputRequired & Stamp): InputRequired & Stamp {
  return event.kind === undefined ? { ...event, kind: kindOf(event) } : event
}

/** Batches of events as server-sent events. */
export function toFrames(batches: AsyncIterable<readonly RunEvent[]>, prompts: boolean): AsyncIterable<Frames> {
  return mapBatches(batches, (batch) => toFrame(batch, prompts))
}

/** Frames of larger batches are cached, because many readers may read the same recorded page. */
const sharedFrom = 8
const shared = new WeakMap<readonly RunEvent[], Uint8Array>()

function toFrame(batch: readonly RunEvent[], prompts: boolean): Frames {
  if (prompts || batch.length < sharedFrom) return encodeFrame(batch, prompts)
  let bytes = shared.get(batch)
  if (bytes === undefined) {
    bytes = Buffer.from(encodeFrame(batch, prompts))
    shared.set(batch, bytes)
  }
  return bytes
}

function encodeFrame(batch: readonly RunEvent[], prompts: boolean): string {
  let frames = ''
  for (const event of batch) {
    // A reader goes on after the last event with a number of its own.
    const id = event.type === 'data_delta' ? undefined : event.seq
    frames += encodeEvent({ id, event: event.type, data: toWireEvent(event, prompts) })
  }
  return frames
}
