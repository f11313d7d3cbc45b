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
  const decoder = new TextDecoder()
  let fields: { id?: string; event?: string } = {}
  let data: string[] = []
  /** Of the line that has not ended: joined once, since a line may come in thousands of pieces. */
  let open: string[] = []
  let size = 0
  let isAfterReturn = false
  for await (const chunk of bytes) {
    const decoded = decoder.decode(chunk, { stream: true })
    if (decoded === '') continue
    const text = isAfterReturn && decoded.startsWith('\n') ? decoded.slice(1) : decoded
    isAfterReturn = decoded.endsWith('\r')
    for (const [place, piece] of text.split(/\r\n?|\n/).entries()) {
      if (place > 0) {
        const line = open.join('')
        open = []
        if (line !== '') {
          const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
          if (name === 'data') data.push(value)
          else if (name === 'id' || (name === 'event' && value !== '')) fields[name] = value
        } else {
          if (data.length > 0) yield { ...fields, data: data.join('\n') }
          fields = {}
          data = []
          size = 0
        }
      }
      open.push(piece)
      size += piece.length
      if (size > maxEventChars)
        throw new AppError('payload_too_large', `An event of the stream is longer than ${maxEventChars} characters.`)
    }
  }
}
