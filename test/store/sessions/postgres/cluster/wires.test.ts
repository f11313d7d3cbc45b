import { Client } from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { StoreChange } from '../../../../../src/core/cluster/cluster.ts'
import { silentLogger } from '../../../../../src/core/logger.ts'
import type { SessionStore } from '../../../../../src/core/store.ts'
import { postgresStore } from '../../../../../src/store/sessions/postgres/store.ts'
import { textEvents } from '../../../../contract/session-store/builders.ts'
import { begin, instanceOf, isTold, join, joinAll, type Member } from '../../../../contract/store-cluster/members.ts'
import { describePostgres } from '../../../../support/postgres/describe-postgres.ts'
import { type PostgresProxy, startProxy } from '../../../../support/postgres/proxy.ts'
import { type Place, testPostgres } from '../../../../support/postgres/test-postgres.ts'

describePostgres('wake-ups by way of Postgres', () => {
  let place: Place
  let listening: PostgresProxy
  let admin: Client
  const stores: SessionStore[] = []

  beforeEach(async () => {
    place = await (await testPostgres()).newDatabase()
    listening = await startProxy(place.url)
    admin = new Client({ connectionString: place.url })
    await admin.connect()
  })
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close()
    await admin.end()
    await listening.stop()
    await place.drop()
  })

  async function open(listenUrl?: string): Promise<SessionStore> {
    const store = postgresStore({ url: place.url, listenUrl })
    stores.push(store)
    await store.open()
    return store
  }
  /** Two members; only the first listens by way of the proxy. */
  const pair = async () => (await joinAll([await open(listening.url), await open()])) as [Member, Member]
  const told = (changes: StoreChange[], change: StoreChange) =>
    vi.waitFor(() => expect(changes).toContainEqual(change), { timeout: 20_000 })
  const channelOf = async (key: number): Promise<string> => {
    const { rows } = await admin.query(
      `SELECT 'agentserve_' || left(encode(sha256('agentserve'), 'hex'), 12) || '_' || $1::int AS channel`,
      [key],
    )
    return rows[0].channel
  }
  const missed = { kind: 'missed' } as const
  /** The member that listens by way of the proxy, whose connection falls silent. */
  const noticesSilence = async (a: Member) => {
    listening.stall()
    await a.cluster.beat()
    a.wakes.length = 0
    await a.cluster.beat()
    await listening.heal()
    await isTold(a, missed)
  }
  const backends = async (purpose: string) =>
    (
      await admin.query(
        `SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()`,
        [`agentserve ${purpose}`],
      )
    ).rows.map(({ pid }) => pid as number)

  test('an instance whose connection was cut listens again, and is told that it may have missed something', async () => {
    const [a, b] = await pair()
    a.wakes.length = 0
    listening.cut()
    await isTold(a, missed)
    await b.cluster.leave()
    await isTold(a, { kind: 'left', key: 2 })
  })

  test('an instance behind a pooler does not listen by way of it, and looks for what it is not told', async () => {
    const store = postgresStore({ url: listening.url, connections: 'pooled' })
    stores.push(store)
    await store.open()
    const [, b] = (await joinAll([await open(), store])) as [Member, Member]
    expect(await backends('listen')).toHaveLength(1)
    b.cluster.follow('run_elsewhere')
    for (let looks = 0; looks < 2; looks++) {
      b.wakes.length = 0
      await isTold(b, missed)
    }
    b.cluster.unfollow('run_elsewhere')
    await b.cluster.beat()
    expect(await backends('listen')).toHaveLength(1)
  })

  test('the database may end all connections at once', async () => {
    const [a, b] = await pair()
    for (const { wakes } of [a, b]) wakes.length = 0
    await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name LIKE 'agentserve %' AND datname = current_database()`)
    await Promise.all([isTold(a, missed), isTold(b, missed)])
    await vi.waitFor(() => a.cluster.beat(), { timeout: 20_000 })
    await vi.waitFor(() => b.cluster.leave(), { timeout: 20_000 })
    await isTold(a, { kind: 'left', key: 2 })
  })

  test('an instance that can not listen looks after its followed runs itself', async () => {
    const [a] = await pair()
    await listening.refuse()
    listening.cut()
    a.cluster.follow('run_elsewhere')
    a.wakes.length = 0
    await vi.waitFor(() => expect(a.wakes.filter(({ kind }) => kind === 'missed').length).toBeGreaterThan(2), 5000)
    a.cluster.unfollow('run_elsewhere')
    await listening.heal()
    a.wakes.length = 0
    await isTold(a, missed)
  })

  test('a connection that has fallen silent is found by the next beats and replaced', async () => {
    const [a, b] = await pair()
    const changes: StoreChange[] = []
    await a.cluster.watch((change) => changes.push(change))
    const hears = () => {
      b.cluster.publish({ kind: 'run', id: 'r' })
      expect(changes).toContainEqual({ kind: 'run', id: 'r' })
    }
    await vi.waitFor(hears, { timeout: 10_000 })
    a.cluster.unwatch()
    const before = await backends('listen')
    await noticesSilence(a)
    // That of the other stays.
    await vi.waitFor(async () => {
      const now = await backends('listen')
      expect(before.filter((pid) => now.includes(pid))).toHaveLength(1)
    }, 10_000)
    await b.cluster.leave()
    await isTold(a, { kind: 'left', key: 2 })
  })

  test('an echo that comes after another connection listens says nothing of later ones', async () => {
    const [a, b] = await pair()
    const channel = await channelOf(1)
    const echoes: string[] = []
    admin.on('notification', ({ payload = '' }) =>
      echoes.push(...payload.split('\n').filter((line) => line.startsWith('o'))),
    )
    await admin.query(`LISTEN "${channel}"`)
    for (let beats = 1; beats <= 3; beats++) {
      await a.cluster.beat()
      await vi.waitFor(() => expect(echoes).toHaveLength(beats), { timeout: 20_000 })
    }
    a.wakes.length = 0
    listening.cut()
    await isTold(a, missed)
    // It was on its way when the connection broke.
    await admin.query('SELECT pg_notify($1, $2)', [channel, `1\n${echoes[2]}`])
    await b.cluster.leave()
    await isTold(a, { kind: 'left', key: 2 })
    await noticesSilence(a)
  })

  test('an instance that watches learns that it missed changes while it was cut off', async () => {
    const [a, b] = await pair()
    const changes: StoreChange[] = []
    await a.cluster.watch((change) => changes.push(change))
    listening.cut()
    // When the connection breaks, and when there is another.
    await vi.waitFor(() => expect(changes).toEqual([missed, missed]), { timeout: 20_000 })
    b.cluster.publish({ kind: 'run', id: 'r' })
    await told(changes, { kind: 'run', id: 'r' })
    a.cluster.unwatch()
  })

  test('an instance that comes later knows who watches', async () => {
    const [a] = await pair()
    const changes: StoreChange[] = []
    await a.cluster.watch((change) => changes.push(change))
    const late = await join(await open(), 'late')
    await vi.waitFor(() => expect(late.cluster.isWatched).toBe(true), { timeout: 10_000 })
    late.cluster.publish({ kind: 'run', id: 'r' })
    await told(changes, { kind: 'run', id: 'r' })
    a.cluster.unwatch()
  })

  test('more changes than notifications hold become one that nobody can name', async () => {
    const [a, b] = await pair()
    const changes: StoreChange[] = []
    await a.cluster.watch((change) => changes.push(change))
    for (let n = 0; n < 5000; n++) b.cluster.publish({ kind: 'run', id: `run_with_a_rather_long_name_${n}` })
    await told(changes, missed)
    expect(changes.length).toBeLessThan(2000)
    b.cluster.publish({ kind: 'session', id: 'later' })
    await told(changes, { kind: 'session', id: 'later' })
    a.cluster.unwatch()
  })

  test('a commit notifies the followers of its run, and nobody else', async () => {
    const [a, b] = await pair()
    const [followed, other] = [await begin(a), await begin(a)]
    const heard: string[] = []
    admin.on('notification', ({ payload = '' }) => heard.push(...payload.split('\n').slice(1)))
    await admin.query(`LISTEN "${await channelOf(2)}"`)
    b.cluster.follow(followed.runId)
    const about = ({ runId }: { runId: string }) => `e${runId}`
    await vi.waitFor(() => expect(heard).toContain(about(followed)), { timeout: 20_000 })
    heard.length = 0
    for (const { runId } of [other, followed]) {
      const batch = { run_id: runId, fence: 1, events: textEvents(runId, 2, ['x']), reserve_until: 2000 }
      expect(await a.store.appendEvents(batch)).toBe('ok')
    }
    await vi.waitFor(() => expect(heard).toContain(about(followed)), { timeout: 20_000 })
    expect(heard).not.toContain(about(other))
    b.cluster.unfollow(followed.runId)
  })

  test('an instance that never hears itself says what to do', async () => {
    const said: string[] = []
    const logger = { ...silentLogger, warn: (_: object, message = '') => said.push(message) }
    // As a pooler does, which takes LISTEN and passes nothing on.
    const other = await (await testPostgres()).newDatabase()
    try {
      const store = postgresStore({ url: place.url, listenUrl: other.url, logger })
      stores.push(store)
      await store.open()
      const { cluster } = await join(store, 'mute')
      const sentence = expect.stringContaining('listenUrl')
      for (let beats = 0; beats < 5; beats++) {
        await cluster.beat()
        expect(said).toEqual(beats < 2 ? [] : [sentence])
      }
      await store.close()
    } finally {
      await other.drop()
    }
  })

  test('a notification of a stranger harms nobody', async () => {
    const [a, b] = await pair()
    await begin(a)
    const channel = await channelOf(1)
    for (const payload of [
      '',
      'x',
      '1\ne',
      '1\ne{',
      '1\nz{"a":1}',
      'NaN\np[]',
      '2\ne"x"',
      '2\ne x',
      '2\ne{"run_id":1}',
      '2\nc',
      '2\nl',
    ])
      await admin.query('SELECT pg_notify($1, $2)', [channel, payload])
    await isTold(a, { kind: 'left', key: 2 })
    expect(a.wakes.filter(({ kind }) => kind !== 'left')).toEqual([])
    await b.cluster.leave()
  })

  test('schemas of one database know nothing of each other', async () => {
    const [a] = await pair()
    const other = postgresStore({ url: place.url, schema: 'other' })
    stores.push(other)
    await other.open()
    const elsewhere = await join(other, 'elsewhere')
    expect((await elsewhere.cluster.beat()).peers).toEqual([])
    a.wakes.length = 0
    await elsewhere.cluster.join(instanceOf('second'))
    await elsewhere.cluster.leave()
    expect((await a.cluster.beat()).peers.map(({ owner }) => owner)).toEqual(['b'])
    expect(a.wakes).toEqual([])
  })

  test('all connections are closed with the store', async () => {
    const [a, b] = await pair()
    a.cluster.follow('run_elsewhere')
    await b.cluster.watch(() => {})
    await Promise.all([a.cluster.beat(), b.cluster.beat()])
    for (const store of stores.splice(0)) await store.close()
    await vi.waitFor(async () => {
      const { rows } = await admin.query(
        `SELECT application_name FROM pg_stat_activity WHERE application_name LIKE 'agentserve %' AND datname = current_database()`,
      )
      expect(rows).toEqual([])
    }, 10_000)
  })
})
