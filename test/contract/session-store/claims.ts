import { describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, claimOf, endOf, started, startOf } from './builders.ts'

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

    it('keeps an answer that comes with the key, and gives it to whoever comes later', async () => {
      const answer = { session: { user_id: null }, text: '\u0000' }
      const results = await Promise.all(Array.from({ length: 3 }, () => store().claim(claimOf('k'), answer)))
      expect(results.filter((result) => result === undefined)).toHaveLength(1)
      expect(results.filter((result) => result !== undefined)).toEqual(Array(2).fill(record('k', { answer })))
      expect(await store().claim(claimOf('k'), 'other')).toEqual(record('k', { answer }))
      await store().releaseClaim('k')
      await store().recover('one', at(1))
      expect(await store().findClaim('k')).toEqual(record('k', { answer }))
    })
  })

  describe('a start that takes a key over', () => {
    const over = (key: string, runId: string) => ({ ...claimOf(key), over: runId })

    it('has it from then on, and the earlier run stays as it is', async () => {
      const { runId, sessionId } = await started(store(), { claim: claimOf('k') })
      const before = await store().findRun(runId)
      const start = startOf({ claim: over('k', runId) })
      expect(await store().startRun(start)).toMatchObject({ outcome: 'started', fence: 1, created_session: true })
      expect(await store().findClaim('k')).toEqual(record('k', { run_id: start.run.run_id }))
      expect(await store().findRun(runId)).toEqual(before)
      await store().finishRun(endOf(runId))
      await store().deleteSession(sessionId)
      expect(await store().findClaim('k')).toEqual(record('k', { run_id: start.run.run_id }))
      expect(await store().finishRun(endOf(start.run.run_id))).toBe('ok')
    })

    it('goes on in the session of the earlier run, running or queued, with a state', async () => {
      const { runId, sessionId } = await started(store(), { claim: claimOf('k') })
      await store().finishRun(endOf(runId, { state: { a: 1 } }))
      const session = { session_id: sessionId }
      const second = startOf({ run: session, session: null, state: { b: 2 }, claim: over('k', runId) })
      expect(await store().startRun(second)).toMatchObject({ outcome: 'started', created_session: false })
      expect((await store().findSession(sessionId))?.session.state).toEqual({ a: 1, b: 2 })
      const waits = { ...session, status: 'queued' as const }
      const third = startOf({ run: waits, session: null, claim: over('k', second.run.run_id) })
      expect(await store().startRun(third)).toMatchObject({ outcome: 'queued' })
      expect(await store().findClaim('k')).toEqual(record('k', { run_id: third.run.run_id }))
    })

    it('is one of those that try at once; the others are told of it', async () => {
      const { runId } = await started(store(), { claim: claimOf('k') })
      const starts = Array.from({ length: 5 }, () => startOf({ claim: over('k', runId) }))
      const results = await Promise.all(starts.map((start) => store().startRun(start)))
      const first = starts.filter((_, place) => results[place]?.outcome === 'started')
      expect(first).toHaveLength(1)
      const claim = record('k', { run_id: first[0]?.run.run_id })
      expect(results.filter(({ outcome }) => outcome !== 'started')).toEqual(
        Array(4).fill({ outcome: 'claimed', claim }),
      )
      expect((await store().listSessions({}, { limit: 10 })).items).toHaveLength(2)
    })

    it('takes it from no other run, and from nothing that is no run', async () => {
      const first = await started(store(), { claim: claimOf('run') })
      const other = await started(store())
      await store().claim(claimOf('work'))
      await store().claim(claimOf('answer'), 1)
      const records = { run: { run_id: first.runId }, work: {}, answer: { answer: 1 } }
      for (const [key, fields] of Object.entries(records)) {
        const claim = record(key, fields)
        const start = startOf({ claim: over(key, other.runId) })
        expect(await store().startRun(start)).toEqual({ outcome: 'claimed', claim })
        expect(await store().findRun(start.run.run_id)).toBeUndefined()
        expect(await store().findClaim(key)).toEqual(claim)
      }
    })

    it('leaves it when it is refused itself', async () => {
      const { runId, sessionId } = await started(store(), { claim: claimOf('k') })
      const missing = startOf({ run: { session_id: 'gone' }, session: null, claim: over('k', runId) })
      expect(await store().startRun(missing)).toEqual({ outcome: 'session_missing' })
      const busy = startOf({ run: { session_id: sessionId }, session: null, claim: over('k', runId) })
      expect(await store().startRun(busy)).toEqual({ outcome: 'busy' })
      expect(await store().findClaim('k')).toEqual(record('k', { run_id: runId }))
    })

    it('finds it free after its time, and takes it from a run that has gone with its session', async () => {
      const past = '2001-01-01T00:00:00.000Z'
      const old = await started(store(), { claim: claimOf('k', past) })
      const next = startOf({ claim: over('k', old.runId) })
      expect(await store().startRun(next)).toMatchObject({ outcome: 'started' })
      await store().finishRun(endOf(next.run.run_id))
      await store().deleteSession(next.run.session_id)
      const last = startOf({ claim: over('k', next.run.run_id) })
      expect(await store().startRun(last)).toMatchObject({ outcome: 'started' })
      expect(await store().findClaim('k')).toEqual(record('k', { run_id: last.run.run_id }))
    })

    it('is no key of the earlier user any more', async () => {
      const ann = await started(store(), { run: { user_id: 'ann' }, claim: claimOf('k') })
      await store().finishRun(endOf(ann.runId))
      const bob = startOf({ run: { user_id: 'bob' }, claim: over('k', ann.runId) })
      await store().startRun(bob)
      while ((await store().eraseUser('ann', 100)) > 0);
      expect(await store().findClaim('k')).toEqual(record('k', { run_id: bob.run.run_id }))
    })
  })
}
