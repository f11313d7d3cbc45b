import { describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, endOf, messageOf, started } from './builders.ts'

export function testAnswers(store: () => SessionStore): void {
  const later = '2999-01-01T00:00:00.000Z'

  async function answered(text: string) {
    const ids = await started(store())
    await store().finishRun(endOf(ids.runId, { messages: [messageOf(ids.runId, 'assistant', text)] }))
    return ids
  }

  describe('cached answers', () => {
    it('finds the newest run that answered a key', async () => {
      expect(await store().findCached('k')).toBeUndefined()
      const first = await answered('one')
      await store().cacheAnswer({ key: 'k', run_id: first.runId, expires_at: later })
      expect(await store().findCached('k')).toEqual(await store().findRun(first.runId))
      const second = await answered('two')
      await store().cacheAnswer({ key: 'k', run_id: second.runId, expires_at: later })
      expect((await store().findCached('k'))?.messages.at(-1)?.content).toBe('two')
      expect(await store().findCached('other')).toBeUndefined()
    })

    it('gives nothing of a run that has not completed', async () => {
      const { runId } = await started(store())
      await store().cacheAnswer({ key: 'k', run_id: runId, expires_at: later })
      expect(await store().findCached('k')).toBeUndefined()
      await store().finishRun(endOf(runId, { status: 'cancelled' }))
      expect(await store().findCached('k')).toBeUndefined()
    })

    it('gives nothing whose time has come, and nothing of a run that is gone', async () => {
      const old = await answered('old')
      await store().cacheAnswer({ key: 'old', run_id: old.runId, expires_at: '2020-01-01T00:00:00.000Z' })
      expect(await store().findCached('old')).toBeUndefined()
      const gone = await answered('gone')
      await store().cacheAnswer({ key: 'gone', run_id: gone.runId, expires_at: later })
      await store().deleteSession(gone.sessionId)
      expect(await store().findCached('gone')).toBeUndefined()
      await store().cacheAnswer({ key: 'none', run_id: 'run_none', expires_at: later })
      expect(await store().findCached('none')).toBeUndefined()
    })

    it('keeps them when an earlier process has left them', async () => {
      const { runId } = await answered('kept')
      await store().cacheAnswer({ key: 'k', run_id: runId, expires_at: later })
      await store().close()
      await store().open()
      await store().recover('two', at(9))
      expect((await store().findCached('k'))?.run_id).toBe(runId)
    })
  })
}
