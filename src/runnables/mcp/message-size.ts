import { shownBytes } from '../../core/limits.ts'

/** The end of the sentence that says why a server's message was refused. */
export function tooLong(bytes: number): string {
  return `it sent a message of more than ${shownBytes(bytes)}, the limit \`mcpMessage\`; raise \`server.limits.mcpMessage\` to allow more`
}

/** The same response; its stream fails when an event or the body is too long, after a call of `onTooLong`. */
export function boundMessages(response: Response, bytes: number, onTooLong: (why: string) => void): Response {
  if (response.body === null) return response
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true
  const count = isStream ? eventBytes() : bodyBytes()
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (count(chunk) <= bytes) return controller.enqueue(chunk)
      const why = tooLong(bytes)
      onTooLong(why)
      controller.error(new Error(why))
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(bound), { status, statusText, headers })
}

type Count = (chunk: Uint8Array) => number

function bodyBytes(): Count {
  let bytes = 0
  return (chunk) => {
    bytes += chunk.length
    return bytes
  }
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** The length of the longest event in the chunk; events end with an empty line. */
function eventBytes(): Count {
  let event = 0
  let line = 0
  let first: number | undefined
  return (chunk) => {
    let longest = 0
    let from = 0
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, from)) {
      const length = end - from
      if (line === 0) first = chunk[from]
      line += length
      const isEmpty = line === 0 || (line === 1 && first === carriageReturn)
      event += length + 1
      longest = Math.max(longest, event)
      if (isEmpty) event = 0
      line = 0
      from = end + 1
    }
    const rest = chunk.length - from
    if (line === 0) first = chunk[from]
    event += rest
    line += rest
    return Math.max(longest, event)
  }
}
