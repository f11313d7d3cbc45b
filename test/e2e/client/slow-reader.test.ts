import { afterEach, expect, test } from 'vitest'
import type { Transport } from '../../../src/client/transport/transport.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { openCuttingProxy } from '../../support/client/cutting-proxy.ts'
import { clientBy, ways } from '../../support/client/ways.ts'
import { startServer } from '../../support/server.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const pieces = 128
const pieceChars = 256 * 1024

/** An answer of 32 MB, as fast as it can. */
const talks = agent({
  async *run() {
    for (let index = 0; index < pieces; index++) yield String(index % 10).repeat(pieceChars)
  },
})

/** Counts what is asked for where there are no sockets. */
function counting(send: Transport): { inject: Transport; carried(): number } {
  let carried = 0
  async function* count(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const bytes of body) {
      carried += bytes.length
      yield bytes
    }
  }
  return {
    carried: () => carried,
    async inject(request) {
      const { status, headers, body } = await send(request)
      return { status, headers, body: count(body) }
    },
  }
}

test.each(ways)(
  'a slow reader by %s leaves an answer with the server, and gets all of it',
  { timeout: 60_000 },
  async (way) => {
    const server = await startServer({ sessionStorage: 'memory', limits: { run: { output: '64MB' } } }, { talks })
    const proxy = await openCuttingProxy(server.url)
    const inner = counting((request) => server.server.inject(request))
    const client = clientBy(way, { url: proxy.url, server: inner })
    closers.push(server.close, proxy.close, () => client.close())
    const carried = () => (way === 'inject' ? inner.carried() : proxy.carried)

    const stream = await client.agents.stream('talks', { input: 'x' })
    let chars = 0
    let seq = 0
    for await (const event of stream) {
      expect(event.seq).toBe(++seq)
      if (event.type === 'text_delta') chars += event.text.length
      if (seq !== 3) continue
      // The run is not held up by its reader; the connection is, as soon as the buffers of the system are full.
      const done = async () => (await server.call('GET', '/api/v1/runs?status=completed')).json.count
      await expect.poll(done, { timeout: 20_000 }).toBe(1)
      let before = -1
      await expect
        .poll(
          () => {
            const stands = carried() === before
            before = carried()
            return stands
          },
          { interval: 200, timeout: 20_000 },
        )
        .toBe(true)
      expect(before).toBeLessThan((pieces * pieceChars) / 2)
    }
    expect(chars).toBe(pieces * pieceChars)
  },
)
