import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/error.ts'
import type { AgainOf, RunRecord } from '../../../../src/core/run.ts'
import type { RunEnd } from '../../../../src/core/run-write.ts'
import type { RunPiece, SessionCopy } from '../../../../src/core/session.ts'
import type { SessionStore } from '../../../../src/core/store.ts'
import { searchWordsOf } from '../../../../src/core/text/message-search.ts'
import { at, endOf, messageOf, seedOf, started, textEvents, turnsIn } from '../builders.ts'

const page = { limit: 50 }
const sessionId = 's'
const usage = { input_tokens: 2, output_tokens: 1, total_tokens: 3 }

export function testKeptTries(store: () => SessionStore): void {
  const { begin, say, shown, markOf, stateNow, open } = turnsIn(store)
  const again = (runId: string): AgainOf => ({ run_id: runId, from: null, after: 'ask', keep: 'no' })
  const idsOf = (runs: readonly { run_id: string }[]) => runs.map(({ run_id }) => run_id)
  const keep = (runId: string, turn: string, second = 20) => store().keepTry({ run_id: runId, turn, at: at(second) })

  /** A try with a child run, a file and events, which has ended. */
  async function tried(of: string, end: Partial<RunEnd> = {}): Promise<{ runId: string; childId: string }> {
    const run = { session_id: sessionId, again_of: again(of), created_at: at(5) }
    const { runId } = await started(store(), { run, session: null, text: 'tried' })
    const child = { ...run, parent_run_id: runId }
    const { runId: childId } = await started(store(), { run: child, session: null, text: 'inside' })
    const bytes = new TextEncoder().encode('made by a try')
    await store().saveFile({ session_id: sessionId, run_id: runId, media_type: 'a/b', name: null, url: null, bytes })
    for (const [id, more] of [
      [childId, {}],
      [runId, end],
    ] as const) {
      await store().appendEvents({
        run_id: id,
        fence: 1,
        events: textEvents(id, 2, ['x', 'y']),
        reserve_until: 2_000,
      })
      const said = { messages: [messageOf(id, 'assistant', `answer ${id}`)], usage, end_seq: 9 }
      expect(await store().finishRun(endOf(id, { ...said, events: textEvents(id, 4, ['z']), ...more }))).toBe('ok')
    }
    return { runId, childId }
  }
  const found = async (word: string) =>
    idsOf((await store().searchMessages({ words: searchWordsOf(word) }, page)).items)
  const sums = async () => (await store().findOverview(sessionId))?.usage

  describe('a try that is kept', () => {
    it('takes the place of its turn and of all later ones, with its record as it is', async () => {
      await open({ n: 0 })
      const a = await say({ text: 'a' }, { usage })
      const b = await say({ text: 'b' }, { state: { n: 1 }, usage })
      const { runId, childId } = await tried(b, { state: { n: 5 } })
      const c = await say({ text: 'c' }, { state: { n: 2 }, usage })
      const before = await Promise.all([runId, childId].map((id) => store().findRun(id)))
      const events = await Promise.all([runId, childId].map((id) => store().readEvents(id, 0, 100)))
      expect(await found('tried')).toEqual([])
      expect(await keep(runId, b)).toEqual({ outcome: 'kept' })
      expect(await shown()).toEqual([a, runId])
      expect(await Promise.all([a, b, c, runId].map(markOf))).toEqual([null, runId, runId, null])
      expect(await stateNow()).toEqual({ n: 5 })
      const after = await Promise.all([runId, childId].map((id) => store().findRun(id)))
      expect(after).toEqual([
        { ...before[0], again_of: { ...again(b), keep: 'replace' }, follows: a },
        { ...before[1], again_of: null },
      ])
      expect(await Promise.all([runId, childId].map((id) => store().readEvents(id, 0, 100)))).toEqual(events)
      expect((await store().listFiles(runId)).map(({ size }) => size)).toEqual([13])
      const { session, revision } = (await store().findSession(sessionId)) ?? { revision: 0 }
      expect([session?.run_count, session?.updated_at]).toEqual([4, at(20)])
      expect(revision).toBeGreaterThan(7)
      expect(await sums()).toMatchObject({ total_tokens: 4 * usage.total_tokens })
      expect(await found('tried')).toEqual([runId])
      expect(idsOf((await store().listRuns({ session_id: sessionId }, page)).items)).toContain(runId)
      expect(await store().deleteTries('~', 10)).toBe(0)
      expect(await store().findStateBefore(runId)).toEqual({ n: 0 })
    })

    it('is a branch among the others', async () => {
      await open({ n: 0 })
      const a = await say({ text: 'a' }, { state: { n: 1 } })
      const { runId } = await tried(a)
      expect(await keep(runId, a)).toEqual({ outcome: 'kept' })
      expect(await shown()).toEqual([runId])
      // It changed no state, so it leaves the one from before.
      expect(await stateNow()).toEqual({ n: 0 })
      const d = await say({ text: 'd' })
      expect(await shown({ before: d })).toEqual([runId])
      expect(await store().restoreTurn(a, at(21))).toEqual({ outcome: 'restored' })
      expect([await shown(), await stateNow()]).toEqual([[a], { n: 1 }])
      expect(await store().restoreTurn(runId, at(22))).toEqual({ outcome: 'restored' })
      expect([await shown(), await stateNow()]).toEqual([[runId, d], { n: 0 }])
    })

    it('comes after all that was stored before it was kept', async () => {
      await open()
      const a = await say({ text: 'a' })
      const { runId, childId } = await tried(a)
      const b = await say({ text: 'b' })
      await store().updateSession(sessionId, {}, at(6))
      await store().shareSession(sessionId, { user_id: 'ann' }, at(7))
      await store().shareSession(sessionId, { user_id: 'bob' }, at(8))
      expect(await keep(runId, a)).toEqual({ outcome: 'kept' })
      expect(idsOf(await store().readRecords(sessionId, undefined, 10))).toEqual([a, b, runId, childId])
      expect([await store().isBefore(b, runId), await store().isBefore(runId, b)]).toEqual([true, false])
      // An earlier user sees the session as it was.
      expect((await store().findHandover(sessionId, 'ann', 5))?.runs.map(({ run_id }) => run_id)).not.toContain(runId)
    })

    it('is refused with the reason, and nothing is changed', async () => {
      await open({ n: 0 })
      const a = await say({ text: 'a' })
      const run = { session_id: sessionId, again_of: again(a) }
      const { runId: running } = await started(store(), { run, session: null })
      expect(await keep(running, a)).toEqual({ outcome: 'unfinished', status: 'running' })
      await store().finishRun(endOf(running, { status: 'input_required' }))
      expect(await keep(running, a)).toEqual({ outcome: 'unfinished', status: 'input_required' })
      const { runId, childId } = await tried(a)
      expect(await keep('none', a)).toEqual({ outcome: 'missing' })
      expect(await keep(a, a)).toEqual({ outcome: 'no_try' })
      expect(await keep(childId, a)).toEqual({ outcome: 'no_try' })
      expect(await keep(runId, 'none')).toEqual({ outcome: 'turn_missing' })
      expect(await keep(runId, running)).toEqual({ outcome: 'turn_missing' })
      const { runId: silent } = await tried(a, { status: 'failed', messages: [] })
      expect(await keep(silent, a)).toEqual({ outcome: 'silent' })
      const busy = await begin({ text: 'busy' })
      expect(await keep(runId, a)).toEqual({ outcome: 'busy', run_id: busy })
      await store().finishRun(endOf(busy, { status: 'input_required' }))
      expect(await keep(runId, a)).toEqual({ outcome: 'busy', run_id: busy })
      await store().finishRun(endOf(busy, { fence: null, status: 'cancelled', end_seq: 3 }))
      const b = await say({ text: 'b', replaces: a })
      expect(await keep(runId, a)).toEqual({ outcome: 'replaced', by: b })
      expect(await shown()).toEqual([b])
      expect((await store().findRun(runId))?.again_of?.keep).toBe('no')
      expect((await store().findSession(sessionId))?.session.run_count).toBe(3)
    })

    it('is kept once when it is asked for twice at once', async () => {
      await open()
      const a = await say({ text: 'a' })
      const [{ runId: one }, { runId: two }] = [await tried(a), await tried(a)]
      const same = await Promise.all([keep(one, a), keep(one, a)])
      expect(same.map(({ outcome }) => outcome).sort()).toEqual(['kept', 'no_try'])
      expect(await keep(two, a)).toEqual({ outcome: 'replaced', by: one })
      expect(await shown()).toEqual([one])
    })

    it('goes with its session, also when it is kept at the same moment', async () => {
      await open()
      const a = await say({ text: 'a' })
      const { runId, childId } = await tried(a)
      await Promise.allSettled([store().deleteSession(sessionId), keep(runId, a)])
      for (const id of [a, runId, childId]) expect(await store().findRun(id)).toBeUndefined()
    })
  })

  describe('a copy that comes instead of a try', () => {
    const copied = 'copied'
    /** Of the try, as the last turn of another session. */
    async function copyOf(runId: string, breaks = false): Promise<SessionCopy> {
      const run = (await store().findRun(runId)) as RunRecord
      async function* runs(): AsyncGenerator<RunPiece> {
        const kept = { ...again(runId), keep: 'fork' as const }
        yield { run: { ...run, run_id: `new ${runId}`, session_id: copied, again_of: kept } }
        if (breaks) throw new AppError('invalid_request', 'broken')
      }
      const { session_id: _id, ...head } = seedOf({ state: { n: 0 } })
      const shared_with = { agent_ids: [], team_ids: [], workflow_ids: [], user_ids: [] }
      const session = { ...head, session_id: copied, updated_at: at(9), shared_with }
      return { session, summary: null, runs: runs() }
    }

    it('takes its state over, and the try is gone', async () => {
      await open({ n: 0 })
      const a = await say({ text: 'a' })
      const before = (await store().findSession(sessionId))?.session
      const { runId, childId } = await tried(a, { state: { n: 3 } })
      const made = await store().restoreSession(await copyOf(runId), undefined, runId)
      expect(made.session).toMatchObject({ session_id: copied, run_count: 1, state: { n: 3 } })
      for (const id of [runId, childId]) expect(await store().findRun(id)).toBeUndefined()
      expect(await store().listFiles(runId)).toEqual([])
      expect((await store().findSession(sessionId))?.session).toEqual(before)
      expect(idsOf((await store().listRuns({ session_id: sessionId, again: true }, page)).items)).toEqual([a])
    })

    it('is nowhere when the try is no more, or the copy breaks', async () => {
      await open()
      const a = await say({ text: 'a' })
      const { runId } = await tried(a)
      await expect(store().restoreSession(await copyOf(runId, true), undefined, runId)).rejects.toThrow('broken')
      expect((await store().findRun(runId))?.again_of?.keep).toBe('no')
      const copies = await Promise.all([copyOf(runId), copyOf(runId)])
      const [one, two] = copies.map((copy, n) => ({
        ...copy,
        session: { ...copy.session, session_id: `copied ${n}` },
        runs: renamed(copy.runs, n),
      })) as unknown as [SessionCopy, SessionCopy]
      const both = await Promise.allSettled([
        store().restoreSession(one, undefined, runId),
        store().restoreSession(two, undefined, runId),
      ])
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'conflict' } })
      expect(await store().countSessions({})).toBe(2)
      await expect(store().restoreSession(await copyOf(a), undefined, a)).rejects.toMatchObject({ code: 'conflict' })
    })
  })
}

async function* renamed(pieces: AsyncIterable<RunPiece>, n: number): AsyncGenerator<RunPiece> {
  for await (const piece of pieces) {
    if ('run' in piece) yield { run: { ...piece.run, run_id: `kept ${n}`, session_id: `copied ${n}` } }
  }
}
