import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { Reply } from './reply.ts'
import type { HttpRequest } from './request.ts'

export interface FromWebOptions {
  /** The handler reads the body of the original request, and the web request has none. */
  readsOriginal?: boolean
}

/** Adapts a web handler. Event streams are passed through; any other body is buffered first. */
export function fromWeb(
  handler: (request: Request, original: HttpRequest) => Promise<Response>,
  { readsOriginal = false }: FromWebOptions = {},
): (request: HttpRequest) => Promise<Reply> {
  return async (request) => {
    const response = await handler(await toRequest(request, readsOriginal), request)
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

async function toRequest(request: HttpRequest, bodiless: boolean): Promise<Request> {
  const { method, path, query, headers, signal } = request
  const search = query.size === 0 ? '' : `?${query}`
  const given = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) given.append(name, one)
  }
  const isEmpty = bodiless || method === 'GET' || method === 'HEAD' || !request.body.present
  const body = isEmpty ? null : new Uint8Array(await request.body.bytes())
  return new Request(`http://${headers.host ?? 'localhost'}${path}${search}`, { method, headers: given, body, signal })
}

/**
 * Splits the stream only between frames, since a heartbeat may be sent between two pieces. The first value is empty: the head is known
 * before any frame.
 */
async function* wholeFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = ''
  const pieces = Readable.fromWeb(body).setEncoding('utf8')
  try {
    yield ''
    for await (const text of pieces) {
      rest += text
      const end = Math.max(endOf(rest, '\n\n'), endOf(rest, '\r\n\r\n'))
      if (end === 0) continue
      yield rest.slice(0, end)
      rest = rest.slice(end)
    }
  } finally {
    pieces.destroy()
  }
  if (rest !== '') yield rest
}

function endOf(text: string, mark: string): number {
  const at = text.lastIndexOf(mark)
  return at === -1 ? 0 : at + mark.length
}
