import { describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, seedOf } from './builders.ts'

export function testSummaries(store: () => SessionStore): void {
  const summaryOf = (sessionId: string, content: string) => ({
    session_id: sessionId,
    content,
    model: 'extractive',
    run_count: 2,
    message_count: 4,
    created_at: at(5),
  })

  describe('summaries', () => {
    it('keeps the latest summary and shows it with the session', async () => {
      await store().createSession(seedOf({ session_id: 's' }))
      const before = await store().findSession('s')
      expect(await store().findSummary('s')).toBeUndefined()
      await store().saveSummary(summaryOf('s', 'first'))
      await store().saveSummary(summaryOf('s', 'second'))
      expect(await store().findSummary('s')).toEqual(summaryOf('s', 'second'))
      const after = await store().findSession('s')
      expect(after?.session.summary).toEqual(summaryOf('s', 'second'))
      expect(after?.session.updated_at).toBe(before?.session.updated_at)
      expect(after?.revision).toBeGreaterThan(before?.revision ?? 0)
      expect((await store().listSessions({}, { limit: 1 })).items[0]?.summary?.content).toBe('second')
    })

    it('shows each session its own summary, or none', async () => {
      for (const id of ['a', 'b', 'c']) await store().createSession(seedOf({ session_id: id }))
      for (const id of ['a', 'b']) await store().saveSummary(summaryOf(id, `of ${id}`))
      const { items } = await store().listSessions({}, { limit: 10 })
      for (const [id, content] of [
        ['a', 'of a'],
        ['b', 'of b'],
        ['c', undefined],
      ]) {
        const found = await store().findSession(id ?? '')
        const listed = items.find(({ session_id }) => session_id === id)
        const shown = [await store().findSummary(id ?? ''), found?.session.summary, listed?.summary]
        expect([id, ...shown.map((summary) => summary?.content)]).toEqual([id, content, content, content])
      }
    })

    it('keeps every character that a model may write', async () => {
      const content = 'a \u0000 "quoted" \\ 你好 🙂\n'
      await store().createSession(seedOf({ session_id: 's' }))
      await store().saveSummary(summaryOf('s', content))
      expect((await store().findSummary('s'))?.content).toBe(content)
      expect((await store().findSession('s'))?.session.summary?.content).toBe(content)
    })

    it('has no summary and no job for a session that is not there', async () => {
      const missing = { code: 'session_not_found' }
      await expect(store().saveSummary(summaryOf('none', 'x'))).rejects.toMatchObject(missing)
      await expect(store().scheduleSummary('none', at(1))).rejects.toMatchObject(missing)
      expect(await store().findSummary('none')).toBeUndefined()
    })

    it('keeps a job once, oldest first, until its summary is saved or it is dropped', async () => {
      for (const id of ['a', 'b', 'c']) await store().createSession(seedOf({ session_id: id }))
      await store().scheduleSummary('b', at(1))
      await store().scheduleSummary('a', at(2))
      await store().scheduleSummary('c', at(3))
      await store().scheduleSummary('b', at(9))
      expect(await store().listSummaryJobs()).toEqual(['b', 'a', 'c'])
      await store().saveSummary(summaryOf('b', 'x'))
      await store().dropSummaryJob('c')
      await store().dropSummaryJob('none')
      expect(await store().listSummaryJobs()).toEqual(['a'])
    })

    it('counts how often a job was begun, until somebody asks for it anew', async () => {
      await store().createSession(seedOf({ session_id: 'counted' }))
      expect(await store().beginSummaryJob('counted')).toBe(0)
      await store().scheduleSummary('counted', at(1))
      expect([await store().beginSummaryJob('counted'), await store().beginSummaryJob('counted')]).toEqual([1, 2])
      await store().scheduleSummary('counted', at(2))
      expect(await store().beginSummaryJob('counted')).toBe(1)
      await store().dropSummaryJob('counted')
      expect(await store().beginSummaryJob('counted')).toBe(0)
    })
  })
}
