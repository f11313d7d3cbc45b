import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import { TestInstances } from '../../support/instances.ts'
import { collect, echo, gate, request, runnable } from '../../support/services.ts'

let world: TestInstances
beforeEach(() => {
  world = new TestInstances()
})
afterEach(() => world.close())

describe('a run on another instance', () => {
  test('is read there as its owner shows it, from any event on', async () => {
    const { runnable: slow, begun, open } = gate()
    const [a, b] = await world.pair({ slow })
    const handle = await a.runs.start(request('slow', 'x', { mode: 'background' }))
    await begun(0)
    const own = collect(handle.events())
    const remote = [0, 1, 2].map(async (after) => collect(await b.runs.events(handle.runId, after)))
    await world.advance(200)
    expect(b.peers.state.tails).toBe(1)
    open(0)
    const events = await world.until(own)
    expect(events.length).toBeGreaterThan(3)
    for (const [after, reading] of remote.entries()) {
      expect(JSON.stringify(await world.until(reading))).toBe(JSON.stringify(events.slice(after)))
    }
    expect(b.peers.state.tails).toBe(0)
  })

  test('is read as soon as its owner tells of something new', async () => {
    const { runnable: slow, begun, open } = gate()
    const [a, b] = await world.pair({ slow })
    const handle = await a.runs.start(request('slow', 'x', { mode: 'background' }))
    await begun(0)
    const reading = collect(await b.runs.events(handle.runId, 0))
    await world.advance(200)
    const { nowMs } = world
    open(0)
    expect((await world.until(reading)).at(-1)).toMatchObject({ type: 'run_end', status: 'completed' })
    expect(world.nowMs).toBe(nowMs)
  })

  test('is read without wake-ups too, a second later at most', async () => {
    const { runnable: slow, begun, open } = gate()
    const [a, b] = await world.pair({ slow })
    const handle = await a.runs.start(request('slow', 'x', { mode: 'background' }))
    await begun(0)
    b.deafen()
    const reading = collect(await b.runs.events(handle.runId, 0))
    await world.advance(100)
    open(0)
    await world.advance(100)
    const endedMs = world.nowMs
    expect((await world.until(reading)).at(-1)).toMatchObject({ type: 'run_end', status: 'completed' })
    expect(world.nowMs - endedMs).toBeLessThanOrEqual(1_100)
  })

  test('shows what is recorded of its answer', async () => {
    const { runnable: slow, begun, open } = gate()
    const [a, b] = await world.pair({ slow })
    const { runId } = await a.runs.start(request('slow', 'x', { mode: 'background' }))
    await begun(0)
    await world.advance(100)
    const run = await b.runs.get(runId)
    expect([run.status, run.messages.map(({ content }) => content)]).toEqual(['running', ['x', 'a']])
    open(0)
    await world.advance(100)
    expect((await b.runs.get(runId)).messages.map(({ content }) => content)).toEqual(['x', 'ab'])
  })

  test.for([
    ['at once', false, 100],
    ['by the next beat where wake-ups are lost', true, 4_000],
  ] as const)('is cancelled %s', async ([_, isDeaf, withinMs]) => {
    const { runnable: slow, begun } = gate()
    const [a, b] = await world.pair({ slow })
    const handle = await a.runs.start(request('slow', 'x', { mode: 'background' }))
    const context = await begun(0)
    if (isDeaf) for (const instance of [a, b]) instance.deafen()
    const cancelled = await world.until(b.runs.cancel(handle.runId, 'enough'), withinMs)
    expect([cancelled.status, cancelled.cancellation_reason]).toEqual(['cancelled', 'enough'])
    expect(context.signal.aborted).toBe(true)
    await expect(b.runs.cancel(handle.runId)).rejects.toMatchObject({ code: 'conflict' })
  })

  test('is left by a reader that goes away, with all its timers', async () => {
    const { runnable: slow, begun, open } = gate()
    const [a, b] = await world.pair({ slow })
    const { runId } = await a.runs.start(request('slow', 'x', { mode: 'background' }))
    await begun(0)
    await world.advance(100)
    const before = b.timers.size
    const leaving = new AbortController()
    const batches = (await b.runs.events(runId, 0))[Symbol.asyncIterator]()
    const other = collect(await b.runs.events(runId, 0, leaving.signal))
    await world.until(batches.next())
    const waiting = batches.next()
    await world.advance(20)
    expect([b.peers.state.tails, b.timers.size > before]).toEqual([1, true])
    await batches.return?.()
    expect(await waiting).toMatchObject({ done: true })
    expect(b.peers.state.tails).toBe(1)
    leaving.abort()
    expect((await world.until(other)).length).toBeGreaterThan(0)
    expect([b.peers.state.tails, b.timers.size]).toEqual([0, before])
    open(0)
  })

  test('keeps no timer of a server that stops, also for a reader that stands still', async () => {
    const { runnable: slow, begun, open } = gate()
    const [a, b] = await world.pair({ slow })
    const { runId } = await a.runs.start(request('slow', 'x', { mode: 'background' }))
    await begun(0)
    await world.advance(100)
    const before = b.timers.size
    const batches = (await b.runs.events(runId, 0))[Symbol.asyncIterator]()
    await world.until(batches.next())
    expect(b.timers.size).toBe(before + 1)
    b.peers.endTails(new AppError('unavailable', 'stopping'))
    expect(b.timers.size).toBe(before)
    await expect(batches.next()).rejects.toMatchObject({ code: 'unavailable' })
    open(0)
  })

  test('has one tail and one read a wake-up, however many read it', async () => {
    const { runnable: slow, begun, open } = gate()
    const a = await world.add({ entities: { slow } })
    let reads = 0
    const b = await world.add({
      entities: { slow },
      store: (store) => ({
        ...store,
        readEvents: (...given) => {
          reads++
          return store.readEvents(...given)
        },
      }),
    })
    const handle = await a.runs.start(request('slow', 'x', { mode: 'background' }))
    await begun(0)
    await world.advance(100)
    const readings = Array.from({ length: 100 }, async () => collect(await b.runs.events(handle.runId, 0)))
    await world.advance(100)
    reads = 0
    open(0)
    await world.advance(100)
    const all = await Promise.all(readings)
    expect(new Set(all.map((events) => JSON.stringify(events))).size).toBe(1)
    expect(reads).toBeLessThanOrEqual(2)
  })

  test('is told of by a key that is used again: a conflict, or its events', async () => {
    const { runnable: slow, begun, open } = gate()
    const [a, b] = await world.pair({ slow })
    const idempotency = { key: 'k', hash: 'h', whileRunning: 'conflict' } as const
    const handle = await a.runs.start(request('slow', 'x', { mode: 'background', idempotency }))
    await begun(0)
    await expect(b.runs.start(request('slow', 'x', { idempotency }))).rejects.toMatchObject({
      code: 'conflict',
      runId: handle.runId,
      retryAfterSeconds: 1,
    })
    const joined = await b.runs.start(request('slow', 'x', { idempotency: { ...idempotency, whileRunning: 'join' } }))
    expect([joined.runId, joined.replayed]).toEqual([handle.runId, true])
    const reading = collect(joined.events())
    const result = joined.result()
    open(0)
    expect((await world.until(result)).messages.at(-1)?.content).toBe('ab')
    expect((await world.until(reading)).at(-1)).toMatchObject({ type: 'run_end' })
  })

  test('goes on after a pause where it is answered, and is followed from elsewhere by the same answer', async () => {
    const asks = runnable(async function* (_input, { resumed }) {
      if (resumed === undefined) yield { type: 'input_required', prompt: 'How many?' }
      else yield `got ${JSON.stringify(resumed.input)}`
    })
    const [a, b] = await world.pair({ asks })
    const handle = await a.runs.start(request('asks', 'x', { mode: 'background' }))
    const remote = collect(await b.runs.events(handle.runId, 0))
    const paused = await world.until(handle.result())
    expect(paused.status).toBe('input_required')
    expect((await world.until(remote)).at(-1)).toMatchObject({ type: 'run_end', status: 'input_required' })
    const resumed = await world.until(b.runs.resume(handle.runId, { mode: 'background', input: 3 }))
    const again = await world.until(a.runs.resume(handle.runId, { mode: 'background', input: 3 }))
    expect(again.replayed).toBe(true)
    const own = await world.until(collect(resumed.events()))
    expect(JSON.stringify(await world.until(collect(again.events())))).toBe(JSON.stringify(own))
    expect((await world.until(a.runs.get(handle.runId))).messages.at(-1)?.content).toBe('got 3')
  })

  test('is cancelled with its session', async () => {
    const { runnable: slow, begun } = gate()
    const [a, b] = await world.pair({ slow })
    const first = await a.runs.start(request('slow', '1', { sessionId: 's', mode: 'background' }))
    const second = await a.runs.start(request('slow', '2', { sessionId: 's', mode: 'background' }))
    await begun(0)
    expect((await world.until(b.sessions.active('s')))?.run_id).toBe(second.runId)
    await world.until(b.sessions.delete('s'))
    for (const handle of [first, second]) {
      expect(await handle.result()).toMatchObject({ status: 'cancelled', cancellation_reason: 'session_deleted' })
      await expect(b.runs.get(handle.runId)).rejects.toMatchObject({ code: 'run_not_found' })
    }
  })

  test('is not deleted under an instance that can not end it, and would go on telling of it', async () => {
    const { runnable: slow, begun } = gate()
    const [a, b] = await world.pair({ slow })
    const { runId } = await a.runs.start(request('slow', '1', { sessionId: 's', mode: 'background' }))
    await begun(0)
    a.cut()
    const deleting = b.sessions.delete('s')
    await world.advance(7_000)
    expect((await b.runs.get(runId)).status).toBe('running')
    await world.until(deleting)
    await expect(a.runs.get(runId)).rejects.toMatchObject({ code: 'unavailable' })
    a.heal()
    for (const { runs } of [a, b]) await expect(runs.get(runId)).rejects.toMatchObject({ code: 'run_not_found' })
  })

  test('is not told of when it was deleted while its owner waits for the answer to its end', async () => {
    const [a, b] = await world.pair({ echo })
    const answered = Promise.withResolvers<void>()
    const { finishRun } = a.store
    a.store.finishRun = async (end) => {
      const finished = await finishRun(end)
      await answered.promise
      return finished
    }
    const { runId, result } = await a.runs.start(request('echo', '1', { sessionId: 's', mode: 'background' }))
    await expect.poll(() => b.store.findRun(runId).then((run) => run?.status)).toBe('completed')
    await world.until(b.sessions.delete('s'))
    await expect(a.runs.get(runId)).rejects.toMatchObject({ code: 'run_not_found' })
    await expect(a.runs.head(runId)).rejects.toMatchObject({ code: 'run_not_found' })
    await expect(a.runs.events(runId, 0)).rejects.toMatchObject({ code: 'run_not_found' })
    answered.resolve()
    await world.until(result())
  })

  test('ends for its readers when its session is deleted', async () => {
    const { runnable: slow, begun } = gate()
    const [a, b] = await world.pair({ slow })
    const { runId } = await a.runs.start(request('slow', '1', { sessionId: 's', mode: 'background' }))
    await begun(0)
    const reading = collect(await b.runs.events(runId, 0))
    await world.advance(100)
    await a.store.deleteSession('s')
    await world.until(reading, 3_000)
    expect(b.peers.state.tails).toBe(0)
  })

  test('is no longer of interest when the process stops: its readers go elsewhere', async () => {
    const { runnable: slow, begun, open } = gate()
    const [a, b] = await world.pair({ slow, echo })
    const { runId } = await a.runs.start(request('slow', '1', { mode: 'background' }))
    await begun(0)
    const reading = collect(await b.runs.events(runId, 0))
    await world.advance(100)
    const refused = expect(reading).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 })
    await world.until(b.close())
    await refused
    open(0)
  })
})
