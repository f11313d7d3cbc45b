import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { StoreCluster } from '../../../src/core/cluster/cluster.ts'
import { AppError } from '../../../src/core/error.ts'
import type { RunContext } from '../../../src/core/runnable.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { TestInstances } from '../../support/instances.ts'
import { collect, echo, type Gate, gate, request, runnable } from '../../support/services.ts'

let world: TestInstances
let slow: Gate
beforeEach(() => {
  world = new TestInstances()
  slow = gate()
})
afterEach(() => world.close())

const inSession = { sessionId: 's', mode: 'background' } as const
const unavailable = { code: 'unavailable', retryAfterSeconds: 1 }

describe('an instance that stands still', () => {
  test('loses its runs after 15 seconds: running ones are interrupted, waiting ones go on elsewhere', async () => {
    const [a, b] = await world.pair({ slow: slow.runnable, echo })
    const running = await a.runs.start(request('slow', '1', inSession))
    const context = await slow.begun(0)
    const waiting = await a.runs.start(request('echo', '2', inSession))
    const foreground = await a.runs.start(request('echo', '3', { sessionId: 's' }))
    foreground.result().catch(() => {})
    await world.advance(1_000)
    const reading = collect(await b.runs.events(running.runId, 0))
    const stoppedMs = world.nowMs
    a.isStopped = true
    const events = await world.until(reading)
    expect(world.nowMs - stoppedMs).toBeGreaterThanOrEqual(12_000)
    expect(world.nowMs - stoppedMs).toBeLessThanOrEqual(19_000)
    expect(events.at(-1)).toMatchObject({ type: 'run_end', status: 'interrupted' })
    // The one that stands still may be asked too, before it knows.
    for (const { runs } of [a, b]) {
      expect((await runs.get(running.runId)).status).toBe('interrupted')
      expect((await runs.head(running.runId)).status).toBe('interrupted')
    }
    expect((await b.runs.get(foreground.runId)).status).toBe('interrupted')
    await world.advance(200)
    expect(await b.runs.get(waiting.runId)).toMatchObject({ status: 'completed' })
    expect(b.peers.state).toMatchObject({ takenOver: 3, peers: [] })
    expect(context.signal.aborted).toBe(false)
  })

  test('joins again under another name when its new one was taken for dead, too', async () => {
    let joins = 0
    const store = (own: SessionStore): SessionStore => {
      const cluster = own.cluster as StoreCluster
      // The second time is stored, and nobody hears of it.
      const join: StoreCluster['join'] = async (self) => {
        const peers = await cluster.join(self)
        if (++joins === 2) throw new AppError('unavailable', 'away')
        return peers
      }
      return {
        ...own,
        cluster: new Proxy(cluster, { get: (of, name) => (name === 'join' ? join : Reflect.get(of, name)) }),
      }
    }
    const a = await world.add({ entities: { echo }, store })
    await world.add({ entities: { echo } })
    a.isStopped = true
    await world.advance(20_000)
    a.isStopped = false
    await world.advance(3_100)
    await world.advance(18_000)
    expect(a.peers.state.lease).toBe('fresh')
    const { runId } = await a.runs.start(request('echo', '1', inSession))
    await world.advance(200)
    expect((await a.runs.get(runId)).status).toBe('completed')
  })

  test('lets go of its runs when it goes on, and joins again as another', async () => {
    const [a, b] = await world.pair({ slow: slow.runnable, echo })
    const { owner } = a.peers
    const running = await a.runs.start(request('slow', '1', inSession))
    const context = await slow.begun(0)
    const reading = collect(running.events())
    reading.catch(() => {})
    a.isStopped = true
    await world.advance(20_000)
    slow.open(0)
    await world.advance(200)
    a.isStopped = false
    await world.advance(3_100)
    await expect(reading).rejects.toMatchObject(unavailable)
    await expect(running.result()).rejects.toMatchObject(unavailable)
    expect([a.runs.active, a.peers.owner === owner, a.peers.state.lease]).toEqual([0, false, 'fresh'])
    expect(context.signal.aborted).toBe(true)
    const recorded = await world.until(collect(await a.runs.events(running.runId, 0)))
    expect(recorded.at(-1)).toMatchObject({ type: 'run_end', status: 'interrupted' })
    const next = await world.until(a.runs.start(request('echo', 'again', inSession)))
    expect(await world.until(next.result())).toMatchObject({ status: 'completed' })
    expect(b.peers.state.peers.map((peer) => peer.owner)).toEqual([a.peers.owner])
  })

  test('keeps its runs when that lasts for 8 seconds', async () => {
    const [a, b] = await world.pair({ slow: slow.runnable })
    const running = await a.runs.start(request('slow', '1', inSession))
    await slow.begun(0)
    a.isStopped = true
    await world.advance(8_000)
    a.isStopped = false
    slow.open(0)
    expect(await world.until(running.result())).toMatchObject({ status: 'completed' })
    await world.advance(30_000)
    expect([a.told, b.told]).toEqual([[], []])
  })

  test('shows nothing of its runs from the moment that it goes on', async () => {
    const [a] = await world.pair({ slow: slow.runnable })
    const running = await a.runs.start(request('slow', '1', { ...inSession, mode: 'stream' }))
    await slow.begun(0)
    await world.advance(100)
    const seen: string[] = []
    const reading = (async () => {
      for await (const batch of running.events()) seen.push(...batch.map(({ type }) => type))
    })()
    reading.catch(() => {})
    await world.advance(50)
    expect(seen).toEqual(['run_start', 'text_delta'])
    a.isStopped = true
    await world.advance(12_000)
    // What arrives on a socket may be handled before any timer.
    const { emit } = await slow.begun(0)
    await emit({ type: 'text_delta', text: 'late' })
    await world.advance(100)
    expect(seen).toEqual(['run_start', 'text_delta'])
    await expect(a.runs.start(request('slow', 'x'))).rejects.toMatchObject({
      code: 'unavailable',
      retryAfterSeconds: 3,
    })
    a.isStopped = false
    await world.advance(200)
    expect(seen.slice(0, 3)).toEqual(['run_start', 'text_delta', 'text_delta'])
    slow.open(0)
    await world.until(reading)
  })

  test('declares nobody dead when the others stood still with it', async () => {
    const all = await world.pair({ slow: slow.runnable })
    await world.advance(4_000)
    for (const instance of all) instance.isStopped = true
    await world.advance(60_000)
    const [a, b] = all
    a.isStopped = false
    await world.advance(3_000)
    b.isStopped = false
    await world.advance(30_000)
    expect(all.map(({ peers }) => peers.state)).toMatchObject([{ lease: 'fresh' }, { lease: 'fresh' }])
    expect(all.flatMap(({ told }) => told).filter((text) => text.includes('silent'))).toEqual([])
  })
})

