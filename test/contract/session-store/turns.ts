import { describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, endOf, messageOf, started, startOf, turnsIn } from './builders.ts'

const sessionId = 's'

export function testTurns(store: () => SessionStore): void {
  const { begin, finish, fail, say, shown, markOf, stateNow, open } = turnsIn(store)

  describe('replaced turns', () => {
    it('leave the conversation with all later ones, and stay in lists and counts', async () => {
      await open()
      const [a, b, c] = [await say({ text: 'a' }), await say({ text: 'b' }), await say({ text: 'c' })]
      const d = await say({ text: 'd', replaces: b })
      expect(await shown()).toEqual([a, d])
      expect(await shown({ replaced: true })).toEqual([a, b, c, d])
      expect(await shown({ replaced: true, before: c })).toEqual([a, b])
      expect([await markOf(a), await markOf(b), await markOf(c), await markOf(d)]).toEqual([null, d, d, null])
      const { session } = (await store().findSession(sessionId)) ?? {}
      expect(session?.run_count).toBe(4)
      expect(session?.runs.map(({ replaced_by }) => replaced_by)).toEqual([null, d, d, null])
      const { items } = await store().listRuns({ session_id: sessionId }, { limit: 10 })
      expect(items.map(({ replaced_by }) => replaced_by)).toEqual([null, d, d, null])
      expect((await store().findRunHead?.(b))?.replaced_by ?? d).toBe(d)
      expect((await store().readHistory(sessionId, 1)).has_more).toBe(true)
      expect((await store().readHistory(sessionId, 2)).has_more).toBe(false)
    })

    it('are seen by the runs that followed them, which see nothing else', async () => {
      await open()
      const [a, b, c] = [await say({ text: 'a' }), await say({ text: 'b' }), await say({ text: 'c' })]
      const d = await say({ text: 'd', replaces: b })
      const e = await say({ text: 'e' })
      expect(await shown({ before: c })).toEqual([a, b])
      expect(await shown({ upTo: c })).toEqual([a, b, c])
      expect(await shown({ before: d })).toEqual([a])
      expect(await shown({ upTo: e })).toEqual([a, d, e])
      const f = await say({ text: 'f', replaces: a })
      expect(await shown({ before: e })).toEqual([a, d])
      expect(await shown({ before: c })).toEqual([a, b])
      expect(await shown({ before: f })).toEqual([])
      expect((await store().readHistory(sessionId, 1, { before: c })).runs.map(({ run_id }) => run_id)).toEqual([b])
      expect(await store().readHistory(sessionId, 1, { before: c })).toMatchObject({ has_more: true })
      expect(await shown({ before: 'none' })).toEqual([])
      expect(await shown({ upTo: 'none' })).toEqual([])
    })

    it('leave the state before them to be found, as a run in their place gets it', async () => {
      const statesBefore = (...ids: string[]) => Promise.all(ids.map((id) => store().findStateBefore(id)))
      await open({ n: 0 })
      const a = await say({ text: 'a' })
      const b = await say({ text: 'b', state: { n: 1 } })
      const c = await say({ text: 'c' }, { state: { n: 2 } })
      const d = await say({ text: 'd' })
      expect(await statesBefore(a, b, c, d)).toEqual([{ n: 0 }, { n: 0 }, { n: 1 }, { n: 2 }])
      await store().updateSession(sessionId, { state: { n: 9 } }, at(3))
      expect(await statesBefore(a, b, c, d)).toEqual([{ n: 0 }, { n: 0 }, { n: 1 }, { n: 9 }])
      const e = await say({ text: 'e', replaces: c }, { state: null })
      const f = await say({ text: 'f' })
      expect(await statesBefore(a, b, c, d)).toEqual([{ n: 0 }, { n: 0 }, { n: 1 }, { n: 9 }])
      expect(await statesBefore(e, f)).toEqual([{ n: 1 }, null])
      expect(await statesBefore('none')).toEqual([undefined])
      const child = startOf({ run: { session_id: sessionId, parent_run_id: f }, session: null })
      await store().startRun(child)
      expect(await statesBefore(child.run.run_id)).toEqual([undefined])
      await finish(child.run.run_id)
      await store().deleteSession(sessionId)
      expect(await statesBefore(a, e)).toEqual([undefined, undefined])
    })

    it('leave the state after them to be found, whatever later ones changed', async () => {
      const statesAfter = (...ids: string[]) => Promise.all(ids.map((id) => store().findStateAfter?.(id)))
      await open({ n: 0 })
      const a = await say({ text: 'a' })
      const b = await say({ text: 'b', state: { n: 1 } })
      expect(await statesAfter(a, b)).toEqual([{ n: 0 }, { n: 1 }])
      const c = await say({ text: 'c' }, { state: { n: 2 } })
      const d = await say({ text: 'd' })
      expect(await statesAfter(a, b, c, d)).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }, { n: 2 }])
      const e = await say({ text: 'e', replaces: c }, { state: null })
      const f = await say({ text: 'f' })
      expect(await statesAfter(a, b, c, d, e, f)).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }, { n: 2 }, null, null])
      const child = startOf({ run: { session_id: sessionId, parent_run_id: f }, session: null })
      await store().startRun(child)
      expect(await statesAfter('none', child.run.run_id)).toEqual([undefined, undefined])
      await finish(child.run.run_id)
    })

    it('are replaced once: the second is told who came first, and nothing of it is stored', async () => {
      await open()
      const a = await say({ text: 'a' })
      const asked = ['x', 'y'].map((text) => ({
        ...startOf({ run: { session_id: sessionId, status: 'queued' }, session: null, text }),
        replaces: a,
      }))
      const outcomes = await Promise.all(asked.map((start) => store().startRun(start)))
      expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['queued', 'replaced'])
      const first = outcomes.findIndex(({ outcome }) => outcome === 'queued')
      const winner = asked[first]?.run.run_id ?? ''
      expect(outcomes[1 - first]).toEqual({ outcome: 'replaced', by: winner })
      expect(await markOf(a)).toBe(winner)
      expect(await store().findRun(asked[1 - first]?.run.run_id ?? '')).toBeUndefined()
    })

    it('must be turns of the session: no child run, no run elsewhere, none that is not there', async () => {
      await open()
      const a = await say({ text: 'a' })
      const { runId: elsewhere } = await started(store())
      const child = startOf({ run: { session_id: sessionId, parent_run_id: a }, session: null })
      await store().startRun(child)
      for (const replaces of [elsewhere, child.run.run_id, 'none']) {
        const start = { ...startOf({ run: { session_id: sessionId }, session: null }), replaces }
        expect(await store().startRun(start)).toEqual({ outcome: 'turn_missing' })
        expect(await store().findRun(start.run.run_id)).toBeUndefined()
      }
    })

    it('that have not ended are named to the caller', async () => {
      await open()
      const a = await begin({ text: 'a' })
      const b = await begin({ text: 'b', queued: true })
      const start = { ...startOf({ run: { session_id: sessionId, status: 'queued' }, session: null }), replaces: a }
      expect(await store().startRun(start)).toMatchObject({ outcome: 'queued', superseded: [a, b] })
      expect(await store().beginRun(start.run.run_id, 1, at(2))).toBe('wait')
      for (const runId of [a, b]) await finish(runId, { status: 'cancelled' })
      expect(await store().beginRun(start.run.run_id, 1, at(3))).toBe('begun')
      expect(await shown()).toEqual([start.run.run_id])
    })

    it('that wait can not be resumed', async () => {
      await open()
      const a = await begin({ text: 'a' })
      await store().finishRun(endOf(a, { status: 'input_required', end_seq: 5 }))
      await say({ text: 'b', replaces: a })
      const resume = { run_id: a, end_seq: 5, owner: 'one', at: at(3), events: [], reserve_until: 2_000 }
      expect(await store().resumeRun(resume)).toEqual({ outcome: 'moved_on' })
    })

    it('are marked when messages are found', async () => {
      await open()
      const a = await say({ text: 'needle one' })
      const b = await say({ text: 'needle two', replaces: a })
      const search = { words: [{ word: 'needle', isBeginning: false }] }
      const { items } = await store().searchMessages(search, { limit: 10 })
      expect(items.map(({ run_id, replaced }) => [run_id, replaced])).toEqual([
        [b, undefined],
        [a, true],
      ])
    })

    it('are deleted with the session, and pruned with it', async () => {
      await open()
      const a = await say({ text: 'a' })
      const b = await say({ text: 'b', replaces: a })
      expect(await store().prune({ olderThan: at(100) }, 10)).toBe(1)
      expect([await store().findRun(a), await store().findRun(b)]).toEqual([undefined, undefined])
    })
  })

  describe('a run that said nothing', () => {
    it('gives the place back in the commit of its end, with the state', async () => {
      await open({ n: 0 })
      const a = await say({ text: 'a' })
      const b = await say({ text: 'b' }, { state: { n: 1 } })
      const c = await begin({ text: 'c', replaces: b, state: { mine: true } })
      expect(await stateNow()).toEqual({ n: 0, mine: true })
      expect(await fail(c, { state: { n: 9 } })).toBe('ok')
      expect(await shown()).toEqual([a, b])
      expect([await markOf(b), await markOf(c)]).toEqual([null, b])
      expect(await stateNow()).toEqual({ n: 1 })
      expect(await shown({ before: c })).toEqual([a])
    })

    it('leaves the turns that came after it in the conversation', async () => {
      await open()
      const a = await say({ text: 'a' })
      const b = await begin({ text: 'b', replaces: a })
      const c = await begin({ text: 'c', queued: true })
      await fail(b)
      expect(await shown()).toEqual([a, c])
    })

    it('changes nothing when it replaced nothing, or is replaced itself', async () => {
      await open()
      const a = await say({ text: 'a' })
      const b = await begin({ text: 'b' })
      await fail(b)
      expect(await shown()).toEqual([a, b])
      const c = await begin({ text: 'c', replaces: a })
      const d = await begin({ text: 'd', replaces: c, queued: true })
      await fail(c)
      expect(await shown()).toEqual([d])
      expect([await markOf(a), await markOf(c)]).toEqual([c, d])
      // The one before it gave no answer either, so the first one comes back.
      expect(await fail(d)).toBe('ok')
      expect(await shown()).toEqual([a, b])
    })

    it('gives it back when its process died before it said anything, and keeps it otherwise', async () => {
      await open({ n: 0 })
      const a = await say({ text: 'a' }, { state: { n: 1 } })
      const b = await begin({ text: 'b', replaces: a })
      await store().recover('two', at(5))
      expect(await shown()).toEqual([a])
      expect(await stateNow()).toEqual({ n: 1 })
      expect(await markOf(b)).toBe(a)
      const c = await begin({ text: 'c', replaces: a })
      const said = { type: 'text_delta', text: 'so', run_id: c, seq: 2, at: at(2) } as const
      await store().appendEvents({ run_id: c, fence: 1, events: [said], reserve_until: 2_000 })
      await store().recover('three', at(6))
      expect(await shown()).toEqual([c])
    })

    it('gives it back when it never left the queue, unless it still waits there', async () => {
      await open({ n: 0 })
      const a = await say({ text: 'a' }, { state: { n: 1 } })
      const b = await begin({ text: 'b', replaces: a, queued: true })
      expect(await stateNow()).toEqual({ n: 1 })
      expect((await store().recover('two', at(5))).queued.map(({ run }) => run.run_id)).toEqual([b])
      expect(await shown()).toEqual([b])
      await fail(b, { fence: 2, status: 'cancelled' })
      expect(await shown()).toEqual([a])
      expect(await stateNow()).toEqual({ n: 1 })
    })
  })

  describe('the state of the session', () => {
    it('goes back to before the first replaced turn that changed it', async () => {
      await open({ n: 0 })
      const a = await say({ text: 'a' })
      const b = await say({ text: 'b', state: { n: 1 } }, { state: { n: 2 } })
      const c = await say({ text: 'c' }, { state: { n: 3 } })
      const d = await say({ text: 'd', replaces: c })
      expect(await stateNow()).toEqual({ n: 2 })
      await say({ text: 'e', replaces: a, state: { e: 1 } })
      expect(await stateNow()).toEqual({ n: 0, e: 1 })
      expect([await markOf(b), await markOf(d)]).not.toContain(null)
    })

    it('goes back only when a queued run begins, and to none when there was none', async () => {
      await open()
      const a = await begin({ text: 'a', state: { n: 1 } })
      const b = await begin({ text: 'b', replaces: a, queued: true })
      await finish(a, { status: 'cancelled', state: { n: 2 } })
      expect(await stateNow()).toEqual({ n: 2 })
      expect(await store().beginRun(b, 1, at(3))).toBe('begun')
      expect(await stateNow()).toBeNull()
      await finish(b, { state: { n: 5 } })
      expect(await store().restoreTurn(a, at(9))).toEqual({ outcome: 'restored' })
      expect(await stateNow()).toEqual({ n: 2 })
    })

    it('stays when the replaced turns never changed it', async () => {
      await open({ n: 0 })
      const a = await say({ text: 'a' })
      await store().updateSession(sessionId, { state: { n: 7 } }, at(2))
      await say({ text: 'b', replaces: a })
      expect(await stateNow()).toEqual({ n: 7 })
    })

    it('is known for runs that begin and end together, whatever else is written', async () => {
      await open({ n: 0 })
      const starts = [1, 2].map((n) =>
        startOf({ run: { session_id: sessionId, status: 'running' }, session: null, state: { n } }),
      )
      for (const start of starts) {
        const { run_id } = start.run
        const ended = { ...endOf(run_id, { messages: [messageOf(run_id, 'assistant', 'x')] }), state: { end: run_id } }
        await Promise.all([store().startRun(start), store().finishRun(ended)])
      }
      await say({ text: 'x', replaces: starts[1]?.run.run_id ?? '' })
      expect(await stateNow()).toEqual({ end: starts[0]?.run.run_id })
    })
  })
}
