import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { SessionStore } from '../../../../../src/core/store.ts'
import { postgresStore } from '../../../../../src/store/sessions/postgres/store.ts'
import { at, claimOf, endOf, textEvents } from '../../../../contract/session-store/builders.ts'
import {
  begin,
  instanceOf,
  isTold,
  join,
  kill,
  type Member,
  peerOf,
  startBy,
  takeAll,
} from '../../../../contract/store-cluster/members.ts'
import { describeOwnPostgres, describePostgres } from '../../../../support/postgres/describe-postgres.ts'
import { type PostgresProxy, startProxy } from '../../../../support/postgres/proxy.ts'
import { startPostgres } from '../../../../support/postgres/server.ts'
import { type Place, testPostgres } from '../../../../support/postgres/test-postgres.ts'

const minutes = 60_000

describePostgres('an instance on Postgres with a poor connection', () => {
  let place: Place
  let proxy: PostgresProxy
  const stores: SessionStore[] = []

  beforeEach(async () => {
    place = (await testPostgres()).newSchema()
    proxy = await startProxy(place.url)
  })
  afterEach(async () => {
    await proxy.heal()
    for (const store of stores.splice(0)) await store.close()
    await proxy.stop()
    await place.drop()
  })

  async function open(url: string, clock?: () => number): Promise<SessionStore> {
    const store = postgresStore({ url, schema: place.name, clock })
    stores.push(store)
    await store.open()
    return store
  }
  /** The first is healthy; the other reaches the database by way of the proxy. */
  async function pair(): Promise<[Member, Member]> {
    return [await join(await open(place.url), 'healthy'), await join(await open(proxy.url), 'poor')]
  }
  const soon = <T>(work: () => Promise<T>) => vi.waitFor(work, { timeout: 10_000, interval: 100 })

  test('fails a beat that nobody answers, and beats again when it is heard', async () => {
    const [healthy, poor] = await pair()
    const { beat } = await peerOf(healthy, poor)
    proxy.stall()
    const sentMs = performance.now()
    await expect(poor.cluster.beat()).rejects.toMatchObject({ code: 'unavailable' })
    expect(performance.now() - sentMs).toBeLessThan(4000)
    await proxy.heal()
    expect(await soon(() => poor.cluster.beat())).toMatchObject({ lost: false })
    expect((await peerOf(healthy, poor)).beat).not.toBe(beat)
  })

  test('fails a beat at once when its connection is cut, and takes another for the next', async () => {
    const [, poor] = await pair()
    await proxy.refuse()
    proxy.cut()
    await expect(poor.cluster.beat()).rejects.toMatchObject({ code: 'unavailable' })
    await proxy.heal()
    expect(await soon(() => poor.cluster.beat())).toMatchObject({ lost: false })
  })

  test('joins again under its name when the answer to the first time was lost', async () => {
    const [healthy] = await pair()
    const store = await open(proxy.url)
    const lost = proxy.lose('answer', /INSERT INTO instance/)
    await expect(store.cluster?.join(instanceOf('late'))).rejects.toMatchObject({ code: 'unavailable' })
    await lost
    const late = await join(store, 'late')
    expect((await healthy.cluster.beat()).peers.map(({ owner }) => owner)).toEqual(['poor', 'late'])
    await late.cluster.beat()
    await expect(late.cluster.join(instanceOf('late'))).rejects.toMatchObject({ code: 'conflict' })
  })

  test('writes nothing after it was taken for dead, and goes on under another name', async () => {
    const [healthy, poor] = await pair()
    const { runId } = await begin(poor)
    proxy.stall()
    const batch = { run_id: runId, fence: 1, events: textEvents(runId, 2, ['late']), reserve_until: 5000 }
    const append = poor.store.appendEvents(batch)
    const start = startBy(poor, { claim: claimOf('k') })
    const starting = poor.store.startRun(start)
    for (const promise of [append, starting]) promise.catch(() => {})
    const { interrupted } = await takeAll(healthy, await kill(healthy, poor), at(50))
    expect(interrupted.map(({ run_id }) => run_id)).toEqual([runId])
    const before = await healthy.store.findRun(runId)
    await proxy.heal()
    expect(await soon(() => poor.cluster.beat())).toMatchObject({ lost: true })
    await Promise.allSettled([append, starting])
    expect(await healthy.store.findRun(runId)).toEqual(before)
    expect(await healthy.store.findRun(start.run.run_id)).toBeUndefined()
    expect(await healthy.store.claim(claimOf('k'))).toBeUndefined()
    await soon(() => poor.cluster.join(instanceOf('again')))
    expect(await begin({ ...poor, owner: 'again' })).toMatchObject({ outcome: 'started' })
    expect((await healthy.cluster.beat()).peers.map(({ owner }) => owner)).toEqual(['again'])
  })

  test('learns which runs it has taken over, although the answers to the commits were lost', async () => {
    const [healthy, poor] = await pair()
    const other = await join(await open(place.url), 'other')
    const waiting = await begin(other, { run: { status: 'queued', background: true } })
    const running = await begin(other)
    const key = await kill(healthy, other)
    const first = proxy.lose('answer', /^COMMIT/)
    // The first transaction releases keys, the next two take a run each.
    const taking = takeAll(poor, key, at(50))
    await first
    for (let n = 0; n < 2; n++) await proxy.lose('answer', /^COMMIT/)
    const { interrupted, queued } = await taking
    expect(interrupted.map(({ run_id }) => run_id)).toEqual([running.runId])
    expect(queued).toMatchObject([{ run: { run_id: waiting.runId }, fence: 2 }])
    expect(await healthy.store.findRun(running.runId)).toMatchObject({ status: 'interrupted', end_seq: 1001 })
  })

  test('takes over what others are ending at the same moment: each run has one end', async () => {
    const [healthy, poor] = await pair()
    const other = await join(await open(place.url), 'other')
    const runs = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        begin(other, { run: { session_id: `s${n % 20}`, background: n % 3 === 0 } }),
      ),
    )
    const key = await kill(healthy, other)
    const ends = runs.map(({ runId }) => other.store.finishRun(endOf(runId)))
    const [one, two] = await Promise.all([takeAll(healthy, key, at(50), 7), takeAll(poor, key, at(50), 7)])
    const ended = await Promise.all(ends)
    const taken = [one, two].flatMap(({ interrupted, queued }) => [...interrupted, ...queued.map(({ run }) => run)])
    const left = await takeAll(healthy, key, at(51))
    const all = [...taken, ...left.interrupted, ...left.queued.map(({ run }) => run)].map(({ run_id }) => run_id)
    expect(new Set(all).size).toBe(all.length)
    for (const [n, { runId }] of runs.entries()) {
      const status = (await healthy.store.findRun(runId))?.status ?? ''
      if (ended[n] === 'ok') expect([runId, status, all.includes(runId)]).toEqual([runId, 'completed', false])
      else expect([runId, ['interrupted', 'queued'].includes(status), all.includes(runId)]).toEqual([runId, true, true])
    }
  })

  test('does not look at the clocks of the instances', async () => {
    const early = await join(await open(place.url, () => Date.now() - 10 * minutes), 'early')
    const late = await join(await open(place.url, () => Date.now() + 10 * minutes), 'late')
    const { runId, sessionId } = await begin(early)
    for (const member of [early, late]) expect((await member.cluster.beat()).lost).toBe(false)
    expect((await late.store.recover('late', at(1000))).interrupted).toEqual([])
    const { key, beat } = await peerOf(late, early)
    await early.cluster.beat()
    expect(await late.cluster.declareDead(key, beat)).toBe(false)
    await late.store.updateSession(sessionId, { name: 'late' }, at(600))
    expect(await early.store.finishRun(endOf(runId, { completed_at: at(-600) }))).toBe('ok')
    expect((await late.store.findSession(sessionId))?.session.updated_at).toBe(at(600))
  })
})