test('an instance that stands still while it beats takes nobody for dead by the old answer', async () => {
  const answer = Promise.withResolvers<void>()
  let isSlow = false
  const b = await world.add({ entities: { echo } })
  const a = await world.add({
    entities: { echo },
    store: (store) => {
      const cluster = store.cluster as StoreCluster
      const beat = async () => {
        const beaten = await cluster.beat()
        if (isSlow) await answer.promise
        return beaten
      }
      return {
        ...store,
        cluster: new Proxy(cluster, { get: (of, name) => (name === 'beat' ? beat : Reflect.get(of, name)) }),
      }
    },
  })
  await world.advance(5_000)
  isSlow = true
  b.isStopped = true
  await world.advance(2_000)
  a.isStopped = true
  await world.advance(20_000)
  isSlow = false
  answer.resolve()
  a.isStopped = false
  await world.advance(1_000)
  b.isStopped = false
  await world.advance(10_000)
  expect([...a.told, ...b.told].filter((text) => text.includes('silent') || text.includes('dead'))).toEqual([])
})

describe('an instance without its store', () => {
  test('holds still after 9 seconds, and goes on where it was', async () => {
    const recorded: string[] = []
    const records = runnable(async function* (_input, context: RunContext) {
      yield 'a'
      await go.promise
      await context.recorded()
      recorded.push(context.fence)
    })
    const go = Promise.withResolvers<void>()
    const [a, b] = await world.pair({ records, echo })
    const running = await a.runs.start(request('records', '1', inSession))
    await world.advance(100)
    for (const instance of [a, b]) instance.cut()
    await world.advance(8_800)
    expect(a.peers.state.lease).toBe('fresh')
    await world.advance(3_100)
    expect(a.peers.state.lease).toBe('held')
    go.resolve()
    await world.advance(60_000)
    expect(recorded).toEqual([])
    await expect(a.runs.start(request('echo', 'x'))).rejects.toMatchObject({
      code: 'unavailable',
      retryAfterSeconds: 3,
    })
    for (const instance of [a, b]) instance.heal()
    expect(await world.until(running.result(), 3_000)).toMatchObject({ status: 'completed' })
    expect(recorded).toEqual([`${running.runId}:1`])
    await world.advance(30_000)
    expect([a, b].map(({ peers }) => peers.state.takenOver)).toEqual([0, 0])
  })

  test('fails no run whose events could not be recorded for a while', async () => {
    const [a] = await world.pair({ slow: slow.runnable })
    const running = await a.runs.start(request('slow', '1', inSession))
    const { emit } = await slow.begun(0)
    await world.advance(100)
    a.cut()
    await emit({ type: 'text_delta', text: '-' })
    await world.advance(5_000)
    a.heal()
    await world.advance(200)
    slow.open(0)
    const ended = await world.until(running.result())
    expect([ended.status, ended.messages.at(-1)?.content]).toEqual(['completed', 'a-b'])
  })

  test('stops in time although the store takes no end of a run', async () => {
    const never = new Promise<never>(() => {})
    const a = await world.add({
      entities: { slow: slow.runnable },
      store: (store) => ({ ...store, finishRun: () => never }),
    })
    const b = await world.add({ entities: { slow: slow.runnable } })
    const running = await a.runs.start(request('slow', '1', inSession))
    await slow.begun(0)
    const result = running.result()
    result.catch(() => {})
    await world.until(a.close(), 3_100)
    await expect(result).rejects.toMatchObject(unavailable)
    await world.advance(100)
    expect(await b.runs.get(running.runId)).toMatchObject({ status: 'interrupted' })
  })

  test('loses its runs to those that have it', async () => {
    const [a, b] = await world.pair({ slow: slow.runnable, echo })
    const running = await a.runs.start(request('slow', '1', inSession))
    const { emit } = await slow.begun(0)
    const waiting = await a.runs.start(request('echo', '2', inSession))
    a.cut()
    await world.advance(20_000)
    expect((await b.runs.get(waiting.runId)).status).toBe('completed')
    await emit({ type: 'text_delta', text: 'late' })
    const result = running.result()
    result.catch(() => {})
    a.heal()
    await world.advance(200)
    await expect(world.until(result, 2_000)).rejects.toMatchObject(unavailable)
    expect(await a.runs.get(running.runId)).toMatchObject({ status: 'interrupted' })
    await world.advance(3_100)
    expect(a.runs.active).toBe(0)
  })
})

