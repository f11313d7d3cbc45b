import type { OpenTransport } from './transport.ts'

/** Uses undici, which is loaded with the first request. Paths are appended to `base`. `socketPath`: connects to this Unix socket. */
export function createUndiciTransport(base: string, socketPath?: string): OpenTransport {
  const opening = once(async () => {
    const { Agent, request } = await import('undici')
    // The caller sets time limits: a model may take any time to answer.
    return {
      request,
      agent: new Agent({ headersTimeout: 0, bodyTimeout: 0, ...(socketPath && { connect: { socketPath } }) }),
    }
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
