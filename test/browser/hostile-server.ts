import { readFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net'

export interface HostileServer {
  port: number
  close(): Promise<void>
}

/** Somebody else's web server; `/sandboxed` gives the page the origin `null`. */
export async function startHostileServer(): Promise<HostileServer> {
  const script = await readFile(new URL('hostile-page.js', import.meta.url), 'utf8')
  const page = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><body><script>${script}</script>`
  const server = createHttpServer((request, response) => {
    const sandbox = { 'Content-Security-Policy': 'sandbox allow-scripts allow-forms', 'Referrer-Policy': 'no-referrer' }
    const headers = request.url === '/sandboxed' ? sandbox : {}
    response.writeHead(200, { 'Content-Type': 'text/html', Connection: 'close', ...headers }).end(page)
  })
  const port = await listen(server)
  return { port, close: () => closeServer(server) }
}

export interface Switchboard extends HostileServer {
  /** Connections that are open end; new ones go to this port. */
  connectTo(port: number): void
}

/** An address whose owner changes under the page's feet, as in DNS rebinding: the bytes go to one port, then to another. */
export async function startSwitchboard(firstPort: number): Promise<Switchboard> {
  let port = firstPort
  const sockets = new Set<Socket>()
  const server = createTcpServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
  })
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: await listen(server),
    connectTo(next) {
      port = next
      cut()
    },
    async close() {
      const closed = closeServer(server)
      cut()
      await closed
    },
  }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return (server.address() as AddressInfo).port
}

function closeServer(server: Server): Promise<void> {
  return new Promise((closed, fail) => server.close((error) => (error ? fail(error) : closed())))
}
