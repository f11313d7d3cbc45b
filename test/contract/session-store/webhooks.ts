import { describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import type { WebhookJob } from '../../../src/core/triggers/webhook.ts'
import { at, endOf, started, startOf } from './builders.ts'

export function testWebhooks(store: () => SessionStore): void {
  const all = ['a', 'b']
  const take = (seconds: number, names = all, limit = 9) =>
    store().takeWebhookJobs(names, at(seconds), at(seconds + 60), limit)
  const wake = (seconds: number, runId?: string) => store().wakeWebhookJobs(at(seconds), at(seconds - 600), runId)
  const keys = (jobs: readonly WebhookJob[]) => jobs.map(({ run_id, webhook }) => `${run_id} ${webhook}`).sort()

  describe('webhook jobs', () => {
    it('are due when their run has ended, once, for the webhooks that are asked for', async () => {
      const start = startOf({})
      const { run_id: runId } = start.run
      await store().addWebhookJobs(runId, all, at(0))
      await store().addWebhookJobs(runId, all, at(1))
      await store().startRun(start)
      expect(await wake(2)).toBe(false)
      expect(await take(2)).toEqual([])
      await store().finishRun(endOf(runId))
      expect(await wake(3, 'run_other')).toBe(false)
      expect(await wake(3, runId)).toBe(true)
      expect(await take(3, ['b', 'none'])).toEqual([
        { run_id: runId, webhook: 'b', told_seq: 0, attempts: 1, fence: 1 },
      ])
      expect(keys(await take(3))).toEqual([`${runId} a`])
      expect(await take(4)).toEqual([])
    })

    it('are due again when the process that has taken them says nothing, which can settle them no more', async () => {
      const { runId } = await started(store())
      await store().addWebhookJobs(runId, ['a'], at(0))
      await store().finishRun(endOf(runId))
      await wake(1)
      const [first] = await take(2)
      const [second] = await take(62)
      expect(second).toMatchObject({ attempts: 2, fence: 2 })
      expect(await store().settleWebhookJob(first as WebhookJob, 'done')).toBe(false)
      const later = { told_seq: 0, attempts: 2, due_at: at(500) }
      expect(await store().settleWebhookJob(second as WebhookJob, later)).toBe(true)
      expect(await take(499)).toEqual([])
      const [third] = await take(500)
      expect(third).toMatchObject({ attempts: 3, told_seq: 0 })
      expect(await store().settleWebhookJob(third as WebhookJob, 'done')).toBe(true)
      expect([await wake(900), await take(9_000)]).toEqual([false, []])
    })

    it('wait after a pause for what comes next', async () => {
      const { runId, sessionId } = await started(store())
      await store().addWebhookJobs(runId, ['a'], at(0))
      await store().finishRun(endOf(runId, { status: 'input_required', end_seq: 5 }))
      expect(await wake(1)).toBe(true)
      const [job] = await take(1)
      await store().settleWebhookJob(job as WebhookJob, { told_seq: 5, attempts: 0, due_at: null })
      expect(await wake(2)).toBe(false)
      const resume = { run_id: runId, turn_of: sessionId, end_seq: 5, owner: 'one', at: at(3) }
      const resumed = await store().resumeRun({ ...resume, events: [], reserve_until: 2_000 })
      expect(await wake(4)).toBe(false)
      const fence = 'fence' in resumed ? resumed.fence : 0
      expect(await store().finishRun(endOf(runId, { fence, end_seq: 12 }))).toBe('ok')
      expect(await wake(5)).toBe(true)
      expect(await take(5)).toMatchObject([{ told_seq: 5, attempts: 1 }])
    })

    it('outlive a restart, also those of runs that it interrupts', async () => {
      const { runId } = await started(store())
      await store().addWebhookJobs(runId, ['a'], at(0))
      await store().close()
      await store().open()
      expect(await wake(1)).toBe(false)
      await store().recover('two', at(9))
      expect(await wake(10)).toBe(true)
      expect(keys(await take(10))).toEqual([`${runId} a`])
    })

    it('go with runs that were never started, or are gone', async () => {
      const { runId, sessionId } = await started(store())
      await store().addWebhookJobs(runId, ['a'], at(0))
      await store().addWebhookJobs('run_refused', ['a'], at(0))
      await store().addWebhookJobs('run_to_come', ['a'], at(700))
      await store().dropWebhookJobs('run_refused')
      await store().finishRun(endOf(runId))
      await store().deleteSession(sessionId)
      expect(await wake(1_200)).toBe(false)
      await store().startRun(startOf({ run: { run_id: 'run_to_come' } }))
      await store().finishRun(endOf('run_to_come'))
      expect(await wake(2_000)).toBe(true)
      expect(keys(await take(2_000))).toEqual(['run_to_come a'])
    })

    it('are taken once, however many processes ask at the same time', async () => {
      const ids: string[] = []
      for (let n = 0; n < 6; n++) {
        const { runId } = await started(store())
        await store().addWebhookJobs(runId, ['a'], at(n))
        await store().finishRun(endOf(runId))
        ids.push(runId)
      }
      await wake(20)
      const taken = await Promise.all(Array.from({ length: 5 }, () => take(20, all, 2)))
      const found = keys(taken.flat())
      expect(new Set(found).size).toBe(found.length)
      while (found.length < 6) {
        const more = keys(await take(20, all, 2))
        if (more.length === 0) break
        found.push(...more)
      }
      expect(found.sort()).toEqual(ids.map((id) => `${id} a`).sort())
    })
  })
}
