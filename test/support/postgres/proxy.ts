import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { findPort } from './port.ts'
import { Proxied, type Side, type Weather } from './proxied.ts'

/** Stands between a program and its Postgres on loopback, without TLS, and does what networks do. */
export interface PostgresProxy {
  /** The url of the server, by way of the proxy. */
  readonly url: string
  readonly port: number
  /** Open connections. */
  readonly connections: number
  /**
   * Resets all connections; new ones are taken. With one side, the other side sees nothing: the server keeps the locks
   * of a client that is gone, or the client waits for a server that is gone.
   */
  cut(side?: Side): void
  /** Refuses new connections; those that are open stay. */
  refuse(): Promise<void>
  /** Is silent in both directions, on new connections too. Nothing is lost when it heals. */
  stall(): void
  /** Delays each direction by this time. */
  delay(ms: number): void
  /**
   * Loses the next request, or the next successful answer, that has a matching statement, and closes that connection. The
   * promise says that it has happened. An answer is that to everything up to a Sync, and is lost when it is complete.
   */
  lose(what: 'request' | 'answer', of: RegExp): Promise<void>
  /** Passes so many bytes of answers, then loses the rest and closes the connection. */
  passAnswers(bytes: number): Promise<void>
  /** All is well again: what was silent is heard, and half of a connection is closed. */
  heal(): Promise<void>
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const fine = {
  delayMs: 0,
  stalled: false,
  loss: undefined,
  passing: Number.POSITIVE_INFINITY,
  dropped: () => undefined,
}

export async function startProxy(url: string): Promise<PostgresProxy> {
  const target = new URL(url)
  const server = { host: target.hostname, port: Number(target.port || 5432) }
  const port = await findPort()
  const weather: Weather = { ...fine }
  const open = new Set<Proxied>()
  const door = createServer({ noDelay: true }, (client: Socket) => {
    const proxied: Proxied = new Proxied(client, server, weather, () => open.delete(proxied))
    open.add(proxied)
  })
  const listen = () => once(door.listen(port, '127.0.0.1'), 'listening')
  const change = (changes: Partial<Weather>) => {
    Object.assign(weather, changes)
    for (const proxied of open) proxied.adjust()
  }
  await listen()
  const proxy: PostgresProxy = {
    url: through(target, port),
    port,
    get connections() {
      return open.size
    },
    cut(side = 'both') {
      for (const proxied of open) proxied.cut(side)
    },
    async refuse() {
      // It is closed at once for new connections, and only calls back when the last one has ended.
      if (door.listening) door.close()
    },
    stall: () => change({ stalled: true }),
    delay: (delayMs) => change({ delayMs }),
    lose: (what, of) => new Promise((done) => change({ loss: { what, of, done } })),
    passAnswers: (passing) => new Promise((dropped) => change({ passing, dropped })),
    async heal() {
      for (const proxied of open) proxied.cutRest()
      change(fine)
      if (!door.listening) await listen()
    },
    async stop() {
      const closed = door.listening ? once(door.close(), 'close') : undefined
      proxy.cut()
      await closed
    },
    [Symbol.asyncDispose]: () => proxy.stop(),
  }
  return proxy
}

function through(target: URL, port: number): string {
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = `${port}`
  return url.href
}
