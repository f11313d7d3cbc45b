import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Serves on a free port of the loopback and says where, as `agentserve start --json` does. */
export function listen(listener: RequestListener): void {
  const server = createServer({ keepAliveTimeout: 72_000 }, listener)
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`)
  })
}

export function readText(request: IncomingMessage, done: (text: string) => void): void {
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => {
    text += chunk
  })
  request.on('end', () => done(text))
}
