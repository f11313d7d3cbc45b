/** A request on its way out. The shape is what a server's `inject` takes, so that no socket is needed. */
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

/** Carries one request and resolves with the head of its answer. Throws whatever the network throws. */
export type Transport = (request: ClientRequest) => Promise<ClientResponse>

export interface OpenTransport {
  send: Transport
  /** Cuts what is still open. */
  close(): Promise<void>
}

/** Over undici, which is loaded with the first request. `base` is the URL that paths are put behind. */
export function createUndiciTransport(base: string): OpenTransport {
  const opening = once(async () => {
    const { Agent, request } = await import('undici')
    // Time limits are the caller's: an answer may take as long as a model does.
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

/** Over any `fetch`. */
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
