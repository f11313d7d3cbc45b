import { describe, expect, it } from 'vitest'
import type { Fact } from '../../../src/core/memory/fact.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, endOf, seedOf, started } from './builders.ts'

export function testFacts(store: () => SessionStore): void {
  const factOf = (runId: string, id: string, more: Partial<Fact> = {}): Fact => ({
    fact_id: `fact_${id}`,
    content: `likes ${id}`,
    agent_id: 'echo',
    run_id: runId,
    created_at: at(1),
    ...more,
  })
  const contentsOf = async (userId: string) => (await store().listFacts(userId)).map(({ content }) => content)

  describe('facts of users', () => {
    it('are given back as they were saved, oldest first, to their user only', async () => {
      const { runId } = await started(store())
      const hostile = factOf(runId, 'b', { content: `'; DROP TABLE facts; -- \\" 🦜 %_`, created_at: at(2) })
      expect(await store().saveFact('ann', hostile, 9)).toBe('saved')
      expect(await store().saveFact('ann', factOf(runId, 'a'), 9)).toBe('saved')
      expect(await store().saveFact('ann%', factOf(runId, 'c'), 9)).toBe('saved')
      expect(await store().listFacts('ann')).toEqual([factOf(runId, 'a'), hostile])
      expect(await contentsOf('ann%')).toEqual(['likes c'])
      for (const none of ['An', 'ANN', '', 'a\u0000n', '\ud800']) expect(await store().listFacts(none)).toEqual([])
    })

    it('are remembered once', async () => {
      const { runId } = await started(store())
      const { runId: other } = await started(store())
      expect(await store().saveFact('ann', factOf(runId, 'a'), 9)).toBe('saved')
      expect(await store().saveFact('ann', factOf(other, 'a', { created_at: at(9) }), 1)).toBe('known')
      expect(await store().listFacts('ann')).toEqual([factOf(runId, 'a')])
      expect(await store().saveFact('bob', factOf(other, 'a'), 9)).toBe('saved')
    })

    it('are never more than the maximum, however many runs remember at once', async () => {
      const runs = await Promise.all([1, 2, 3, 4].map(() => started(store())))
      const tries = runs.flatMap(({ runId }, place) => ['a', 'b', 'c'].map((id) => factOf(runId, `${id}${place}`)))
      const answers = await Promise.all(tries.map((fact) => store().saveFact('ann', fact, 5)))
      expect(answers.filter((answer) => answer === 'saved')).toHaveLength(5)
      expect(answers.filter((answer) => answer === 'full')).toHaveLength(7)
      expect(await store().listFacts('ann')).toHaveLength(5)
      expect(await store().saveFact('bob', factOf(runs[0]?.runId ?? '', 'a'), 5)).toBe('saved')
    })

    it('are only saved for a run that is running', async () => {
      const { runId, sessionId } = await started(store())
      const { runId: ended } = await started(store())
      await store().finishRun(endOf(ended))
      expect(await store().saveFact('ann', factOf(ended, 'a'), 9)).toBe('ended')
      expect(await store().saveFact('ann', factOf('run_none', 'a'), 9)).toBe('ended')
      expect(await store().saveFact('ann', factOf(runId, 'a'), 9)).toBe('saved')
      await store().deleteSession(sessionId)
      expect(await store().saveFact('ann', factOf(runId, 'b'), 9)).toBe('ended')
      expect(await contentsOf('ann')).toEqual(['likes a'])
    })

    it('are deleted one by one, once, or all at once', async () => {
      const { runId } = await started(store())
      for (const id of ['a', 'b', 'c']) await store().saveFact('ann', factOf(runId, id), 9)
      await store().saveFact('bob', factOf(runId, 'a'), 9)
      expect(await store().deleteFact('ann', 'fact_a')).toBe(true)
      expect(await store().deleteFact('ann', 'fact_a')).toBe(false)
      for (const none of ['fact_', '\u0000', '\ud800']) expect(await store().deleteFact('ann', none)).toBe(false)
      expect(await store().deleteFacts('ann')).toBe(2)
      expect(await store().deleteFacts('ann')).toBe(0)
      expect(await store().deleteFacts('\ud800')).toBe(0)
      expect([await contentsOf('ann'), await contentsOf('bob')]).toEqual([[], ['likes a']])
      expect(await store().saveFact('ann', factOf(runId, 'a'), 9)).toBe('saved')
    })

    it('outlive the session, and go when their user is erased', async () => {
      await store().createSession(seedOf({ session_id: 'of-ann', user_id: 'ann' }))
      const { runId } = await started(store(), { run: { session_id: 'of-ann', user_id: 'ann' }, session: null })
      await store().saveFact('ann', factOf(runId, 'a'), 9)
      await store().saveFact('bob', factOf(runId, 'a'), 9)
      await store().finishRun(endOf(runId))
      await store().deleteSession('of-ann')
      expect(await contentsOf('ann')).toEqual(['likes a'])
      expect(await store().eraseUser('ann', 5)).toBeGreaterThan(0)
      expect(await store().eraseUser('ann', 5)).toBe(0)
      expect([await contentsOf('ann'), await contentsOf('bob')]).toEqual([[], ['likes a']])
    })
  })
}