describe('an instance that leaves', () => {
  test('hands on its waiting background runs at once', async () => {
    const [a, b] = await world.pair({ slow: slow.runnable, echo })
    await a.runs.start(request('slow', '1', inSession))
    await slow.begun(0)
    const waiting = await a.runs.start(request('echo', '2', inSession))
    const leftMs = world.nowMs
    await world.until(a.close())
    const taken = collect(await b.runs.events(waiting.runId, 0))
    expect((await world.until(taken)).at(-1)).toMatchObject({ type: 'run_end', status: 'completed' })
    expect(world.nowMs - leftMs).toBeLessThanOrEqual(1_100)
    expect(b.peers.state.takenOver).toBe(1)
  })

  test('hands them on with the next beat when that is not told', async () => {
    const [a, b] = await world.pair({ slow: slow.runnable, echo })
    await a.runs.start(request('slow', '1', inSession))
    await slow.begun(0)
    const waiting = await a.runs.start(request('echo', '2', inSession))
    b.deafen()
    await world.until(a.close())
    await world.advance(3_100)
    expect((await b.runs.get(waiting.runId)).status).toBe('completed')
  })

  test('hands them on before those of the other instance that came later', async () => {
    const order: string[] = []
    const says = runnable(async function* ({ text }) {
      order.push(text)
      yield text
    })
    const [a, b] = await world.pair({ slow: slow.runnable, says })
    const c = await world.add({ entities: { slow: slow.runnable, says } })
    await c.runs.start(request('slow', '1', inSession))
    await slow.begun(0)
    await world.until(a.runs.start(request('says', '2', inSession)))
    await world.until(b.runs.start(request('says', '3', inSession)))
    await world.until(a.runs.start(request('says', '4', inSession)))
    await world.until(a.close())
    await world.advance(100)
    slow.open(0)
    await world.advance(6_000)
    expect(order).toEqual(['2', '3', '4'])
  })

  test('is not taken over by a guest', async () => {
    const a = await world.add({ entities: { slow: slow.runnable, echo } })
    const guest = await world.add({ entities: { slow: slow.runnable, echo }, role: 'guest' })
    await a.runs.start(request('slow', '1', inSession))
    await slow.begun(0)
    const waiting = await a.runs.start(request('echo', '2', inSession))
    await world.until(a.close())
    await world.advance(60_000)
    expect([(await guest.runs.get(waiting.runId)).status, guest.peers.state.takenOver]).toEqual(['queued', 0])
    const b = await world.add({ entities: { slow: slow.runnable, echo } })
    await world.advance(3_100)
    expect((await b.runs.get(waiting.runId)).status).toBe('completed')
  })

  test('is warned about at the start when the others have other agents', async () => {
    const a = await world.add({ entities: { echo } })
    const b = await world.add({ entities: { echo, slow: slow.runnable } })
    expect([a.told, b.told]).toMatchObject([[], [expect.stringContaining('other agents')]])
  })
})
