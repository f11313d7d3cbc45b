import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, createClient, type LiveEvent } from '../../../src/client/index.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { postgresStore } from '../../../src/store/sessions/postgres/store.ts'
import { readLive } from '../../support/client/live-reading.ts'
import { createPicture, listedBy } from '../../support/client/picture.ts'
import { memoryCluster } from '../../support/memory-cluster.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { type Place, testPostgres } from '../../support/postgres/test-postgres.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

/** The store of one server of several. */
interface Member {
  store: SessionStore
  /** It hears nothing of the others from now on. */
  deafen?: () => void
  hear?: (missed: boolean) => void
}

const has = (type: LiveEvent['type']) => (events: readonly LiveEvent[]) => events.some((event) => event.type === type)
const about = (id: string) => (events: readonly LiveEvent[]) =>
  events.some((event) => JSON.stringify(event).includes(id))

function testStreams(open: () => Promise<Member[]>, close: () => Promise<void> = async () => {}): void {
  let members: Member[]
  let servers: RunningTestServer[]
  let clients: Client[]
  beforeAll(async () => {
    members = await open()
    servers = await Promise.all(members.map(({ store }) => startServer({ sessionStorage: store })))
    clients = servers.map(({ url }) => createClient({ url }))
  })
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()))
    await Promise.all(servers.map((server) => server.close()))
    await close()
  })

  test('a reader of each of three servers knows what the lists say, whichever server does what', async () => {
    const random = seededRandom()
    const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
    const pictures = clients.map((client) => createPicture(client))
    const readers = clients.map((client, index) => readLive(client, {}, (event) => pictures[index]?.add(event)))
    for (const one of readers) await one.until(has('hello'))
    const change = async (session_id: string) => {
      await pick(clients).sessions.create({ session_id })
      for (let left = Math.floor(random() * 3); left > 0; left--) {
        await pick(clients).agents.run('echo', { input: 'x', session_id })
      }
      if (random() < 0.4) await pick(clients).sessions.update(session_id, { name: `name of ${session_id}` })
      if (random() < 0.2) await pick(clients).sessions.delete(session_id)
    }
    for (let first = 0; first < 200; first += 20) {
      // One of them hears nothing for a while, and then that it may have missed something.
      const deaf = pick(members)
      const isDeaf = random() < 0.3
      if (isDeaf) deaf.deafen?.()
      await Promise.all(Array.from({ length: 20 }, (_, index) => change(`s-${first + index}`)))
      if (isDeaf) deaf.hear?.(true)
    }
    const listed = await listedBy(pick(clients))
    expect(listed.size).toBeGreaterThan(100)
    for (const picture of pictures) await expect.poll(() => picture.sessions, { timeout: 20_000 }).toEqual(listed)
    for (const one of readers) await one.stop()
  }, 120_000)

  test('a reader that comes from another server is told to read the lists again', async () => {
    const [first, second] = clients as [Client, Client]
    const before = readLive(first)
    await before.until(has('hello'))
    await second.sessions.create({ session_id: 'seen-on-the-first' })
    await before.until(about('seen-on-the-first'))
    const { lastEventId } = before.stream
    await before.stop()
    const after = readLive(second, { lastEventId })
    await after.until(has('reset'))
    expect(after.events.find(({ type }) => type === 'reset')).toMatchObject({ reason: 'restarted' })
    await after.stop()
  })

  test('follows a run of another server by its events, each once', async () => {
    const [first, second] = clients as [Client, Client]
    const { run_id } = await first.agents.run('echo', { input: 'one two three' })
    const reader = readLive(second, { follow: [run_id] })
    const told = () => reader.events.flatMap((event) => (event.type === 'run_event' ? [event.event] : []))
    await reader.until(() => told().some(({ type }) => type === 'run_end'))
    const recorded = (await servers[0]?.call('GET', `/api/v1/runs/${run_id}/events`))?.text ?? ''
    expect(told().map(({ seq }) => seq)).toEqual([...recorded.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq)))
    await reader.stop()
  })

  test('follows each run that begins in a session, whichever server begins it', async () => {
    const { session_id } = await (clients[0] as Client).sessions.create({})
    const reader = readLive(clients[1] as Client, { followSessions: [session_id] })
    await reader.until(has('hello'))
    const asked: string[] = []
    for (const client of clients) asked.push((await client.agents.run('echo', { input: 'one two', session_id })).run_id)
    const told = () => reader.events.flatMap((event) => (event.type === 'run_event' ? [event.event] : []))
    await reader.until(() => told().filter(({ type }) => type === 'run_end').length === 3)
    const numbersOf = (runId: string) => told().flatMap(({ run_id, seq }) => (run_id === runId ? [seq] : []))
    expect(asked.map(numbersOf)).toEqual([
      [1, 2, 3, 4],
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ])
    await reader.stop()
  })
}

describe('live streams of servers that share a store in memory', () => {
  testStreams(async () => {
    const cluster = memoryCluster()
    return [cluster.add(), cluster.add(), cluster.add()]
  })
})

describePostgres('live streams of servers that share a Postgres', () => {
  let place: Place | undefined
  testStreams(
    async () => {
      const { url, newSchema } = await testPostgres()
      place = newSchema()
      const { name: schema } = place
      return [1, 2, 3].map(() => ({ store: postgresStore({ url, schema }) }))
    },
    async () => place?.drop(),
  )
})
