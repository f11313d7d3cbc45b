import { describe, expect, it } from 'vitest'
import type { AgainOf } from '../../../../src/core/run.ts'
import type { SessionStore } from '../../../../src/core/store.ts'
import { searchWordsOf } from '../../../../src/core/text/message-search.ts'
import { at, claimOf, endOf, eventOf, messageOf, seedOf, started, startOf, textEvents, turnsIn } from '../builders.ts'

const page = { limit: 50 }
const sessionId = 's'

export function testTries(store: () => SessionStore): void {
  const { say, open } = turnsIn(store)
  const again = (runId: string, keep: AgainOf['keep'] = 'no'): AgainOf => ({
    run_id: runId,
    from: 3,
    after: 'ask',
    keep,
  })

  /** A try of the turn with a child run, both running. */
  async function tryAgain(of: string, second = 5): Promise<{ runId: string; childId: string }> {
    const run = { session_id: sessionId, again_of: again(of), created_at: at(second) }
    const { runId } = await started(store(), { run, session: null, state: { tried: true }, text: 'again' })
    const child = { ...run, parent_run_id: runId }
    const { runId: childId } = await started(store(), { run: child, session: null, text: 'inside' })
    return { runId, childId }
  }
  const finish = (runId: string, second = 6) =>
    store().finishRun(
      endOf(runId, {
        completed_at: at(second),
        end_seq: 5,
        events: textEvents(runId, 2, ['x', 'y']),
        messages: [messageOf(runId, 'assistant', `tried ${runId}`)],
        usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
        state: { ended: true },
      }),
    )
  const listed = async (filter = {}) => (await store().listRuns(filter, page)).items.map(({ run_id }) => run_id)
  const newFile = (runId: string) => ({
    session_id: sessionId,
    run_id: runId,
    media_type: 'text/plain',
    name: 'a.txt',
    url: null,
    bytes: new TextEncoder().encode(runId),
  })

  describe('tries', () => {
    it('change nothing of their session, and are in none of its lists', async () => {
      await open({ kept: 1 })
      const turn = await say({ text: 'first' })
      const before = await store().findSession(sessionId)
      const { runId, childId } = await tryAgain(turn)
      expect(await store().appendEvents({ run_id: runId, fence: 1, events: [], reserve_until: 2_000 })).toBe('ok')
      expect(await finish(childId)).toBe('ok')
      expect(await finish(runId)).toBe('ok')
      expect(await store().findSession(sessionId)).toEqual(before)
      for (const view of [{}, { replaced: true }, { upTo: turn }])
        expect((await store().readHistory(sessionId, 9, view)).runs.map(({ run_id }) => run_id)).toEqual([turn])
      expect((await store().readHistory(sessionId, 9, { upTo: runId })).runs).toEqual([])
      const hits = await store().searchMessages({ words: searchWordsOf('again') }, page)
      expect(hits.items).toEqual([])
    })

    it('change nothing of their session when they waited before they begin', async () => {
      await open({ kept: 1 })
      const turn = await say({ text: 'first' })
      const before = await store().findSession(sessionId)
      const run = { session_id: sessionId, again_of: again(turn), status: 'queued', background: true } as const
      const { runId } = await started(store(), { run, session: null, state: { tried: true } })
      expect(await store().beginRun(runId, 1, at(5))).toBe('begun')
      expect(await finish(runId)).toBe('ok')
      expect(await store().findSession(sessionId)).toEqual(before)
    })

    it('are found by their id, and listed only on request or by their parent', async () => {
      await open()
      const turn = await say({ text: 'first' })
      const { runId, childId } = await tryAgain(turn)
      await finish(childId)
      await finish(runId)
      expect(await listed()).toEqual([turn])
      expect(await listed({ session_id: sessionId, status: 'completed' })).toEqual([turn])
      expect((await listed({ again: true })).toSorted()).toEqual([turn, runId, childId].toSorted())
      expect(await listed({ parent_run_id: runId })).toEqual([childId])
      expect(await listed({ parent_run_id: '' })).toEqual([])
      const record = await store().findRun(runId)
      expect(record).toMatchObject({ status: 'completed', parent_run_id: null, again_of: again(turn) })
      expect(record?.messages.map(({ content }) => content)).toEqual(['again', `tried ${runId}`])
      const events = await store().readEvents(runId, 0, 50)
      expect(events.map(({ type }) => type)).toEqual(['run_start', 'text_delta', 'text_delta', 'run_end'])
      expect(await store().isBefore(turn, runId)).toBe(true)
    })

    it('run beside the turn of their session and beside each other', async () => {
      await open()
      const turn = await say({ text: 'first' })
      const running = await started(store(), { run: { session_id: sessionId }, session: null })
      const one = await tryAgain(turn)
      const other = await tryAgain(turn)
      const queued = await started(store(), {
        run: { session_id: sessionId, again_of: again(turn), status: 'queued', background: true },
        session: null,
        state: { tried: true },
      })
      expect(await store().beginRun(queued.runId, 1, at(7))).toBe('begun')
      for (const runId of [one.childId, one.runId, other.childId, other.runId, queued.runId, running.runId])
        expect(await finish(runId)).toBe('ok')
      expect((await store().findSession(sessionId))?.session).toMatchObject({ run_count: 2, state: { ended: true } })
    })

    it('pause and go on while a turn runs', async () => {
      await open()
      const turn = await say({ text: 'first' })
      const { runId } = await tryAgain(turn)
      await store().finishRun(endOf(runId, { status: 'input_required', end_seq: 5 }))
      const running = await started(store(), { run: { session_id: sessionId }, session: null })
      const before = await store().findSession(sessionId)
      const events = [eventOf(runId, 6, { type: 'text_delta', text: 'z' })]
      const resume = { run_id: runId, end_seq: 5, owner: 'one', at: at(9), events, reserve_until: 2_000 }
      expect(await store().resumeRun(resume)).toEqual({ outcome: 'resumed', fence: 2 })
      expect(await store().finishRun(endOf(runId, { fence: 2, end_seq: 8 }))).toBe('ok')
      expect(await store().findSession(sessionId)).toEqual(before)
      expect(await finish(running.runId)).toBe('ok')
    })

    it('create no session, and are no turn that can be replaced', async () => {
      const start = startOf({ run: { session_id: 'none', again_of: again('run_x') } })
      expect(await store().startRun(start)).toEqual({ outcome: 'session_missing' })
      await open()
      const { runId } = await tryAgain(await say({ text: 'first' }))
      await finish(runId)
      const replacing = { ...startOf({ run: { session_id: sessionId }, session: null }), replaces: runId }
      expect(await store().startRun(replacing)).toEqual({ outcome: 'turn_missing' })
    })

    it('are interrupted when their process died, without a change of the session', async () => {
      await open()
      const { runId, childId } = await tryAgain(await say({ text: 'first' }))
      const before = await store().findSession(sessionId)
      const { interrupted } = await store().recover('two', at(20))
      expect(interrupted.map(({ run_id }) => run_id).toSorted()).toEqual([runId, childId].toSorted())
      expect(await store().findRun(runId)).toMatchObject({ status: 'interrupted', again_of: { keep: 'no' } })
      expect(await store().findSession(sessionId)).toEqual(before)
    })

    it('are deleted with all they have once they ended before a time, so many at once', async () => {
      await open()
      const turn = await say({ text: 'first' }, { completed_at: at(1) })
      const claimed = claimOf('key')
      const gone: string[] = []
      for (const second of [6, 7, 8]) {
        const { runId, childId } = await tryAgain(turn)
        await store().saveFile(newFile(runId))
        await store().appendEvents({
          run_id: childId,
          fence: 1,
          events: textEvents(childId, 2, ['a', 'b']),
          reserve_until: 2_000,
        })
        await store().finishRun(endOf(childId, { completed_at: at(second), end_seq: 9 }))
        await finish(runId, second)
        gone.push(runId, childId)
      }
      const active = await tryAgain(turn)
      const kept = await store().saveFile(newFile(turn))
      await started(store(), { run: { session_id: 'other', created_at: at(1) }, claim: claimed })
      const before = await store().findSession(sessionId)
      expect(await store().deleteTries(at(6), 10)).toBe(0)
      expect(await store().deleteTries(at(8), 1)).toBe(2)
      expect(await store().deleteTries(at(50), 10)).toBe(4)
      expect(await store().deleteTries(at(50), 10)).toBe(0)
      for (const runId of gone) {
        expect(await store().findRun(runId)).toBeUndefined()
        expect(await store().readEvents(runId, 0, 10)).toEqual([])
        expect(await store().listFiles(runId)).toEqual([])
      }
      expect((await listed({ again: true, session_id: sessionId })).toSorted()).toEqual(
        [turn, active.runId, active.childId].toSorted(),
      )
      expect(await store().findFile(sessionId, kept.file_id)).toBeDefined()
      expect(await store().findSession(sessionId)).toEqual(before)
      expect(await finish(active.childId)).toBe('ok')
    })

    it('of several megabytes go too', async () => {
      await open()
      const { runId } = await tryAgain(await say({ text: 'first' }))
      const text = 'long '.repeat(200_000)
      for (let seq = 2; seq < 8; seq++) {
        const events = [eventOf(runId, seq, { type: 'text_delta', text })]
        await store().appendEvents({ run_id: runId, fence: 1, events, reserve_until: 2_000 })
      }
      await store().finishRun(endOf(runId, { end_seq: 9 }))
      let deleted = 0
      for (let count = -1; count !== 0; deleted += count) count = await store().deleteTries(at(50), 10)
      expect(deleted).toBe(2)
      expect(await store().findRun(runId)).toBeUndefined()
    })

    it('go with their session and with their user', async () => {
      await open()
      const { runId, childId } = await tryAgain(await say({ text: 'first' }))
      await finish(childId)
      await finish(runId)
      await store().deleteSession(sessionId)
      expect(await store().findRun(runId)).toBeUndefined()
      expect(await store().findRun(childId)).toBeUndefined()

      await store().createSession(seedOf({ session_id: sessionId, user_id: 'bob' }))
      const run = { session_id: sessionId, again_of: again('run_x'), user_id: 'ann' }
      const mine = await started(store(), { run, session: null, text: 'secret' })
      await finish(mine.runId)
      while ((await store().eraseUser('ann', 5)) > 0);
      expect(await store().findRun(mine.runId)).toMatchObject({ messages: [], user_id: null })
    })
  })

  it('keeps what a turn repeats, and where', async () => {
    await open()
    const turn = await say({ text: 'first' })
    const run = { session_id: sessionId, again_of: again(turn, 'replace') }
    const start = { ...startOf({ run, session: null }), replaces: turn }
    expect(await store().startRun(start)).toMatchObject({ outcome: 'started' })
    await finish(start.run.run_id)
    expect((await store().findSession(sessionId))?.session.runs.map(({ again_of }) => again_of)).toEqual([
      null,
      again(turn, 'replace'),
    ])
    expect((await store().readHistory(sessionId, 5)).runs[0]?.again_of).toEqual(again(turn, 'replace'))
    expect(await listed()).toContain(start.run.run_id)
  })
}
