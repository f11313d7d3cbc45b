import { describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, claimOf, endOf, eventOf, started, startOf, textEvents } from './builders.ts'

export function testRecovery(store: () => SessionStore): void {
  describe('recovery', () => {
    it('interrupts what an earlier process left running, and keeps its partial output', async () => {
      const { runId, sessionId } = await started(store())
      const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
      const usage_by_model = [{ model: null, ...usage }]
      const source = { type: 'source', index: 1, source: 'a.md', document_id: 'd', chunk_id: 'c' } as const
      const events = [
        ...textEvents(runId, 2, ['Half ', 'an ']),
        eventOf(runId, 4, { type: 'model_call_end', call_id: 'c', usage, finish_reason: 'stop', duration_ms: 1 }),
        eventOf(runId, 5, source),
        ...textEvents(runId, 6, ['answer']),
      ]
      await store().appendEvents({ run_id: runId, fence: 1, events, reserve_until: 1006 })
      const before = await store().findSession(sessionId)
      const { interrupted, queued } = await store().recover('two', at(50))
      expect(queued).toEqual([])
      expect(interrupted).toMatchObject([
        { run_id: runId, status: 'interrupted', completed_at: at(50), usage, usage_by_model },
      ])
      const run = await store().findRun(runId)
      expect(run).toMatchObject({ status: 'interrupted', truncated: true, end_seq: 1007, sources: [source] })
      expect(run?.messages.map((message) => [message.role, message.content])).toEqual([
        ['user', 'hi'],
        ['assistant', 'Half an answer'],
      ])
      expect((await store().readHistory(sessionId, 1)).runs).toEqual([run])
      expect((await store().readEvents(runId, 6, 10)).map((event) => [event.seq, event.type])).toEqual([
        [1007, 'run_end'],
      ])
      const after = await store().findSession(sessionId)
      expect(after?.revision).toBeGreaterThan(before?.revision ?? 0)
      expect((await store().startRun(startOf({ run: { session_id: sessionId }, session: null }))).outcome).toBe(
        'started',
      )
    })

    it('numbers the end of a run without a batch after the reservation of its start', async () => {
      const { runId } = await started(store())
      await store().recover('two', at(50))
      expect(await store().findRun(runId)).toMatchObject({ end_seq: 1001, truncated: true, usage: null })
      expect((await store().findRun(runId))?.messages).toHaveLength(1)
    })

    it('fences off the process that was thought dead', async () => {
      const { runId } = await started(store())
      await store().recover('two', at(50))
      const before = await store().findRun(runId)
      expect(await store().finishRun(endOf(runId))).toBe('fenced')
      const batch = { run_id: runId, fence: 1, events: textEvents(runId, 2, ['x']), reserve_until: 5000 }
      expect(await store().appendEvents(batch)).toBe('fenced')
      expect(await store().findRun(runId)).toEqual(before)
    })

    it('hands over background runs that wait, oldest first, and interrupts the others', async () => {
      const { sessionId } = await started(store())
      const waiting = (background: boolean) =>
        startOf({ run: { session_id: sessionId, status: 'queued', background }, session: null, state: { a: 1 } })
      const [first, foreground, second] = [waiting(true), waiting(false), waiting(true)]
      for (const start of [first, foreground, second]) await store().startRun(start)
      const { interrupted, queued } = await store().recover('two', at(50))
      expect(queued.map(({ run }) => run)).toEqual([first.run, second.run])
      expect(interrupted).toHaveLength(2)
      expect(await store().findRun(foreground.run.run_id)).toMatchObject({
        status: 'interrupted',
        truncated: false,
        started_at: null,
      })
      const [handed] = queued
      expect(await store().beginRun(first.run.run_id, 1, at(51))).toBe('gone')
      expect(await store().beginRun(first.run.run_id, handed?.fence ?? 0, at(51))).toBe('begun')
      expect((await store().findSession(sessionId))?.session.state).toEqual({ a: 1 })
    })

    it('touches nothing of its own owner and nothing that has ended', async () => {
      const { runId } = await started(store(), { owner: 'two' })
      const ended = await started(store())
      await store().finishRun(endOf(ended.runId))
      expect(await store().recover('two', at(50))).toEqual({ interrupted: [], queued: [] })
      expect(await store().findRun(runId)).toMatchObject({ status: 'running' })
      expect(await store().findRun(ended.runId)).toMatchObject({ status: 'completed' })
    })

    it('releases claims that were still at work and keeps the others', async () => {
      await store().claim(claimOf('work'))
      await store().claim(claimOf('answered'))
      await store().completeClaim('answered', { ok: true })
      const { runId } = await started(store(), { claim: claimOf('run') })
      await store().recover('two', at(50))
      expect(await store().findClaim('work')).toBeUndefined()
      expect(await store().findClaim('answered')).toMatchObject({ answer: { ok: true } })
      expect(await store().findClaim('run')).toMatchObject({ run_id: runId })
    })
  })
}
