import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Endpoint extends AsyncDisposable {
  baseURL: string
  origin: string
  requests: {
    path: string | undefined
    authorization: string | undefined
    headers: IncomingHttpHeaders
    body: Record<string, unknown>
  }[]
}

/** A provider's server on a port of its own, which answers as `respond` says. */
export async function openEndpoint(
  respond: (response: ServerResponse, body: Record<string, unknown>, count: number) => void,
): Promise<Endpoint> {
  const requests: Endpoint['requests'] = []
  const server = createServer(async (request: IncomingMessage, response) => {
    let text = ''
    for await (const piece of request) text += piece
    const body = JSON.parse(text) as Record<string, unknown>
    const { url, headers } = request
    respond(response, body, requests.push({ path: url, authorization: headers.authorization, headers, body }))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    baseURL: `${origin}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

export function chunk(delta: Record<string, unknown>, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  return `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`
}

export function streamWords(response: ServerResponse, ...words: string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const content of words) response.write(chunk({ content }))
  response.write(chunk({}, 'stop'))
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
  response.write(`data: ${JSON.stringify({ id: 'x', created: 1, model: 'm', choices: [], usage })}\n\n`)
  response.end('data: [DONE]\n\n')
}

export function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: { message, type: 'x', code: null } }))
}
