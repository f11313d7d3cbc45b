import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import { TestInstances } from '../../support/instances.ts'
import { collect, gate, request } from '../../support/services.ts'

let world: TestInstances
beforeEach(() => {
  world = new TestInstances()
})
afterEach(() => world.close())

const background = { mode: 'background' } as const

describe('the events of a run', () => {
  test('are recorded sooner while another instance reads them', async () => {
    const { runnable: slow, begun, open } = gate()
    const batches: number[] = []
    const a = await world.add({
      entities: { slow },
      store: (store) => ({
        ...store,
        async appendEvents(batch) {
          batches.push(batch.events.length)
          return store.appendEvents(batch)
        },
      }),
      times: { flushMs: 10 },
    })
    const b = await world.add({ entities: { slow } })
    const { runId } = await a.runs.start(request('slow', 'x', background))
    const { emit } = await begun(0)
    await world.advance(100)
    batches.length = 0
    /** Ten fragments, 10 ms apart, and how many are in each batch of them. */
    const batchesOfTen = async () => {
      for (let fragment = 0; fragment < 10; fragment++) {
        await emit({ type: 'text_delta', text: '-' })
        await world.advance(10)
      }
      await world.advance(50)
      return batches.splice(0)
    }
    expect(await batchesOfTen()).toEqual([5, 5])

    const remote = (await b.runs.events(runId, 0))[Symbol.asyncIterator]()
    const seen: number[] = []
    const reading = (async () => {
      for (let page = await remote.next(); !page.done; page = await remote.next()) seen.push(page.value.length)
    })()
    await world.advance(50)
    seen.length = 0
    expect(await batchesOfTen()).toEqual(Array(10).fill(1))
    expect(seen).toEqual(Array(10).fill(1))

    await remote.return?.()
    await world.advance(50)
    expect(await batchesOfTen()).toEqual([5, 5])
    open(0)
    await reading
  })

  test('that wait already are recorded as soon as somebody reads elsewhere', async () => {
    const { runnable: slow, begun, open } = gate()
    const [a, b] = await world.pair({ slow })
    const { runId } = await a.runs.start(request('slow', 'x', background))
    await begun(0)
    const remote = (await b.runs.events(runId, 1))[Symbol.asyncIterator]()
    let first: readonly RunEvent[] | undefined
    void remote.next().then(({ value }) => (first = value))
    await world.advance(1)
    await world.advance(14)
    expect(first).toBeUndefined()
    await world.advance(6)
    expect(first).toMatchObject([{ type: 'text_delta', text: 'a' }])
    open(0)
    await world.until(collect({ [Symbol.asyncIterator]: () => remote }))
  })
})

describe('an instance with a time of its own for being dead', () => {
  test.for([
    [5_000, 3_000],
    [60_000, 36_000],
  ] as const)('of %i ms holds still and is taken for dead accordingly', async ([deadAfterMs, heldMs]) => {
    const { runnable: slow, begun } = gate()
    const a = await world.add({ entities: { slow }, times: { deadAfterMs } })
    const b = await world.add({ entities: { slow } })
    const { runId } = await a.runs.start(request('slow', 'x', background))
    await begun(0)
    await world.advance(4_000)
    a.cut()
    const cutMs = world.nowMs
    // The last beat was up to 3 seconds before.
    await world.advance(heldMs - 3_000 - 50)
    expect(a.peers.isHeld).toBe(false)
    await world.advance(3_100)
    expect(a.peers.isHeld).toBe(true)
    await world.advance(cutMs + deadAfterMs - 3_100 - world.nowMs)
    expect((await b.runs.get(runId)).status).toBe('running')
    // The other one looks every 3 seconds.
    await world.advance(cutMs + deadAfterMs + 6_200 - world.nowMs)
    expect((await b.runs.get(runId)).status).toBe('interrupted')
  })

  test('does not change what others are given', async () => {
    const { runnable: slow, begun } = gate()
    const a = await world.add({ entities: { slow }, times: { deadAfterMs: 60_000 } })
    const b = await world.add({ entities: { slow } })
    const { runId } = await b.runs.start(request('slow', 'x', background))
    await begun(0)
    b.isStopped = true
    await world.advance(19_000)
    expect((await a.runs.get(runId)).status).toBe('interrupted')
  })
})
