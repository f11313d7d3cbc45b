import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { queueLimit } from '../../../src/service/runs/queue.ts'
import type { RunHandle } from '../../../src/service/services.ts'
import { type TestInstance, TestInstances } from '../../support/instances.ts'
import { collect, echo, type Gate, gate, request, runnable } from '../../support/services.ts'

let world: TestInstances
let slow: Gate
beforeEach(() => {
  world = new TestInstances()
  slow = gate()
})
afterEach(() => world.close())

async function statuses({ store }: TestInstance, handles: readonly RunHandle[]): Promise<(string | undefined)[]> {
  return Promise.all(handles.map(async ({ runId }) => (await store.findRun(runId))?.status))
}

const statusOf = (place: number) => (place < 0 ? 'completed' : place === 0 ? 'running' : 'queued')

const inSession = { sessionId: 's', mode: 'background' } as const

describe('runs of one session on two instances', () => {
  test('run one after the other, in the order of their starts', async () => {
    const [a, b] = await world.pair({ slow: slow.runnable })
    const handles = []
    for (const [index, instance] of [a, b, b, a, b].entries()) {
      handles.push(await world.until(instance.runs.start(request('slow', `${index}`, inSession))))
    }
    for (const index of handles.keys()) {
      await world.until(slow.begun(index))
      await world.advance(50)
      expect(await statuses(a, handles)).toEqual(handles.map((_, other) => statusOf(other - index)))
      slow.open(index)
    }
    const ended = await world.until(Promise.all(handles.map((handle) => handle.result())))
    expect(ended.map(({ status }) => status)).toEqual(Array(5).fill('completed'))
  })

  test('begin within a second of their turn when no wake-up arrives', async () => {
    const [a, b] = await world.pair({ slow: slow.runnable })
    await a.runs.start(request('slow', '1', inSession))
    await slow.begun(0)
    await world.until(b.runs.start(request('slow', '2', inSession)))
    b.deafen()
    await world.advance(500)
    slow.open(0)
    const endedMs = world.nowMs
    await world.until(slow.begun(1))
    expect(world.nowMs - endedMs).toBeLessThanOrEqual(1_150)
    slow.open(1)
  })

  test('ask again for each wake-up, and begin once however many there are', async () => {
    const [a, b] = await world.pair({ slow: slow.runnable })
    await a.runs.start(request('slow', '1', inSession))
    await slow.begun(0)
    const waiting = await world.until(b.runs.start(request('slow', '2', inSession)))
    for (let count = 0; count < 5; count++) {
      b.runs.takeTurn(waiting.runId)
      b.runs.takeTurn()
      await world.advance(50)
    }
    expect((await b.runs.get(waiting.runId)).status).toBe('queued')
    slow.open(0)
    await world.until(slow.begun(1))
    for (let count = 0; count < 5; count++) b.runs.takeTurn(waiting.runId)
    slow.open(1)
    expect(await world.until(waiting.result())).toMatchObject({ status: 'completed' })
  })

  test('are refused by `reject` on both sides', async () => {
    const [a, b] = await world.pair({ slow: slow.runnable })
    await a.runs.start(request('slow', '1', inSession))
    await slow.begun(0)
    for (const instance of [a, b]) {
      const rejected = instance.runs.start(request('slow', '2', { ...inSession, strategy: 'reject' }))
      await expect(world.until(rejected)).rejects.toMatchObject({ code: 'conflict', sessionId: 's' })
    }
    slow.open(0)
    await world.advance(100)
    const free = await world.until(b.runs.start(request('slow', '3', { ...inSession, strategy: 'reject' })))
    slow.open(1)
    expect(await world.until(free.result())).toMatchObject({ status: 'completed' })
  })

  test.for([false, true])(
    'are superseded by `interrupt` on both sides; another is active there: %s',
    async (isBusy) => {
      const [a, b] = await world.pair({ slow: slow.runnable, echo })
      const running = await a.runs.start(request('slow', '1', inSession))
      await slow.begun(0)
      const others = [running, await world.until(a.runs.start(request('slow', '2', inSession)))]
      if (isBusy) others.push(await world.until(b.runs.start(request('slow', '3', inSession))))
      const last = await world.until(b.runs.start(request('echo', 'me', { ...inSession, strategy: 'interrupt' })))
      expect(await world.until(last.result(), 500)).toMatchObject({ status: 'completed' })
      for (const other of others) {
        expect(await world.until(other.result())).toMatchObject({
          status: 'cancelled',
          cancellation_reason: 'superseded',
        })
      }
    },
  )

  test('wait in one queue with one limit', async () => {
    const [a, b] = await world.pair({ slow: slow.runnable })
    await a.runs.start(request('slow', 'first', inSession))
    await slow.begun(0)
    for (let count = 0; count < queueLimit / 2; count++) {
      await a.runs.start(request('slow', 'a', inSession))
      await world.until(b.runs.start(request('slow', 'b', inSession)))
    }
    for (const instance of [a, b]) {
      await expect(world.until(instance.runs.start(request('slow', 'x', inSession)))).rejects.toMatchObject({
        code: 'rate_limited',
        retryAfterSeconds: 1,
      })
    }
    for (let index = 0; index <= queueLimit; index++) slow.open(index)
    await world.advance(3_000)
    const { items } = await a.store.listRuns(
      { session_id: 's', status: 'completed' },
      { limit: 500, cursor: undefined },
    )
    expect(items.length).toBe(queueLimit + 1)
  })

  test('wait without beginning when they were cancelled elsewhere meanwhile', async () => {
    const [a, b] = await world.pair({ slow: slow.runnable, echo })
    await a.runs.start(request('slow', '1', inSession))
    await slow.begun(0)
    const waiting = await world.until(b.runs.start(request('echo', '2', inSession)))
    b.deafen()
    const cancelling = a.runs.cancel(waiting.runId, 'no more')
    await world.advance(50)
    slow.open(0)
    expect(await world.until(cancelling, 4_100)).toMatchObject({ status: 'cancelled', cancellation_reason: 'no more' })
    expect((await world.until(collect(waiting.events()))).map(({ type }) => type)).toEqual(['run_start', 'run_end'])
  })

  test('take the place of a turn that is under way elsewhere', async () => {
    const [a, b] = await world.pair({ slow: slow.runnable, echo })
    const running = await a.runs.start(request('slow', '1', inSession))
    await slow.begun(0)
    const answer = await world.until(b.runs.start(request('echo', 'anew', { ...inSession, replaces: running.runId })))
    expect(await world.until(answer.result(), 500)).toMatchObject({ status: 'completed' })
    expect(await world.until(running.result())).toMatchObject({
      status: 'cancelled',
      cancellation_reason: 'superseded',
    })
    expect(await a.runs.head(running.runId)).toMatchObject({ replaced_by: answer.runId })
  })

  test('see the turns before them, whatever came and went behind them', async () => {
    const [a, b] = await world.pair({ slow: slow.runnable, echo })
    await world.until((await a.runs.start(request('echo', 'before', inSession))).result())
    await world.until(b.runs.start(request('slow', 'now', inSession)))
    const context = await slow.begun(0)
    for (const instance of [a, b, a, b]) {
      const { runId } = await world.until(instance.runs.start(request('echo', 'behind', inSession)))
      await world.until(instance.runs.cancel(runId))
    }
    const [asked, answered, ...more] = await context.history(1)
    expect([asked?.content, answered?.content, more]).toEqual(['before', 'before', []])
    slow.open(0)
  })

  test('begin before their start is durable only in sessions that they make', async () => {
    const begun: string[] = []
    const says = runnable(
      async function* ({ text }) {
        begun.push(text)
        yield text
      },
      { sideEffects: false },
    )
    const durable: string[] = []
    const a = await world.add({
      entities: { says },
      store: (store) => ({
        ...store,
        async startRun(start) {
          await world.advance(50)
          durable.push(start.message.content, ...begun)
          return store.startRun(start)
        },
      }),
    })
    const handles = [a.runs.start(request('says', 'own')), a.runs.start(request('says', 'given', { sessionId: 's' }))]
    for (const starting of handles) await (await world.until(starting)).result()
    expect(begun).toEqual(['own', 'given'])
    expect(durable).toEqual(['own', 'own', 'given', 'own'])
  })
})
