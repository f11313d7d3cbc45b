import { randomInt } from 'node:crypto'
import { createServer, type Server } from 'node:net'

/**
 * A free port of loopback. It is below those that systems give to outgoing connections, so that it stays free for the
 * same server while that server restarts.
 */
export async function findPort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const port = randomInt(20_000, 32_000)
    const server = createServer()
    if (!(await canListen(server, port))) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
  throw new Error('Found no free port between 20000 and 32000.')
}

function canListen(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => resolve(true))
  })
}
