/** What a handler returns. Only the kernel writes it. */
export interface Reply {
  status: number
  headers?: Record<string, string | string[]> | undefined
  body?: ReplyBody | undefined
}

/** One or more whole frames; as bytes if several readers share them. */
export type Frames = string | Uint8Array

export type ReplyBody =
  | { kind: 'json'; value: unknown }
  | { kind: 'text'; text: string; mediaType: string }
  | { kind: 'bytes'; bytes: Uint8Array; mediaType: string }
  /**
   * Server-sent events. Each value is one or more whole encoded frames (core/sse.ts), written at once; the next one is
   * requested when the socket has drained. `return()` is called when the client disconnects or stalls. A throw before the first
   * frame becomes an error reply; afterwards it ends the stream and is logged.
   */
  | { kind: 'sse'; frames: AsyncIterable<Frames> }
  /** A stream of text or bytes. Like `sse`, but without heartbeats, and a throw closes the connection. */
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

export function isStream(body: ReplyBody | undefined): body is Extract<ReplyBody, { kind: 'sse' | 'stream' }> {
  return body?.kind === 'sse' || body?.kind === 'stream'
}

export function stream(frames: AsyncIterable<Frames>, mediaType: string, headers?: Record<string, string>): Reply {
  return { status: 200, headers, body: { kind: 'stream', frames, mediaType } }
}
