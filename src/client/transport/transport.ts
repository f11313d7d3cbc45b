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

/** Uses undici, which is loaded with the first request. Paths are appended to `base`. */
export function createUndiciTransport(base: string): OpenTransport {
  const opening = once(async () => {
    const { Agent, request } = await import('undici')
    // The caller sets time limits: a model may take any time to answer.
    return { request, agent: new Agent({ headersTimeout: 0, bodyTimeout: 0 }) }
  })
  return {
    async send({ method, url, headers, body, signal }) {
      const { request, agent } = await opening.get()
      const answer = await request(base + url, { dispatcher: agent, method, headers, body: body ?? null, signal })
      return { status: answer.statusCode, headers: flatten(answer.headers), body: answer.body }
    },
    async close() {
      const opened = await opening.peek()
      await opened?.agent.destroy()
    },
  }
}

/** Uses any `fetch`. */
export function createFetchTransport(base: string, fetch: typeof globalThis.fetch): OpenTransport {
  return {
    async send({ method, url, headers, body, signal }) {
      const init: RequestInit = { method, headers, signal, redirect: 'manual' }
      if (body !== undefined) init.body = typeof body === 'string' ? body : new Uint8Array(body)
      const answer = await fetch(base + url, init)
      return { status: answer.status, headers: Object.fromEntries(answer.headers), body: answer.body ?? nothing() }
    },
    async close() {},
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return flat
}

function once<T>(make: () => Promise<T>): { get(): Promise<T>; peek(): Promise<T> | undefined } {
  let made: Promise<T> | undefined
  return {
    get() {
      made ??= make()
      return made
    },
    peek: () => made,
  }
}
