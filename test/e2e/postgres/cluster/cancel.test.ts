import { expect, test } from 'vitest'
import type { Instance } from '../../../support/cluster/instances.ts'
import { ownInstances } from '../../../support/cluster/own-instances.ts'
import { readFrames } from '../../../support/cluster/requests.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'

describePostgres('a cancellation on another instance', () => {
  let [a, b] = [] as unknown as [Instance, Instance]
  ownInstances({ names: ['a', 'b'] }, (all) => {
    ;[a, b] = all
  })

  async function cancelMs(): Promise<number> {
    const { run_id: runId } = await a.client.agents.background('ticking', { input: '100000 20 long' })
    const from = performance.now()
    const run = await b.client.runs.cancel(runId)
    expect(run.status).toBe('cancelled')
    return performance.now() - from
  }

  // The beat of an instance, every 3 s, would tell it too: one of ten is so fast by chance, three are not. Those that are
  // slower than the machine is busy say nothing.
  test('ends a run as soon as it is asked for, not with the next beat', { timeout: 60_000 }, async () => {
    const all: number[] = []
    for (let round = 0; round < 10; round++) all.push(await cancelMs())
    expect(all.toSorted((x, y) => x - y)[2]).toBeLessThan(200)
  })

  test('ends a run within 4 s when neither can listen, and streams go on', { timeout: 60_000 }, async () => {
    for (const { wakes } of [a, b]) {
      await wakes.refuse()
      wakes.cut()
    }
    const { run_id: runId } = await a.client.agents.background('ticking', { input: '100 10 deaf' })
    const [there, here] = await Promise.all([readFrames(b.url, runId), readFrames(a.url, runId)])
    expect(there).toEqual(here)
    const all: number[] = []
    for (let round = 0; round < 3; round++) all.push(await cancelMs())
    expect(Math.min(...all)).toBeLessThan(4_000)
    for (const { wakes } of [a, b]) await wakes.heal()
  })
})
