import { describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { createBookmarks } from '../../../src/service/bookmarks.ts'
import { at, claimOf, endOf, started } from './builders.ts'

export function testBookmarks(store: () => SessionStore): void {
  const bookmarks = (clock = Date.now) => createBookmarks(store(), clock)

  describe('bookmarks', () => {
    it('are found by their key, whatever the value', async () => {
      const values = ['text', 0, false, [], { nested: { a: [1, null] }, text: '\u0000 \ud800' }]
      for (const [place, value] of values.entries()) {
        expect(await bookmarks().add(`key ${place}`, value)).toBe(true)
        expect(await bookmarks().find(`key ${place}`)).toEqual(value)
      }
      expect(await bookmarks().find('other')).toBeUndefined()
    })

    it('keep their first value, of those added at once too', async () => {
      expect(await bookmarks().add('k', 1)).toBe(true)
      expect(await bookmarks().add('k', 2)).toBe(false)
      expect(await bookmarks().find('k')).toBe(1)
      const added = await Promise.all([1, 2, 3, 4].map((value) => bookmarks().add('many', value)))
      expect(added.filter(Boolean)).toHaveLength(1)
      expect(await bookmarks().find('many')).toBe(added.indexOf(true) + 1)
    })

    it('last for a day', async () => {
      const dayMs = 24 * 60 * 60 * 1000
      await bookmarks(() => Date.now() - dayMs - 1).add('old', 1)
      await bookmarks(() => Date.now() - dayMs + 60_000).add('young', 1)
      expect(await bookmarks().find('old')).toBeUndefined()
      expect(await bookmarks().add('old', 2)).toBe(true)
      expect(await bookmarks().find('old')).toBe(2)
      expect(await bookmarks().add('young', 2)).toBe(false)
    })

    it('outlive a restart; a key of work that was never done is free again', async () => {
      await bookmarks().add('k', 1)
      await store().claim(claimOf('work'))
      expect(await bookmarks().add('work', 1)).toBe(false)
      expect(await bookmarks().find('work')).toBeUndefined()
      await store().recover('next', at(1))
      expect(await bookmarks().find('k')).toBe(1)
      expect(await bookmarks().add('work', 2)).toBe(true)
      expect(await bookmarks().find('work')).toBe(2)
    })

    it('are not runs: a key of a run has no value, and gets none', async () => {
      const { runId } = await started(store(), { claim: claimOf('run') })
      expect(await bookmarks().find('run')).toBeUndefined()
      expect(await bookmarks().add('run', 1)).toBe(false)
      expect(await store().findClaim('run')).toMatchObject({ run_id: runId, answer: null })
    })

    it('outlive the session that they name, and go with the user in their key', async () => {
      const { runId, sessionId } = await started(store(), { run: { user_id: 'ann' } })
      await store().finishRun(endOf(runId))
      await bookmarks().add('turn ann 1', { session_id: sessionId })
      await bookmarks().add('turn ann-marie 1', { session_id: sessionId })
      await store().deleteSession(sessionId)
      expect(await bookmarks().find('turn ann 1')).toEqual({ session_id: sessionId })
      while ((await store().eraseUser('ann', 100)) > 0);
      expect(await bookmarks().find('turn ann 1')).toBeUndefined()
      expect(await bookmarks().find('turn ann-marie 1')).toEqual({ session_id: sessionId })
    })
  })
}
