import { toAppError } from '../../core/error.ts'
import { encodeEvent } from '../../core/sse.ts'

/** The events of work that a request asked for. A failure before the first is the answer of the request, later the last event. */
export async function* workFrames(events: AsyncIterable<{ type: string }>): AsyncGenerator<string> {
  let hasBegun = false
  try {
    for await (const event of events) {
      hasBegun = true
      yield encodeEvent({ event: event.type, data: event })
    }
  } catch (error) {
    if (!hasBegun) throw error
    const { code, message } = toAppError(error)
    yield encodeEvent({ event: 'error', data: { type: 'error', error: { code, message } } })
    if (code === 'internal') throw error
  }
}
