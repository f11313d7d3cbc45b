import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../../src/client/client.ts'
import type { A2AStreamEvent } from '../../../src/wire/protocols/a2a.ts'
import {
  type Cutter,
  type CuttingProxy,
  cuttingTransport,
  openCuttingProxy,
} from '../../support/client/cutting-proxy.ts'
import { clientBy, type Way, ways } from '../../support/client/ways.ts'
import { collect } from '../../support/collect.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

/* The connection to the real server is lost after each byte of its answers, the head included. */

let server: RunningTestServer
let proxy: CuttingProxy

beforeAll(async () => {
  // In memory: thousands of commits would be a test of the disk.
  server = await startServer({ sessionStorage: 'memory' })
  proxy = await openCuttingProxy(server.url)
})
afterAll(async () => {
  await proxy.close()
  await server.close()
})

interface Cut {
  client: Client
  /** Makes the call with a cut after each number of bytes, until its answer has no more; tells how often that was. */
  atEachByte(call: (bytes: number) => Promise<void>, step?: number): Promise<number>
}

// Where one way has been through every byte, some are enough for another that reads in the same manner.
const steps = { undici: 1, fetch: 9, inject: 1 }

function openCut(way: Way): Cut {
  const inner = cuttingTransport((request) => server.server.inject(request))
  const cutter: Cutter = way === 'inject' ? inner : proxy
  return {
    client: clientBy(way, { url: proxy.url, server: inner }),
    async atEachByte(call, step = steps[way]) {
      for (let bytes = 0, calls = 1; ; bytes += step, calls++) {
        cutter.cutAfter(bytes)
        await call(bytes)
        if (!cutter.disarm()) return calls
      }
    },
  }
}

async function countRuns(client: Client): Promise<number> {
  let count = 0
  let cursor: string | undefined
  do {
    const page = await client.runs.list({}, { limit: 100, cursor })
    count += page.count
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return count
}

describe.each(ways)('by %s', (way) => {
  test('a stream of events is seen whole, once, and is one run', { timeout: 300_000 }, async () => {
    const { client, atEachByte } = openCut(way)
    const before = await countRuns(client)
    const calls = await atEachByte(async (bytes) => {
      const stream = await client.agents.stream('echo', { input: 'é two' })
      const events = await collect(stream)
      expect([bytes, ...events.map(({ run_id, seq, type }) => [run_id, seq, type])]).toEqual([
        bytes,
        ...['run_start', 'text_delta', 'text_delta', 'run_end'].map((type, index) => [stream.runId, index + 1, type]),
      ])
      expect(stream.sessionId).toBeDefined()
    })
    expect(calls * steps[way]).toBeGreaterThan(500)
    expect(await countRuns(client)).toBe(before + calls)
    await client.close()
  })

  test('a stream of A2A is seen whole, once, and is one run', { timeout: 300_000 }, async () => {
    const { client, atEachByte } = openCut(way)
    const before = await countRuns(client)
    const calls = await atEachByte(async (bytes) => {
      const stream = await client.a2a.stream({ agentId: 'echo', content: 'é two', onDisconnect: 'continue' })
      const expected: A2AStreamEvent[] = [
        { type: 'content', content: 'é ' },
        { type: 'content', content: 'two' },
        { type: 'done' },
      ]
      expect([bytes, ...(await collect(stream))]).toEqual([bytes, ...expected])
    })
    expect(calls * steps[way]).toBeGreaterThan(100)
    expect(await countRuns(client)).toBe(before + calls)
    await client.close()
  })

  test('a plain answer arrives, and is of one run or session', { timeout: 300_000 }, async () => {
    const { client, atEachByte } = openCut(way)
    const before = await countRuns(client)
    const runs = await atEachByte(async () => {
      const result = await client.agents.run('echo', { input: 'one', on_disconnect: 'continue' })
      expect(result).toMatchObject({ status: 'completed', content: 'one' })
    }, 9)
    const tasks = await atEachByte(async () => {
      expect(await client.a2a.send({ agentId: 'echo', content: 'one' })).toMatchObject({ status: 'completed' })
    }, 9)
    expect(await countRuns(client)).toBe(before + runs + tasks)
    const names = new Set<string>()
    const sessions = await atEachByte(async (bytes) => {
      const { session_id } = await client.sessions.create({ user_id: way, name: `${bytes}` })
      names.add(session_id)
    }, 9)
    expect(names.size).toBe(sessions)
    let found = 0
    for (let cursor: string | undefined, more = true; more; ) {
      const page = await client.sessions.list({ user_id: way }, { limit: 100, cursor })
      found += page.count
      cursor = page.next_cursor ?? undefined
      more = cursor !== undefined
    }
    expect(found).toBe(sessions)
    await client.close()
  })
})