describeOwnPostgres('instances on a Postgres that restarts', () => {
  test('go on as they were, and nobody is taken for dead', async () => {
    await using server = await startPostgres()
    const stores = Array.from({ length: 2 }, () => postgresStore({ url: server.url }))
    try {
      await Promise.all(stores.map((store) => store.open()))
      const [a, b] = (await Promise.all(stores.map((store, n) => join(store, n === 0 ? 'a' : 'b')))) as [Member, Member]
      const { runId } = await begin(a)
      b.cluster.follow(runId)
      await server.halt('immediate')
      const failed = await Promise.allSettled([a.cluster.beat(), b.cluster.beat()])
      expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      const batch = { run_id: runId, fence: 1, events: textEvents(runId, 2, ['held']), reserve_until: 5000 }
      const held = a.store.appendEvents(batch)
      b.wakes.length = 0
      await server.resume()
      expect(await held).toBe('ok')
      await isTold(b, { kind: 'missed' })
      for (const { cluster } of [a, b]) {
        expect(await vi.waitFor(() => cluster.beat(), { timeout: 10_000 })).toMatchObject({ lost: false, orphaned: [] })
      }
      expect((await b.store.readEvents(runId, 1, 10)).map(({ seq }) => seq)).toEqual([2])
      b.wakes.length = 0
      expect(await a.store.finishRun(endOf(runId, { end_seq: 3 }))).toBe('ok')
      await isTold(b, { kind: 'events', run_id: runId })
    } finally {
      for (const store of stores) await store.close()
    }
  })
})
