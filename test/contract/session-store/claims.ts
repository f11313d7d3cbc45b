import { describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { claimOf, started, startOf } from './builders.ts'

export function testClaims(store: () => SessionStore): void {
  const record = (key: string, fields = {}) => ({ key, hash: `hash of ${key}`, run_id: null, answer: null, ...fields })

  describe('claims', () => {
    it('gives a key to the first caller and tells the others', async () => {
      const results = await Promise.all(Array.from({ length: 5 }, () => store().claim(claimOf('k'))))
      expect(results.filter((result) => result === undefined)).toHaveLength(1)
      expect(results.filter((result) => result !== undefined)).toEqual(Array(4).fill(record('k')))
      expect(await store().findClaim('other')).toBeUndefined()
    })

    it('remembers the answer', async () => {
      await store().claim(claimOf('k'))
      const answer = { nested: ['x', null, 1.5, '\u0000'] }
      await store().completeClaim('k', answer)
      expect(await store().claim(claimOf('k'))).toEqual(record('k', { answer }))
      expect(await store().findClaim('k')).toEqual(record('k', { answer }))
    })

    it('is free again when it is released before it kept anything', async () => {
      await store().claim(claimOf('k'))
      await store().releaseClaim('k')
      expect(await store().claim(claimOf('k'))).toBeUndefined()
    })

    it('does not forget a run or an answer by a release', async () => {
      const { runId } = await started(store(), { claim: claimOf('run') })
      await store().claim(claimOf('answer'))
      await store().completeClaim('answer', 1)
      await store().releaseClaim('run')
      await store().releaseClaim('answer')
      await store().releaseClaim('none')
      expect(await store().findClaim('run')).toEqual(record('run', { run_id: runId }))
      expect(await store().findClaim('answer')).toEqual(record('answer', { answer: 1 }))
    })

    it('still stands for its run when that has gone with its session', async () => {
      const { runId, sessionId } = await started(store(), { claim: claimOf('k') })
      await store().deleteSession(sessionId)
      expect(await store().findClaim('k')).toEqual(record('k', { run_id: runId }))
      expect(await store().startRun(startOf({ claim: claimOf('k') }))).toMatchObject({ outcome: 'claimed' })
    })

    it('is one key for runs and for everything else', async () => {
      await store().claim(claimOf('k'))
      const start = startOf({ claim: claimOf('k') })
      expect(await store().startRun(start)).toEqual({ outcome: 'claimed', claim: record('k') })
      await store().releaseClaim('k')
      expect(await store().startRun(start)).toMatchObject({ outcome: 'started' })
      expect(await store().claim(claimOf('k'))).toEqual(record('k', { run_id: start.run.run_id }))
    })

    it('settles nothing that was not claimed', async () => {
      await store().completeClaim('none', 1)
      expect(await store().findClaim('none')).toBeUndefined()
    })

    it('is free after its time', async () => {
      const past = '2001-01-01T00:00:00.000Z'
      await store().claim(claimOf('k', past))
      expect(await store().findClaim('k')).toBeUndefined()
      expect(await store().claim(claimOf('k', past))).toBeUndefined()
      const { runId } = await started(store(), { claim: claimOf('k') })
      expect(await store().findClaim('k')).toEqual(record('k', { run_id: runId }))
    })
  })
}
