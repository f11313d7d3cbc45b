/** An outgoing request. A server's `inject` takes the same shape, so no socket is needed. */
export interface ClientRequest {
  method: string
  /** Path and query. */
  url: string
  headers: Record<string, string>
  body?: string | Uint8Array
  /** Ends the request, its body included. */
  signal: AbortSignal
}

export interface ClientResponse {
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  body: AsyncIterable<Uint8Array>
}

/** Sends one request and resolves with the head of its answer. Throws network errors unchanged. */
export type Transport = (request: ClientRequest) => Promise<ClientResponse>

export interface OpenTransport {
  send: Transport
  /** Aborts open requests. */
  close(): Promise<void>
}

/** Uses any `fetch`. */
export function createFetchTransport(base: string, fetch: typeof globalThis.fetch): OpenTransport {
  return {
    async send({ method, url, headers, body, signal }) {
      const init: RequestInit = { method, headers, signal, redirect: 'manual' }
      if (body !== undefined) init.body = typeof body === 'string' ? body : new Uint8Array(body)
      const answer = await fetch(base + url, init)
      return {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        body: chunksOf(answer.body),
      }
    },
    async close() {},
  }
}

/** Not every browser can iterate over a stream, and what a `fetch` of Node gives may be nothing but iterable. */
async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body !== null) yield* Symbol.asyncIterator in body ? body : read(body)
}

async function* read(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    await reader.cancel()
  }
}
