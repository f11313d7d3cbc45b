import { describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, endOf, seedOf, started } from './builders.ts'

export function testRetention(store: () => SessionStore): void {
  const fill = async (count: number) => {
    for (let n = 1; n <= count; n++)
      await store().createSession(seedOf({ session_id: `s${n}`, created_at: at(n), user_id: 'u' }))
  }
  const left = async () => {
    const { items } = await store().listSessions({ user_id: 'u' }, { limit: 100, cursor: undefined })
    return items.map((session) => session.session_id).reverse()
  }

  describe('retention', () => {
    it('deletes what has not changed for long, the longest unchanged first, so many at once', async () => {
      await fill(5)
      await store().updateSession('s1', { name: 'changed' }, at(9))
      expect(await store().prune({ olderThan: at(5) }, 2)).toBe(2)
      expect(await left()).toEqual(['s4', 's5', 's1'])
      expect(await store().prune({ olderThan: at(5) }, 2)).toBe(1)
      expect(await store().prune({ olderThan: at(5) }, 2)).toBe(0)
      expect(await left()).toEqual(['s5', 's1'])
    })

    it('keeps the newest so many', async () => {
      await fill(4)
      expect(await store().prune({ maxSessions: 4 }, 10)).toBe(0)
      expect(await store().prune({ maxSessions: 2 }, 10)).toBe(2)
      expect(await left()).toEqual(['s3', 's4'])
      expect(await store().prune({}, 10)).toBe(0)
    })

    it('follows both rules when both are given', async () => {
      await fill(5)
      const rule = { olderThan: at(2), maxSessions: 2 }
      while ((await store().prune(rule, 1)) > 0);
      expect(await left()).toEqual(['s4', 's5'])
    })

    it('never deletes a session with a run under way or waiting, however old', async () => {
      await fill(3)
      const running = await started(store(), { run: { session_id: 's1', created_at: at(1) }, session: null })
      const waiting = await started(store(), {
        run: { session_id: 's2', status: 'queued', background: true, created_at: at(2) },
        session: null,
      })
      while ((await store().prune({ olderThan: at(50), maxSessions: 1 }, 10)) > 0);
      expect(await left()).toEqual(['s1', 's2'])
      await store().finishRun(endOf(running.runId, { completed_at: at(3) }))
      await store().finishRun(endOf(waiting.runId, { completed_at: at(4), status: 'cancelled' }))
      expect(await store().prune({ olderThan: at(50) }, 10)).toBe(2)
      expect(await left()).toEqual([])
      expect(await store().findRun(running.runId)).toBeUndefined()
    })

    it('takes a session with many runs by itself', async () => {
      for (const sessionId of ['large', 'small']) {
        const runs = sessionId === 'large' ? 1001 : 1
        await store().createSession(seedOf({ session_id: sessionId, user_id: 'u' }))
        const starts = Array.from({ length: runs }, () =>
          started(store(), { run: { session_id: sessionId, status: 'queued' }, session: null }),
        )
        for (const { runId } of await Promise.all(starts)) void store().finishRun(endOf(runId, { completed_at: at(1) }))
      }
      await store().updateSession('small', { name: 'later' }, at(2))
      expect(await store().prune({ olderThan: at(50) }, 10)).toBe(1)
      expect(await left()).toEqual(['small'])
    })

    it('lets a deleted session begin anew under its id', async () => {
      await fill(1)
      expect(await store().prune({ olderThan: at(5) }, 10)).toBe(1)
      const seed = seedOf({ session_id: 's1', user_id: 'u' })
      const { runId } = await started(store(), { run: { session_id: 's1' }, session: seed })
      expect((await store().findRun(runId))?.session_id).toBe('s1')
      expect(await left()).toEqual(['s1'])
    })
  })
}
