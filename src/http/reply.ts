/** What a handler returns; the kernel alone writes it. */
export interface Reply {
  status: number
  headers?: Record<string, string | string[]> | undefined
  body?: ReplyBody | undefined
}

/** One or more whole frames; as bytes when several readers get the same. */
export type Frames = string | Uint8Array

export type ReplyBody =
  | { kind: 'json'; value: unknown }
  | { kind: 'text'; text: string; mediaType: string }
  | { kind: 'bytes'; bytes: Uint8Array; mediaType: string }
  /**
   * Server-sent events. Each value is one or more whole frames, encoded (core/sse.ts), written as one piece; the next is
   * asked for when the socket has drained. `return()` is called when the client leaves or stalls. A throw before the first
   * frame becomes an error reply; afterwards it ends the stream and is logged.
   */
  | { kind: 'sse'; frames: AsyncIterable<Frames> }
  /** Text or bytes of a length that nobody knows yet, likewise, but without heartbeats, and a throw cuts the connection. */
  | { kind: 'stream'; frames: AsyncIterable<Frames>; mediaType: string }

export function json(value: unknown, status = 200, headers?: Record<string, string>): Reply {
  return { status, headers, body: { kind: 'json', value } }
}

export function text(body: string, mediaType = 'text/plain; charset=utf-8', status = 200): Reply {
  return { status, body: { kind: 'text', text: body, mediaType } }
}

export function bytes(body: Uint8Array, mediaType: string, headers?: Record<string, string>): Reply {
  return { status: 200, headers, body: { kind: 'bytes', bytes: body, mediaType } }
}

export function empty(status = 204, headers?: Record<string, string>): Reply {
  return { status, headers }
}

/** `Cache-Control: no-store` and `X-Accel-Buffering: no` are set by the kernel. */
export function sse(frames: AsyncIterable<Frames>, headers?: Record<string, string>): Reply {
  return { status: 200, headers, body: { kind: 'sse', frames } }
}

/** Whether the body is written piece by piece. */
export function isStream(body: ReplyBody | undefined): body is Extract<ReplyBody, { kind: 'sse' | 'stream' }> {
  return body?.kind === 'sse' || body?.kind === 'stream'
}

export function stream(frames: AsyncIterable<Frames>, mediaType: string, headers?: Record<string, string>): Reply {
  return { status: 200, headers, body: { kind: 'stream', frames, mediaType } }
}
