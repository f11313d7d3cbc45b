import type { ReadableStream } from 'node:stream/web'
import type { Reply } from './reply.ts'
import type { HttpRequest } from './request.ts'

export interface FromWebOptions {
  /** The handler reads the body of the original request, and the web request has none. */
  readsOriginal?: boolean
  /** The request headers that the handler needs, by their names in lower case; default: all. */
  needsHeader?: (name: string) => boolean
}

/** Adapts a web handler. Event streams are passed through; any other body is buffered first. */
export function fromWeb(
  handler: (request: Request, original: HttpRequest) => Promise<Response>,
  options: FromWebOptions = {},
): (request: HttpRequest) => Promise<Reply> {
  return async (request) => {
    const response = await handler(await toRequest(request, options), request)
    const mediaType = response.headers.get('content-type') ?? 'application/octet-stream'
    const isStream = mediaType.startsWith('text/event-stream')
    const headers: Record<string, string | string[]> = {}
    for (const [name, value] of response.headers) {
      const isOurs = perConnection.has(name) || (isStream && ofStreams.has(name))
      if (!isOurs && name !== 'content-type' && name !== 'content-length' && name !== 'set-cookie')
        headers[name] = value
    }
    const cookies = response.headers.getSetCookie()
    if (cookies.length > 0) headers['set-cookie'] = cookies
    const { status, body } = response
    if (body === null) return { status, headers }
    if (isStream) {
      return { status, headers, body: { kind: 'sse', frames: wholeFrames(body as ReadableStream<Uint8Array>) } }
    }
    return { status, headers, body: { kind: 'bytes', bytes: await response.bytes(), mediaType } }
  }
}

/** RFC 9110 7.6.1: they are about one connection, and that is the kernel's. */
const perConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
/** The kernel sets them on every event stream. */
const ofStreams = new Set(['cache-control', 'x-accel-buffering'])

async function toRequest(request: HttpRequest, { readsOriginal, needsHeader }: FromWebOptions): Promise<Request> {
  const { method, path, query, headers, signal } = request
  const search = query.size === 0 ? '' : `?${query}`
  const given = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (needsHeader?.(name) === false) continue
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) given.append(name, one)
  }
  const isEmpty = readsOriginal || method === 'GET' || method === 'HEAD' || !request.body.present
  const body = isEmpty ? null : new Uint8Array(await request.body.bytes())
  return new Request(`http://${headers.host ?? 'localhost'}${path}${search}`, { method, headers: given, body, signal })
}

/**
 * Splits the stream only between frames, since a heartbeat may be sent between two pieces. The first value is empty: the head is known
 * before any frame. Hand-written, because `return()` of a generator waits for the piece that it reads.
 */
function wholeFrames(body: ReadableStream<Uint8Array>): AsyncIterable<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let isFirst = true
  let done = false
  async function read(): Promise<string | undefined> {
    if (isFirst) {
      isFirst = false
      return ''
    }
    while (!done) {
      const piece = await reader.read()
      done = piece.done
      rest += decoder.decode(piece.value, { stream: !done })
      const end = done ? rest.length : Math.max(endOf(rest, '\n\n'), endOf(rest, '\r\n\r\n'))
      const frames = rest.slice(0, end)
      rest = rest.slice(end)
      if (frames !== '') return frames
    }
    return undefined
  }
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const value = await read()
        return value === undefined ? { done: true, value } : { done: false, value }
      },
      async return() {
        done = true
        await reader.cancel()
        return { done: true, value: undefined }
      },
    }),
  }
}

function endOf(text: string, mark: string): number {
  const at = text.lastIndexOf(mark)
  return at === -1 ? 0 : at + mark.length
}
