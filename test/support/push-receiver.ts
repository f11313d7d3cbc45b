import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  json: any
  /** The body as it came. */
  text: string
}

/** A real server that takes push notifications. */
export interface Receiver {
  url: string
  port: number
  /** All requests whose body has arrived, in order. */
  received: Received[]
  /** Connections so far. */
  connections(): number
  /** How it answers from now on; default: 204. */
  answer(how: (request: IncomingMessage, response: ServerResponse) => void): void
  close(): Promise<void>
}

const ok = (_: IncomingMessage, response: ServerResponse) => void response.writeHead(204).end()

export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = []
  let connections = 0
  let answer: (request: IncomingMessage, response: ServerResponse) => void = ok
  const server = createServer(async (request, response) => {
    let text = ''
    try {
      for await (const piece of request.setEncoding('utf8')) text += piece
    } catch {
      return
    }
    received.push({ path: request.url ?? '', headers: request.headers, json: JSON.parse(text), text })
    answer(request, response)
  }).on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const bound = (server.address() as AddressInfo).port
  return {
    url: `http://127.0.0.1:${bound}/hook`,
    port: bound,
    received,
    connections: () => connections,
    answer(how) {
      answer = how
    },
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  }
}
