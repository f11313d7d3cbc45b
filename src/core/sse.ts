import { createParser } from 'eventsource-parser'
import { AppError } from './error.ts'

/*
 * Server-sent events, both ends (WHATWG HTML 9.2). Data is always one line of JSON, so text of a model or document
 * can't forge a field or event.
 */

export interface SseEvent {
  id?: string | undefined
  event?: string | undefined
  data: string
}

/** One whole frame; `data` is encoded as JSON. `event` must be a constant, not text from outside. */
export function encodeEvent(frame: {
  id?: string | number | undefined
  event?: string | undefined
  data: unknown
}): string {
  const id = frame.id === undefined ? '' : `id: ${frame.id}\n`
  const event = frame.event === undefined ? '' : `event: ${frame.event}\n`
  return `${id}${event}data: ${JSON.stringify(frame.data)}\n\n`
}

/** A frame with `data:` only. */
export function encodeData(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

/** A comment, which readers ignore; it keeps connections open through proxies. */
export function heartbeat(): string {
  return ': hb\n\n'
}

/** Reads a stream of events; an event above `maxEventChars` ends it with `payload_too_large`. */
export async function* parseSse(
  bytes: AsyncIterable<Uint8Array>,
  maxEventChars = 16 * 1024 * 1024,
): AsyncGenerator<SseEvent> {
  let ready: SseEvent[] = []
  let tooLarge = false
  const parser = createParser({
    maxBufferSize: maxEventChars,
    onEvent: ({ id, event, data }) => {
      ready.push({ ...(id === undefined ? {} : { id }), ...(event === undefined ? {} : { event }), data })
    },
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') tooLarge = true
    },
  })
  const decoder = new TextDecoder()
  for await (const chunk of bytes) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    const events = ready
    ready = []
    yield* events
    if (tooLarge)
      throw new AppError('payload_too_large', `An event of the stream is longer than ${maxEventChars} characters.`)
  }
}
