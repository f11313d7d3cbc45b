import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { AppError } from '../../src/core/error.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { offlineSummarizer } from '../../src/models/summarizer.ts'
import { readinessOf } from '../../src/server/readiness.ts'
import { memoryStore } from '../../src/store/sessions/memory/store.ts'
import { at, seedOf } from '../contract/session-store/builders.ts'
import { memoryCluster } from '../support/memory-cluster.ts'
import { describePostgres } from '../support/postgres/describe-postgres.ts'
import { testPostgres } from '../support/postgres/test-postgres.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

/* A server as one of several on a store, as operators see it. */

async function started(...given: Parameters<typeof startServer>): Promise<RunningTestServer> {
  const server = await startServer(...given)
  onTestFinished(() => server.close())
  return server
}

const samplesOf = async (server: RunningTestServer) => {
  const { text } = await server.call('GET', '/metrics')
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => line.split(' ') as [string, string]))
}
const readiness = async (server: RunningTestServer) => (await server.call('GET', '/health/ready')).json.status
const run = (server: RunningTestServer) => server.call('POST', '/api/v1/agents/echo/run', { input: 'hello' })

const ofPeers = [
  'agentserve_lease_age_seconds',
  'agentserve_lease_fresh',
  'agentserve_peers',
  'agentserve_tails',
  'agentserve_wakes_total',
  'agentserve_takeovers_total',
]
const ofWrites = [
  'agentserve_store_commits_total',
  'agentserve_store_writes_total',
  'agentserve_store_commit_seconds_total',
]

test('metrics tell of the other servers on the store, and nothing where there are none', async () => {
  const { add } = memoryCluster()
  const first = await started({ sessionStorage: add().store })
  const second = await started({ sessionStorage: add().store })
  const samples = await samplesOf(second)
  expect(ofPeers.filter((name) => !samples.has(name))).toEqual([])
  expect(samples.get('agentserve_peers')).toBe('1')
  expect(samples.get('agentserve_lease_fresh')).toBe('1')
  expect(Number(samples.get('agentserve_lease_age_seconds'))).toBeLessThan(9)
  expect(await readiness(first)).toBe('ready')
  const alone = await samplesOf(await started())
  expect([...ofPeers, ...ofWrites].filter((name) => alone.has(name))).toEqual([])
})

describePostgres('a server on Postgres', () => {
  test('counts its commits, their writes and their time', async () => {
    const { url, newSchema } = await testPostgres()
    const schema = newSchema()
    onTestFinished(() => schema.drop())
    const storage = { type: 'postgres', url, schema: schema.name } as const
    const server = await startServer({ sessionStorage: storage })
    try {
      expect((await run(server)).status).toBe(200)
      const samples = await samplesOf(server)
      const [commits = 0, writes = 0, seconds = 0] = ofWrites.map((name) => Number(samples.get(name)))
      expect(commits).toBeGreaterThan(0)
      expect(writes).toBeGreaterThanOrEqual(commits)
      expect(seconds).toBeGreaterThan(0)
      expect(samples.get('agentserve_peers')).toBe('0')
    } finally {
      await server.close()
    }
  })
})

describePostgres('a server on a database with a long transaction', () => {
  test('tells how long that keeps dead rows', async () => {
    const database = await (await testPostgres()).newDatabase()
    const client = new Client({ connectionString: database.url })
    const storage = { type: 'postgres', url: database.url, cluster: { deadAfter: '5s' } } as const
    const server = await startServer({ sessionStorage: storage })
    try {
      await client.connect()
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1')
      const seconds = async () => Number((await samplesOf(server)).get('agentserve_pg_oldest_xmin_seconds'))
      await expect.poll(seconds, { timeout: 20_000 }).toBeGreaterThan(1)
      await client.query('ROLLBACK')
      await expect.poll(seconds, { timeout: 20_000 }).toBeLessThan(1)
    } finally {
      await client.end()
      await server.close()
      await database.drop()
    }
  })
})

test('a server whose lease is not fresh is not ready, and its store is not asked', async () => {
  const store = { ...memoryStore(), check: () => expect.fail('it was asked') }
  for (const lease of ['held', 'out'] as const)
    expect(await readinessOf('open', store, undefined, lease)).toEqual({
      status: 'unavailable',
      checks: { storage: 'failed', knowledge: 'off' },
    })
  expect((await readinessOf('open', memoryStore(), undefined, 'fresh')).status).toBe('ready')
})

test('a server that drains says so, and answers until the drain ends', async () => {
  const server = await startServer({ sessionStorage: 'memory', logger: silentLogger })
  const controller = new AbortController()
  const closing = server.server.shutdown({ drain: '1h', deadline: 0, signal: controller.signal })
  expect(await readiness(server)).toBe('stopping')
  expect((await run(server)).status).toBe(200)
  expect((await server.call('GET', '/health')).status).toBe(200)
  controller.abort()
  await closing
  await expect(run(server)).rejects.toThrow()
  await server.close()
})

test('a drain closes connections after their answer, and answers those that come last', async () => {
  const server = await started({ sessionStorage: 'memory', logger: silentLogger })
  const { hostname, port } = new URL(server.url)
  const open = async () => {
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    return socket
  }
  const ask = async (socket: Socket) => {
    socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    return text(socket)
  }
  const [first, last] = [await open(), await open()]
  // As in the pool of a proxy: it has been used, and is kept.
  const kept = await open()
  kept.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(kept, 'data')
  const closing = server.server.shutdown({ drain: '1s', deadline: 0 })
  // The answer ends with the connection.
  expect(await ask(first)).toMatch(/^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/s)
  const refused = () =>
    open().then(
      (socket) => socket.destroy(),
      (error) => error.code,
    )
  await expect.poll(refused, { interval: 10 }).toBe('ECONNREFUSED')
  expect(await ask(last)).toMatch(/^HTTP\/1\.1 200 /)
  expect(await ask(kept)).toMatch(/^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/s)
  await closing
})

test('a drain ends when the server is shut down without one', async () => {
  const server = await startServer({ sessionStorage: 'memory', logger: silentLogger })
  const closing = server.server.shutdown({ drain: '1h', deadline: 0 })
  expect(await readiness(server)).toBe('stopping')
  await server.close()
  await closing
})

test('a server whose store is away when it looks for left summaries serves, and makes them later', async () => {
  const { add } = memoryCluster()
  const first = add().store
  await first.open()
  await first.createSession(seedOf({ session_id: 'left' }))
  await first.scheduleSummary('left', at(1))
  let refused = 0
  const { store } = add()
  const away = async () => {
    refused++
    throw new AppError('unavailable', 'The database can not be reached.')
  }
  const listSummaryJobs = async () => (refused < 2 ? away() : store.listSummaryJobs())
  const server = await started({
    sessionStorage: { ...store, listSummaryJobs },
    summaryManager: { summarizer: offlineSummarizer(), timeoutMs: 30_000 },
  })
  expect((await run(server)).status).toBe(200)
  const summary = async () => (await server.call('GET', '/api/v1/sessions/left/summary')).status
  await expect.poll(summary, { timeout: 10_000 }).toBe(200)
  expect(refused).toBe(2)
  await first.close()
})
