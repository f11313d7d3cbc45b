import { describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { endOf, seedOf, startOf } from './builders.ts'

export function testLifecycle(store: () => SessionStore): void {
  describe('its life', () => {
    it('accepts work while it is open', async () => {
      await expect(store().check()).resolves.toBeUndefined()
    })

    it('waits on close for what was accepted, and refuses every call afterwards', async () => {
      const accepted = store().createSession(seedOf())
      await store().close()
      await expect(accepted).resolves.toHaveProperty('revision')
      const unavailable = { code: 'unavailable' }
      const calls = [
        store().check(),
        store().createSession(seedOf()),
        store().findSession('s'),
        store().listSessions({}, { limit: 1 }),
        store().startRun(startOf({})),
        store().finishRun(endOf('run')),
        store().findRun('run'),
        store().readEvents('run', 0, 1),
        store().readHistory('s', 1),
        store().claim({ key: 'k', hash: 'h', expires_at: '2030' }),
        store().recover('one', '2030'),
      ]
      for (const call of calls) await expect(call).rejects.toMatchObject(unavailable)
    })

    it('may be closed twice', async () => {
      await store().close()
      await expect(store().close()).resolves.toBeUndefined()
    })
  })
}
