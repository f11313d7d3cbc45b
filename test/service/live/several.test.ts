import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { StoreChange, StoreCluster } from '../../../src/core/cluster/cluster.ts'
import type { Runnable } from '../../../src/core/runnable.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { type WatchedStore, watchStore } from '../../../src/service/live/changes.ts'
import { headsOf } from '../../../src/service/live/heads.ts'
import type { LiveItem } from '../../../src/service/live/items.ts'
import { createLive, type Live, type OpenLive } from '../../../src/service/live/live.ts'
import { type TestInstance, TestInstances } from '../../support/instances.ts'
import { echo, gate, request } from '../../support/services.ts'
import { anyone, follow, reading } from './open.ts'

interface LiveInstance extends TestInstance {
  live: Live
}

let world: TestInstances
const lives: Live[] = []
beforeEach(() => {
  world = new TestInstances()
})
afterEach(async () => {
  for (const live of lives.splice(0)) live.close()
  await world.close()
})

/** One server of several, with its live stream. `around`: between the store and what watches it. */
async function add(
  entities: Record<string, Runnable> = { echo },
  around: (store: SessionStore) => SessionStore = (store) => store,
): Promise<LiveInstance> {
  let watched: WatchedStore | undefined
  const instance = await world.add({
    entities,
    store(store) {
      watched = watchStore(around(store))
      return watched.store
    },
  })
  const { changes } = watched as unknown as WatchedStore
  const { store, runs, timers, name } = instance
  const clock = () => world.nowMs
  const live = createLive({ serverId: `srv_${name}`, changes, heads: headsOf(store), runs, timers, clock })
  lives.push(live)
  return Object.assign(instance, { live })
}

async function open({ live }: LiveInstance, options: Partial<OpenLive> = {}) {
  const reader = reading(await world.until(live.open({ ...anyone, ...options })))
  await world.until(reader.until((items) => items.length > 0))
  return reader
}

/** With other methods of its cluster. */
function replacing(store: SessionStore, methods: Partial<StoreCluster>): SessionStore {
  const cluster = new Proxy(store.cluster as StoreCluster, {
    get: (target, name) => Reflect.get(name in methods ? methods : target, name),
  })
  return { ...store, cluster }
}

const hasRun = (runId: string, status: string) => (items: readonly LiveItem[]) =>
  items.some((item) => item.type === 'run' && item.run.run_id === runId && item.run.status === status)
const hasSession = (sessionId: string, name?: string) => (items: readonly LiveItem[]) =>
  items.some(
    (item) =>
      item.type === 'session' && item.head.session_id === sessionId && (name === undefined || item.head.name === name),
  )
const resets = (items: readonly LiveItem[]) => items.flatMap((item) => (item.type === 'reset' ? [item.reason] : []))

