import { describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, endOf, seedOf, started, startOf, turnsIn } from './builders.ts'

const sessionId = 's'

export function testBranches(store: () => SessionStore): void {
  const { begin, finish, fail, say, shown, markOf, stateNow, open } = turnsIn(store)

  describe('a turn that is restored', () => {
    it('brings its branch and its state back, and takes the place of the others', async () => {
      await open({ n: 0 })
      const a = await say({ text: 'a' })
      const b = await say({ text: 'b' }, { state: { n: 1 } })
      const c = await say({ text: 'c' }, { state: { n: 2 } })
      const d = await say({ text: 'd', replaces: b }, { state: { n: 3 } })
      const e = await say({ text: 'e' })
      expect(await store().restoreTurn(b, at(9))).toEqual({ outcome: 'restored' })
      expect(await shown()).toEqual([a, b, c])
      expect(await stateNow()).toEqual({ n: 2 })
      expect([await markOf(b), await markOf(c), await markOf(d), await markOf(e)]).toEqual([null, null, b, b])
      expect((await store().findSession(sessionId))?.session.updated_at).toBe(at(9))
      const f = await say({ text: 'f' })
      expect(await shown({ before: f })).toEqual([a, b, c])
      expect(await store().restoreTurn(e, at(10))).toEqual({ outcome: 'restored' })
      expect(await shown()).toEqual([a, d, e])
      expect(await stateNow()).toEqual({ n: 3 })
      expect(await store().restoreTurn(f, at(11))).toEqual({ outcome: 'restored' })
      expect(await shown()).toEqual([a, b, c, f])
    })

    it('is one of many that had its place', async () => {
      await open()
      const a = await say({ text: 'a' })
      const b = await say({ text: 'b', replaces: a })
      const c = await say({ text: 'c', replaces: b })
      await store().restoreTurn(a, at(5))
      const d = await say({ text: 'd' })
      await store().restoreTurn(c, at(6))
      expect(await shown()).toEqual([c])
      await store().restoreTurn(b, at(7))
      expect(await shown()).toEqual([b])
      await store().restoreTurn(d, at(8))
      expect(await shown()).toEqual([a, d])
    })

    it('must be replaced, and no turn may be under way or wait', async () => {
      await open()
      const a = await say({ text: 'a' })
      expect(await store().restoreTurn(a, at(5))).toEqual({ outcome: 'current' })
      expect(await store().restoreTurn('none', at(5))).toEqual({ outcome: 'missing' })
      const b = await begin({ text: 'b', replaces: a })
      expect(await store().restoreTurn(a, at(5))).toEqual({ outcome: 'busy', run_id: b })
      const child = startOf({ run: { session_id: sessionId, parent_run_id: b }, session: null })
      await store().startRun(child)
      expect(await store().restoreTurn(child.run.run_id, at(5))).toEqual({ outcome: 'current' })
      await store().finishRun(endOf(b, { status: 'input_required' }))
      expect(await store().restoreTurn(a, at(5))).toEqual({ outcome: 'busy', run_id: b })
      await finish(b, { fence: null, status: 'cancelled', end_seq: 3 })
      const both = await Promise.all([store().restoreTurn(a, at(6)), store().restoreTurn(a, at(6))])
      expect(both.map(({ outcome }) => outcome).sort()).toEqual(['current', 'restored'])
    })
  })

  describe('the summary of a session whose turns are replaced', () => {
    const save = (turns: number, second: number, last?: string) =>
      store().saveSummary(
        {
          session_id: sessionId,
          content: 'told',
          model: 'm',
          run_count: turns,
          message_count: 2 * turns,
          created_at: at(second),
        },
        last,
      )

    it('is deleted and scheduled in the same commit when it covers one of them', async () => {
      await open()
      await say({ text: 'a', second: 1 })
      const b = await say({ text: 'b', second: 3 })
      expect(await save(1, 2)).toBe(true)
      const c = await say({ text: 'c', replaces: b, second: 4 })
      expect((await store().findSummary(sessionId))?.content).toBe('told')
      expect(await store().listSummaryJobs()).toEqual([])
      await save(2, 6)
      await say({ text: 'd', replaces: c, second: 7 })
      expect(await store().findSummary(sessionId)).toBeUndefined()
      expect(await store().listSummaryJobs()).toEqual([sessionId])
    })

    it('is deleted when a turn is restored, or gives its place back', async () => {
      await open()
      const a = await say({ text: 'a' })
      const b = await begin({ text: 'b', replaces: a })
      await save(1, 6)
      await fail(b)
      expect(await store().findSummary(sessionId)).toBeUndefined()
      await save(1, 7)
      await store().restoreTurn(b, at(8))
      expect(await store().findSummary(sessionId)).toBeUndefined()
    })

    it('is not saved when the last turn that it covers was replaced meanwhile', async () => {
      await open()
      const a = await say({ text: 'a' })
      const b = await say({ text: 'b', replaces: a })
      expect(await save(1, 6, a)).toBe(false)
      expect(await store().findSummary(sessionId)).toBeUndefined()
      expect(await save(1, 6, b)).toBe(true)
    })
  })

  describe('a session with replaced turns', () => {
    it('is the same after it was copied', async () => {
      await open()
      const [a, b, c] = [await say({ text: 'a' }), await say({ text: 'b' }), await say({ text: 'c' })]
      const d = await say({ text: 'd', replaces: b })
      const records = await store().readRecords(sessionId, undefined, 10)
      expect(records.map(({ follows }) => follows)).toEqual([undefined, a, b, undefined])
      const { session } = (await store().findSession(sessionId)) ?? {}
      if (session === undefined) throw new Error('It is gone.')
      await store().deleteSession(sessionId)
      async function* runs() {
        for (const run of records) yield { run }
      }
      await store().restoreSession({ session, summary: null, runs: runs() })
      expect(await store().readRecords(sessionId, undefined, 10)).toEqual(records)
      expect(await shown()).toEqual([a, d])
      expect(await store().restoreTurn(c, at(9))).toEqual({ outcome: 'restored' })
      expect(await shown()).toEqual([a, b, c])
    })

    it('shows an earlier user the conversation as it was at the handover', async () => {
      await store().createSession(seedOf({ session_id: sessionId, user_id: 'ann' }))
      const [a, b] = [await say({ text: 'needle a' }), await say({ text: 'b' })]
      const c = await say({ text: 'c', replaces: b })
      await store().shareSession(sessionId, { user_id: 'bob' }, at(3))
      const last = async () => (await store().findHandover(sessionId, 'ann', 10))?.last
      expect(await last()).toBe(c)
      await say({ text: 'd', replaces: a })
      expect(await last()).toBe(c)
      expect(await shown({ upTo: c })).toEqual([a, c])
      await store().restoreTurn(b, at(9))
      expect(await shown({ upTo: (await last()) ?? '' })).toEqual([a, c])
      await say({ text: 'e', replaces: a })
      const search = { words: [{ word: 'needle', isBeginning: false }] }
      const found = async (reader: string) => (await store().searchMessages({ ...search, reader }, { limit: 5 })).items
      expect((await found('ann')).map(({ replaced }) => replaced)).toEqual([undefined])
      expect((await found('bob')).map(({ replaced }) => replaced)).toEqual([true])
    })
  })

  describe('a run without a user', () => {
    it('takes that of its session, whatever its own start says otherwise', async () => {
      await store().createSession(seedOf({ session_id: sessionId, user_id: 'ann' }))
      const run = await say({ text: 'a' })
      const queued = await begin({ text: 'b', queued: true })
      const child = startOf({ run: { session_id: sessionId, parent_run_id: run }, session: null })
      await store().startRun(child)
      const guest = startOf({ run: { session_id: sessionId, user_id: 'eve', status: 'queued' }, session: null })
      await store().startRun(guest)
      const { runId: alone } = await started(store())
      const userOf = async (runId: string) => (await store().findRun(runId))?.user_id
      expect([await userOf(run), await userOf(queued), await userOf(child.run.run_id)]).toEqual(['ann', 'ann', 'ann'])
      expect([await userOf(guest.run.run_id), await userOf(alone)]).toEqual(['eve', null])
      const { items } = await store().listRuns({ user_id: 'ann' }, { limit: 10 })
      expect(items).toHaveLength(3)
    })
  })
}
