import { describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, endOf, messageOf, seedOf, started } from './builders.ts'

export function testHistory(store: () => SessionStore): void {
  async function conversation(sessionId: string, count: number): Promise<string[]> {
    await store().createSession(seedOf({ session_id: sessionId }))
    const ids: string[] = []
    for (let n = 0; n < count; n++) {
      // The clock stands still and once goes back; the order of the conversation does not.
      const createdAt = at(n === 3 ? 1 : 2)
      const run = { session_id: sessionId, created_at: createdAt }
      const { runId } = await started(store(), { run, session: null, text: `q${n}` })
      const reply = messageOf(runId, 'assistant', `a${n}`, createdAt)
      await store().finishRun(endOf(runId, { messages: [reply], completed_at: at(3) }))
      ids.push(runId)
    }
    return ids
  }

  describe('history', () => {
    it('gives the newest runs, oldest first, with what went in and what came out', async () => {
      const ids = await conversation('s', 7)
      const history = await store().readHistory('s', 3)
      expect(history.has_more).toBe(true)
      expect(history.runs.map((run) => run.run_id)).toEqual(ids.slice(-3))
      expect(history.runs.flatMap((run) => run.messages.map((message) => message.content))).toEqual([
        'q4',
        'a4',
        'q5',
        'a5',
        'q6',
        'a6',
      ])
      expect(history.runs[0]).toEqual(await store().findRun(ids[4] ?? ''))
    })

    it('says whether there is more', async () => {
      const ids = await conversation('s', 3)
      expect(await store().readHistory('s', 2)).toMatchObject({ has_more: true })
      const all = await store().readHistory('s', 3)
      expect(all.has_more).toBe(false)
      expect(all.runs.map((run) => run.run_id)).toEqual(ids)
      expect((await store().readHistory('s', 1000)).has_more).toBe(false)
    })

    it('gives those before a run, whatever came later', async () => {
      const ids = await conversation('s', 7)
      await conversation('other', 2)
      const history = await store().readHistory('s', 2, { before: ids[4] })
      expect(history.runs.map((run) => run.run_id)).toEqual(ids.slice(2, 4))
      expect(history.has_more).toBe(true)
      const all = await store().readHistory('s', 4, { before: ids[4] })
      expect(all.runs).toEqual((await store().readHistory('s', 7)).runs.slice(0, 4))
      expect(all.has_more).toBe(false)
      expect(await store().readHistory('s', 4, { before: ids[0] })).toEqual({ runs: [], has_more: false })
      expect(await store().readHistory('s', 4, { before: 'none' })).toEqual({ runs: [], has_more: false })
    })

    it('is empty for a session without runs and for none', async () => {
      await store().createSession(seedOf({ session_id: 'empty' }))
      expect(await store().readHistory('empty', 5)).toEqual({ runs: [], has_more: false })
      expect(await store().readHistory('none', 5)).toEqual({ runs: [], has_more: false })
    })

    it('answers many readers at once, each with its own session and length', async () => {
      const first = await conversation('a', 5)
      const second = await conversation('b', 4)
      const [a, b, none, short, run, missing, again, head] = await Promise.all([
        store().readHistory('a', 2),
        store().readHistory('b', 10),
        store().readHistory('none', 2),
        store().readHistory('a', 1),
        store().findRun(second[1] ?? ''),
        store().findRun('none'),
        store().findRun(second[1] ?? ''),
        store().findRunHead?.(second[1] ?? ''),
      ])
      expect(a?.runs.map((item) => item.run_id)).toEqual(first.slice(-2))
      expect(b?.runs.map((item) => item.run_id)).toEqual(second)
      expect(none).toEqual({ runs: [], has_more: false })
      expect(short?.runs.map((item) => item.run_id)).toEqual(first.slice(-1))
      expect(run).toEqual(b?.runs[1])
      expect(again).toEqual(run)
      expect(again).not.toBe(run)
      if (head !== undefined)
        expect(head).toMatchObject({ ...run, messages: expect.anything(), sources: expect.anything() })
      expect(missing).toBeUndefined()
    })

    it('shows the newest runs of a session, oldest first: 100 by itself, 10 in lists', async () => {
      const ids = await conversation('s', 104)
      const session = (await store().findSession('s'))?.session
      expect(session?.run_count).toBe(104)
      expect(session?.runs.map((run) => run.run_id)).toEqual(ids.slice(-100))
      const [listed] = (await store().listSessions({}, { limit: 5 })).items
      expect(listed?.run_count).toBe(104)
      expect(listed?.runs.map((run) => run.run_id)).toEqual(ids.slice(-10))
    })
  })
}