describe('the live stream of one server among several', () => {
  test('tells what the others change, each kind of change, as it is in the store', async () => {
    const [a, b] = [await add(), await add()]
    const reader = await open(b)
    const anns = await open(b, { user: 'ann', operator: false })
    await a.sessions.create({ session_id: 's', user_id: 'ann' })
    await world.until(reader.until(hasSession('s')))
    await world.until(anns.until(hasSession('s')))
    const { runId } = await a.runs.start(request('echo', 'words', { sessionId: 's' }))
    await world.until(reader.until(hasRun(runId, 'completed')))
    await a.sessions.update('s', { name: 'named' })
    await world.until(reader.until(hasSession('s', 'named')))
    await a.sessions.fork('s', {})
    await world.until(reader.until((items) => items.filter(({ type }) => type === 'run').length > 1))
    await a.sessions.reuse('s', { user_id: 'bob' })
    await world.until(anns.until((items) => resets(items).includes('shared')))
    await a.sessions.delete('s')
    const isDeleted = (items: readonly LiveItem[]) =>
      items.some((item) => item.type === 'session_deleted' && item.session_id === 's')
    await world.until(reader.until(isDeleted))
    await a.sessions.prune({ olderThan: '2999-01-01T00:00:00.000Z', filter: {} })
    for (const one of [reader, anns]) await world.until(one.until((items) => resets(items).includes('pruned')))
    expect(anns.items.some(({ type }) => type === 'run')).toBe(true)
    expect(resets(anns.items)).toEqual(['shared', 'pruned'])
  })

  test('follows a run of another server to its end', async () => {
    const { runnable: slow, begun, open: openGate } = gate()
    const [a, b] = [await add({ slow }), await add({ slow })]
    const { runId } = await a.runs.start(request('slow', 'x', { mode: 'background' }))
    await begun(0)
    const reader = await open(b, { follow: follow([[runId, 0]]) })
    const told = () =>
      reader.items.flatMap((item) => (item.type === 'run_event' && item.event.run_id === runId ? [item.event] : []))
    await world.until(reader.until(() => told().some(({ type }) => type === 'text_delta')))
    openGate(0)
    await world.until(reader.until(() => told().some(({ type }) => type === 'run_end')))
    const recorded = await a.store.readEvents(runId, 0, 100)
    expect(told().map(({ seq, type }) => `${seq} ${type}`)).toEqual(recorded.map(({ seq, type }) => `${seq} ${type}`))
  })

  test('follows a run that begins on another server in a followed session without waiting for the lists', async () => {
    const [a, b] = [await add(), await add()]
    const reader = await open(b, { follow: follow([], ['s']) })
    const anns = await open(b, { user: 'ann', operator: false, follow: follow([], ['s']) })
    await a.sessions.create({ session_id: 's' })
    await world.until(reader.until(hasSession('s')))
    const { runId } = await a.runs.start(request('echo', 'words', { sessionId: 's' }))
    const begunMs = world.nowMs
    const hasEnded = (items: readonly LiveItem[]) =>
      items.some((item) => item.type === 'run_event' && item.event.type === 'run_end')
    await world.until(reader.until(hasEnded))
    // Lists rest 100 ms after the change before.
    expect(world.nowMs - begunMs).toBeLessThan(50)
    const told = reader.items.flatMap((item) => (item.type === 'run_event' ? [item.event.seq] : []))
    expect(told).toEqual((await a.store.readEvents(runId, 0, 100)).map(({ seq }) => seq))
    await world.until(reader.until(hasRun(runId, 'completed')))
    expect(anns.items.map(({ type }) => type)).toEqual(['hello'])
  })

  test('takes what a peer says of a run that goes on for what it is, whatever its form', async () => {
    let tell: (change: StoreChange) => void = () => {}
    const watch = async (listener: typeof tell) => {
      tell = listener
    }
    const b = await add({ echo }, (store) => replacing(store, { watch }))
    const reader = await open(b, { follow: follow([], ['s']) })
    for (const going of [null, 1, 'x', [], {}, { session_id: 1 }, { session_id: 's' }]) {
      tell({ kind: 'run', id: 'run_none', going } as StoreChange)
    }
    await b.runs.start(request('echo', 'words', { sessionId: 's' }))
    await world.until(reader.until(hasSession('s')))
    expect(resets(reader.items)).toEqual([])
  })

  test('begins anew after a server died, whose last changes nobody told, and ends its followed runs', async () => {
    const { runnable: slow, begun, open: openGate } = gate()
    const [a, b, c] = [await add({ slow }), await add({ slow }), await add({ slow })]
    const { runId } = await a.runs.start(request('slow', 'x', { mode: 'background' }))
    await begun(0)
    const readers = [await open(b, { follow: follow([[runId, 0]]) }), await open(c)]
    a.isStopped = true
    for (const reader of readers) await world.until(reader.until((items) => resets(items).includes('missed')))
    expect((await c.store.findRun(runId))?.status).toBe('interrupted')
    const hasEnded = (items: readonly LiveItem[]) =>
      items.some((item) => item.type === 'run_event' && item.event.type === 'run_end')
    await world.until(Promise.all(readers.slice(0, 1).map((followed) => followed.until(hasEnded))))
    openGate(0)
    a.isStopped = false
    await world.advance(4_000)
    expect((await c.store.findRun(runId))?.status).toBe('interrupted')
  })

  test('begins anew after wake-ups were lost, and shows what was changed meanwhile', async () => {
    const [a, b] = [await add(), await add()]
    const reader = await open(b)
    b.deafen()
    await a.sessions.create({ session_id: 'unheard' })
    await world.advance(3_000)
    expect(hasSession('unheard')(reader.items)).toBe(false)
    b.hear(true)
    await world.until(reader.until((items) => resets(items).includes('missed')))
    expect(await b.store.findOverview('unheard')).toBeDefined()
    await a.sessions.create({ session_id: 'heard' })
    await world.until(reader.until(hasSession('heard')))
    expect(resets(reader.items)).toEqual(['missed'])
  })

  test('tells a reader that comes from another server to begin anew, and one that comes back what it missed', async () => {
    const [a, b] = [await add(), await add()]
    const reader = await open(a)
    await b.sessions.create({ session_id: 'one' })
    await world.until(reader.until(hasSession('one')))
    const last = `srv_a.${reader.batches.findLast(({ id }) => id !== undefined)?.id}`
    await b.sessions.create({ session_id: 'two' })
    await world.advance(3_000)
    const elsewhere = await open(b, { after: last })
    await world.until(elsewhere.until((items) => resets(items).length > 0))
    expect(resets(elsewhere.items)).toEqual(['restarted'])
    const back = await open(a, { after: last })
    await world.until(back.until(hasSession('two')))
    expect(resets(back.items)).toEqual([])
  })

  test('stops for a user at once whose session another server hands over', async () => {
    const { runnable: slow, begun, open: openGate } = gate()
    const [a, b] = [await add({ slow }), await add({ slow })]
    await a.sessions.create({ session_id: 's', user_id: 'ann' })
    const { runId } = await a.runs.start(request('slow', 'x', { sessionId: 's', mode: 'background' }))
    await begun(0)
    const anns = await open(b, { user: 'ann', operator: false, follow: follow([[runId, 0]]) })
    const said = (text: string) => (items: readonly LiveItem[]) =>
      items.some(({ type, ...item }) => type === 'run_event' && JSON.stringify(item).includes(`"text":"${text}"`))
    await world.until(anns.until(said('a')))
    await a.sessions.reuse('s', { user_id: 'bob' })
    openGate(0)
    await world.until(anns.until((items) => resets(items).includes('shared')))
    await world.advance(5_000)
    expect(said('b')(anns.items)).toBe(false)
    expect(hasRun(runId, 'completed')(anns.items)).toBe(false)
  })

  test('takes a change that only a newer version knows for any change', async () => {
    let tell: (change: StoreChange) => void = () => {}
    const watch = async (listener: typeof tell) => {
      tell = listener
    }
    const b = await add({ echo }, (store) => replacing(store, { watch }))
    const reader = await open(b)
    for (const change of [{ kind: 'newer', id: 'x' }, { kind: 'lists', id: 'newer' }, { kind: 'run' }]) {
      const before = resets(reader.items).length
      tell(change as StoreChange)
      await world.until(reader.until((items) => resets(items).length > before))
    }
    expect(resets(reader.items)).toEqual(['missed', 'missed', 'missed'])
  })

  test('tells others nothing while none of them watches', async () => {
    const published: string[] = []
    const noting = (store: SessionStore) =>
      replacing(store, {
        publish(change) {
          published.push(change.kind)
          store.cluster?.publish(change)
        },
      })
    const [a, b] = [await add({ echo }, noting), await add()]
    const own = await open(a)
    await a.sessions.create({ session_id: 'alone' })
    await world.until(own.until(hasSession('alone')))
    expect(published).toEqual([])
    const reader = await open(b)
    await a.sessions.create({ session_id: 'watched' })
    await world.until(reader.until(hasSession('watched')))
    await world.until(own.until(hasSession('watched')))
    expect(published).toEqual(['session'])
    b.live.close()
    await a.sessions.create({ session_id: 'later' })
    await world.until(own.until(hasSession('later')))
    expect(published).toEqual(['session'])
  })

  test('can be opened again after the store could not be reached', async () => {
    const [a, b] = [await add(), await add()]
    b.cut()
    await expect(world.until(b.live.open(anyone))).rejects.toMatchObject({ code: 'unavailable' })
    b.heal()
    const reader = await open(b)
    await world.until(reader.until((items) => resets(items).includes('missed')))
    await a.sessions.create({ session_id: 's' })
    await world.until(reader.until(hasSession('s')))
  })
})
