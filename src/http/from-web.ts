import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { Reply } from './reply.ts'
import type { HttpRequest } from './request.ts'

/** Adapts a web handler. Event streams are passed through; any other body is buffered first. */
export function fromWeb(handler: (request: Request) => Promise<Response>): (request: HttpRequest) => Promise<Reply> {
  return async (request) => {
    const response = await handler(await toRequest(request))
    const headers: Record<string, string | string[]> = {}
    for (const [name, value] of response.headers) {
      if (name !== 'content-type' && name !== 'content-length' && name !== 'set-cookie') headers[name] = value
    }
    const cookies = response.headers.getSetCookie()
    if (cookies.length > 0) headers['set-cookie'] = cookies
    const mediaType = response.headers.get('content-type') ?? 'application/octet-stream'
    const { status, body } = response
    if (body === null) return { status, headers }
    if (mediaType.startsWith('text/event-stream')) {
      return { status, headers, body: { kind: 'sse', frames: wholeFrames(body as ReadableStream<Uint8Array>) } }
    }
    return { status, headers, body: { kind: 'bytes', bytes: await response.bytes(), mediaType } }
  }
}

async function toRequest(request: HttpRequest): Promise<Request> {
  const { method, path, query, headers, signal } = request
  const search = query.size === 0 ? '' : `?${query}`
  const given = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) given.append(name, one)
  }
  const bodiless = method === 'GET' || method === 'HEAD' || !request.body.present
  const body = bodiless ? null : new Uint8Array(await request.body.bytes())
  return new Request(`http://${headers.host ?? 'localhost'}${path}${search}`, { method, headers: given, body, signal })
}

/** Splits the stream only between frames, since a heartbeat may be sent between two pieces. */
async function* wholeFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = ''
  for await (const text of Readable.fromWeb(body).setEncoding('utf8')) {
    rest += text
    const end = Math.max(endOf(rest, '\n\n'), endOf(rest, '\r\n\r\n'))
    if (end === 0) continue
    yield rest.slice(0, end)
    rest = rest.slice(end)
  }
  if (rest !== '') yield rest
}

function endOf(text: string, mark: string): number {
  const at = text.lastIndexOf(mark)
  return at === -1 ? 0 : at + mark.length
}
