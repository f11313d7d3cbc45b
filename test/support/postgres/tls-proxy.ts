import { readFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

const read = (name: string) => readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url), 'utf8')

/** Signed by itself, for `database.example`. */
export const certificate = read('certificate.pem')
export const key = read('key.pem')

const requestBytes = 8

export interface Door {
  port: number
  close(): Promise<void>
}

/** A port that does this with each connection. */
export async function openDoor(greet: (socket: Socket) => void): Promise<Door> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => sockets.delete(socket))
    greet(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** A database with TLS in front of this one, as a provider has it. */
export function openTlsProxy(url: string): Promise<Door> {
  const { hostname, port } = new URL(url)
  return openDoor((socket) => {
    socket.once('data', (request) => {
      if (request.length !== requestBytes) {
        socket.destroy()
        return
      }
      socket.write('S')
      const plain = new TLSSocket(socket, { isServer: true, cert: certificate, key })
      const behind = connect(Number(port), hostname)
      const end = () => {
        plain.destroy()
        behind.destroy()
      }
      for (const side of [plain, behind]) side.on('error', end).on('close', end)
      plain.pipe(behind).pipe(plain)
    })
  })
}
