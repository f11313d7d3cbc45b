import { expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { systemTimers } from '../../../src/runtime/timers.ts'
import type { RunService } from '../../../src/service/runs/runs.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { serve } from '../../support/postgres/serve.ts'
import { storePair } from '../../support/postgres/store-pair.ts'
import { collect, echo, gate, request, runnable } from '../../support/services.ts'

const inSession = { sessionId: 's', mode: 'background' } as const

const ended = async (runs: RunService, runId: string) => (await collect(await runs.events(runId, 0))).at(-1)

describePostgres('runs of two servers on Postgres', () => {
  const { one, two, proxy } = storePair()

  it('are read, ended, and follow each other across both', async () => {
    const { runnable: slow, begun, open } = gate()
    const a = await serve(one(), 'own_a', { slow, echo })
    const b = await serve(two(), 'own_b', { slow, echo })
    try {
      const first = await a.runs.start(request('slow', '1', inSession))
      const context = await begun(0)
      const own = collect(first.events())
      const remote = collect(await b.runs.events(first.runId, 0))
      const second = await b.runs.start(request('slow', '2', inSession))
      expect((await a.runs.get(second.runId)).status).toBe('queued')
      await context.recorded()
      expect((await b.runs.get(first.runId)).messages.map(({ content }) => content)).toEqual(['1', 'a'])
      open(0)
      await begun(1)
      expect(JSON.stringify(await remote)).toBe(JSON.stringify(await own))

      const askedMs = performance.now()
      expect(await a.runs.cancel(second.runId, 'enough')).toMatchObject({ cancellation_reason: 'enough' })
      expect(performance.now() - askedMs).toBeLessThan(4_000)

      const third = await a.runs.start(request('slow', '3', inSession))
      await begun(2)
      const fourth = await a.runs.start(request('slow', '4', inSession))
      const last = await b.runs.start(request('echo', '5', { ...inSession, strategy: 'interrupt' }))
      expect(await last.result()).toMatchObject({ status: 'completed' })
      for (const handle of [third, fourth])
        expect(await b.runs.get(handle.runId)).toMatchObject({ cancellation_reason: 'superseded' })
    } finally {
      await Promise.all([a.close(), b.close()])
    }
  })

  it('are recorded sooner while the other server reads them, and as usual again when it does not', async () => {
    let isOver = false
    const ticking = runnable(async function* () {
      while (!isOver) {
        yield '-'
        await new Promise<void>((resolve) => systemTimers.set(resolve, 4))
      }
    })
    const batches: number[] = []
    const store = one()
    const appendEvents: SessionStore['appendEvents'] = (batch) => {
      batches.push(batch.events.length)
      return store.appendEvents(batch)
    }
    const a = await serve({ ...store, appendEvents }, 'own_a', { ticking })
    const b = await serve(two(), 'own_b', { ticking })
    /** How many events each of the next batches has. */
    const sizeOfBatches = async () => {
      batches.length = 0
      await expect.poll(() => batches.length, { timeout: 20_000, interval: 20 }).toBeGreaterThanOrEqual(8)
      return batches.reduce((sum, size) => sum + size, 0) / batches.length
    }
    try {
      const { runId } = await a.runs.start(request('ticking', 'x', { mode: 'background' }))
      await sizeOfBatches()
      const usual = await sizeOfBatches()
      const remote = (await b.runs.events(runId, 0))[Symbol.asyncIterator]()
      const seen: number[] = []
      const reading = (async () => {
        for (let page = await remote.next(); !page.done; page = await remote.next())
          seen.push(...page.value.map(({ seq }) => seq))
      })()
      await expect.poll(sizeOfBatches, { timeout: 30_000 }).toBeLessThan(usual / 2)
      await remote.return?.()
      await reading
      expect(seen.length).toBeGreaterThan(usual)
      expect(seen).toEqual(seen.map((_, place) => place + 1))
      await expect.poll(sizeOfBatches, { timeout: 30_000 }).toBeGreaterThan(usual * 0.7)
    } finally {
      isOver = true
      await Promise.all([a.close(), b.close()])
    }
  })

  it('are handed on by a server that leaves', async () => {
    const { runnable: slow, begun } = gate()
    const a = await serve(one(), 'own_a', { slow, echo })
    const b = await serve(two(), 'own_b', { slow, echo })
    try {
      await a.runs.start(request('slow', '1', inSession))
      await begun(0)
      const waiting = await a.runs.start(request('echo', '2', inSession))
      await a.close()
      expect(await ended(b.runs, waiting.runId)).toMatchObject({ type: 'run_end', status: 'completed' })
    } finally {
      await b.close()
    }
  })

  it('are not lost with the connections of their server', async () => {
    const { runnable: slow, begun, open } = gate()
    const a = await serve(one(), 'own_a', { slow, echo })
    const b = await serve(two(), 'own_b', { slow, echo })
    try {
      const running = await b.runs.start(request('slow', '1', inSession))
      const { emit } = await begun(0)
      const remote = ended(a.runs, running.runId)
      await proxy().refuse()
      proxy().cut()
      await emit({ type: 'text_delta', text: '-' })
      open(0)
      await a.runs.start(request('echo', '2', inSession))
      await proxy().heal()
      expect((await running.result()).messages.at(-1)?.content).toBe('a-b')
      expect(await remote).toMatchObject({ type: 'run_end', status: 'completed' })
    } finally {
      await Promise.all([a.close(), b.close()])
    }
  })
})
