import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Transport } from '../../../src/client/transport/transport.ts'

export interface Cutter {
  /** From now on, the connection that has carried so many bytes of answers is lost; 0: as soon as there is an answer. */
  cutAfter(bytes: number): void
  /** Nothing more is cut. Tells whether something was, since the last `cutAfter`. */
  disarm(): boolean
}

/** A way to a server on which connections are lost when a test says so. */
export interface CuttingProxy extends Cutter {
  url: string
  /** How many connections are open. */
  readonly open: number
  /** Bytes of answers that were passed on. */
  readonly carried: number
  /** Whether a connection was lost since the last `cutAfter`. */
  readonly hasCut: boolean
  /** Where new connections lead from now on. */
  leadTo(url: string): void
  close(): Promise<void>
}

export async function openCuttingProxy(target: string): Promise<CuttingProxy> {
  let { hostname, port } = new URL(target)
  let left: number | undefined
  let hasCut = false
  let carried = 0
  const sockets = new Set<Socket>()

  const proxy = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    const both = [client, upstream]
    const lose = () => {
      for (const socket of both) socket.destroy()
    }
    for (const socket of both) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', lose)
      socket.on('close', () => {
        sockets.delete(socket)
        lose()
      })
    }
    client.pipe(upstream)
    upstream.on('data', (bytes: Buffer) => {
      carried += bytes.length
      if (left === undefined || bytes.length < left) {
        if (left !== undefined) left -= bytes.length
        if (!client.write(bytes)) {
          upstream.pause()
          client.once('drain', () => upstream.resume())
        }
        return
      }
      // What came before the cut must arrive, so the end is an orderly one: the answer is short all the same.
      const last = bytes.subarray(0, left)
      left = undefined
      hasCut = true
      upstream.destroy()
      client.end(last)
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))

  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    get open() {
      return sockets.size / 2
    },
    get carried() {
      return carried
    },
    get hasCut() {
      return hasCut
    },
    cutAfter(bytes) {
      left = bytes
      hasCut = false
    },
    disarm() {
      left = undefined
      return hasCut
    },
    leadTo(url) {
      ;({ hostname, port } = new URL(url))
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}

/** The same where there are no connections: bodies end in an error after so many bytes. */
export function cuttingTransport(send: Transport): Cutter & { inject: Transport } {
  let left: number | undefined
  let hasCut = false
  async function* cut(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const bytes of body) {
      if (left === undefined || bytes.length < left) {
        if (left !== undefined) left -= bytes.length
        yield bytes
        continue
      }
      const last = bytes.subarray(0, left)
      left = undefined
      hasCut = true
      yield last
      throw new Error('The connection was lost.')
    }
  }
  return {
    async inject(request) {
      const answer = await send(request)
      return { status: answer.status, headers: answer.headers, body: cut(answer.body) }
    },
    cutAfter(bytes) {
      left = bytes
      hasCut = false
    },
    disarm() {
      left = undefined
      return hasCut
    },
  }
}
