import { describe, expect, it } from 'vitest'
import { isFinalEvent, type RunEvent } from '../../../src/core/event.ts'
import type { RunRecord } from '../../../src/core/run.ts'
import type { RunPiece, SessionCopy, SessionHead } from '../../../src/core/session.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, endOf, eventOf, messageOf, seedOf, started, startOf, textEvents } from './builders.ts'

interface Gathered extends SessionHead {
  runs: { run: RunRecord; events: RunEvent[] }[]
}

/** As a store takes it; its events come in pieces of at most 100. */
function piecesOf({ session, summary, runs }: Gathered): SessionCopy {
  async function* pieces(): AsyncGenerator<RunPiece> {
    for (const { run, events } of runs) {
      yield { run }
      for (let at = 0; at < events.length; at += 100) yield { run_id: run.run_id, events: events.slice(at, at + 100) }
    }
  }
  return { session, summary, runs: pieces() }
}

export function testCopies(store: () => SessionStore): void {
  async function recorded(runId: string): Promise<RunEvent[]> {
    const events = await store().readEvents(runId, 0, 10_000)
    return events.filter((event) => event.type !== 'run_start' && !isFinalEvent(event))
  }

  async function copyOf(sessionId: string): Promise<Gathered> {
    const found = await store().findSession(sessionId)
    if (found === undefined) throw new Error(`There is no session ${sessionId}.`)
    const { runs: _runs, run_count: _count, summary, ...session } = found.session
    const records = await store().readRecords(sessionId, undefined, 1_000)
    const runs = await Promise.all(records.map(async (run) => ({ run, events: await recorded(run.run_id) })))
    return { session, summary, runs }
  }

  /** With all that a session may have. */
  async function full(): Promise<string> {
    const seed = seedOf({ user_id: 'ann', name: 'Full', metadata: { n: 1 }, state: { a: [1, 'x'] } })
    const { session_id } = seed
    await store().createSession(seed)
    await store().shareSession(session_id, { user_id: 'bob', agent_id: 'docs' }, at(1))
    for (let n = 0; n < 3; n++) {
      const run = { session_id, created_at: at(n), user_id: 'ann', metadata: { turn: n }, timeout_ms: 5_000 }
      const { runId } = await started(store(), { run, session: null, text: `question ${n}` })
      const child = { session_id, parent_run_id: runId, created_at: at(n) }
      const { runId: childId } = await started(store(), { run: child, session: null, text: 'inner' })
      await store().finishRun(endOf(childId, { messages: [messageOf(childId, 'assistant', 'inner answer')] }))
      const text = textEvents(
        runId,
        2,
        Array.from({ length: 400 }, (_, part) => `${part} ${'word '.repeat(20)}`),
      )
      const tool = eventOf(runId, 402, { type: 'tool_call', call_id: 'c', name: 'look', input: { x: 1 } })
      await store().appendEvents({ run_id: runId, fence: 1, events: text.slice(0, 50), reserve_until: 5_000 })
      await store().finishRun(
        endOf(runId, {
          end_seq: 403,
          events: [...text.slice(50), tool],
          messages: [messageOf(runId, 'assistant', `answer ${n}`)],
          usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
          status: n === 2 ? 'input_required' : 'completed',
          error: null,
        }),
      )
    }
    await store().saveSummary({
      session_id,
      content: 'About questions.',
      model: 'offline',
      run_count: 3,
      message_count: 6,
      created_at: at(9),
    })
    return session_id
  }

  describe('copies', () => {
    it('reads every run of a session in pages, those inside others included', async () => {
      const id = await full()
      const all = await store().readRecords(id, undefined, 100)
      expect(all.map(({ parent_run_id }) => parent_run_id === null)).toEqual([true, false, true, false, true, false])
      const paged: string[] = []
      for (let after: string | undefined; ; ) {
        const page = await store().readRecords(id, after, 4)
        paged.push(...page.map(({ run_id }) => run_id))
        after = page.at(-1)?.run_id
        if (page.length < 4) break
      }
      expect(paged).toEqual(all.map(({ run_id }) => run_id))
      expect(await store().readRecords('none', undefined, 4)).toEqual([])
    })

    it('makes the same session again of a copy', async () => {
      const id = await full()
      const before = (await store().findSession(id))?.session
      const copy = await copyOf(id)
      expect(copy.runs[0]?.events).toHaveLength(401)
      await store().deleteSession(id)
      const made = await store().restoreSession(piecesOf(copy))
      expect(made.session).toEqual(before)
      expect(await copyOf(id)).toEqual(copy)
      expect((await store().listSessions({ user_id: 'ann' }, { limit: 10 })).items).toHaveLength(1)
      expect((await store().readHistory(id, 10)).runs.map(({ status }) => status)).toEqual([
        'completed',
        'completed',
        'input_required',
      ])
    })

    it('lets the restored session go on: a new run, and the one that was paused', async () => {
      const id = await full()
      const copy = await copyOf(id)
      await store().deleteSession(id)
      await store().restoreSession(piecesOf(copy))
      const paused = copy.runs[4]?.run
      const resumed = await store().resumeRun({
        run_id: paused?.run_id ?? '',
        end_seq: paused?.end_seq ?? 0,
        owner: 'two',
        at: at(20),
        events: [],
        reserve_until: 9_000,
      })
      expect(resumed).toEqual({ outcome: 'resumed', fence: 2 })
      expect(await store().startRun(startOf({ run: { session_id: id }, session: null }))).toMatchObject({
        outcome: 'busy',
      })
      const end = endOf(paused?.run_id ?? '', { fence: 2, end_seq: 500 })
      expect(await store().finishRun(end)).toBe('ok')
      await started(store(), { run: { session_id: id }, session: null })
      expect((await store().findSession(id))?.session.run_count).toBe(4)
    })

    it('makes nothing of a copy when the session or a run is there already', async () => {
      const id = await full()
      const copy = await copyOf(id)
      await expect(store().restoreSession(piecesOf(copy))).rejects.toMatchObject({ code: 'conflict' })
      const renamed = { ...copy, session: { ...copy.session, session_id: 'other' } }
      await expect(store().restoreSession(piecesOf(renamed))).rejects.toMatchObject({ code: 'conflict' })
      expect(await store().findSession('other')).toBeUndefined()
      expect(await store().readRecords('other', undefined, 10)).toEqual([])
      expect(await copyOf(id)).toEqual(copy)
    })

    it('makes a large session step by step, and shows nothing of it before it is whole', async () => {
      const id = await full()
      const copy = await copyOf(id)
      await store().deleteSession(id)
      const text = 'words of a run '.repeat(20_000)
      const [one] = copy.runs
      if (one === undefined) throw new Error('There is no run.')
      const run = (n: number) => ({ ...one.run, run_id: `run_${n}`, messages: [messageOf(`run_${n}`, 'user', text)] })
      const seen: unknown[] = []
      async function* pieces(): AsyncGenerator<RunPiece> {
        for (let n = 0; n < 20; n++) {
          yield { run: run(n) }
          yield { run_id: `run_${n}`, events: one?.events.slice(0, 3) ?? [] }
          seen.push(
            await store().findSession(id),
            await store().findRun('run_0'),
            (await store().readEvents('run_0', 0, 10)).length,
            (await store().listRuns({ session_id: id }, { limit: 10 })).items.length,
            (await store().readHistory(id, 10)).runs.length,
            (await store().readRecords(id, undefined, 10)).length,
          )
        }
      }
      const made = await store().restoreSession({ ...copy, runs: pieces() })
      expect(new Set(seen)).toEqual(new Set([undefined, 0]))
      expect(made.session.run_count).toBe(20)
      expect(made.session.runs.map(({ run_id }) => run_id)).toEqual(Array.from({ length: 20 }, (_, n) => `run_${n}`))
      expect((await store().findRun('run_19'))?.messages[0]?.content).toBe(text)
      expect(await recorded('run_7')).toHaveLength(3)
    })

    it('keeps nothing of a copy that breaks off, and lets another one take its place', async () => {
      const id = await full()
      const copy = await copyOf(id)
      await store().deleteSession(id)
      const text = 'words of a run '.repeat(200_000)
      const [one] = copy.runs
      if (one === undefined) throw new Error('There is no run.')
      const run = { ...one.run, run_id: 'large', messages: [messageOf('large', 'user', text)] }
      async function* broken(): AsyncGenerator<RunPiece> {
        yield { run }
        yield { run: { ...run, run_id: 'second' } }
        throw new Error('the line was cut')
      }
      await expect(store().restoreSession({ ...copy, runs: broken() })).rejects.toThrow()
      expect(await store().findSession(id)).toBeUndefined()
      expect(await store().findRun('large')).toBeUndefined()
      const whole = { ...copy, runs: [{ run, events: [] }] }
      expect((await store().restoreSession(piecesOf(whole))).session.run_count).toBe(1)
      expect((await store().findRun('large'))?.messages[0]?.content).toBe(text)
    })

    it('has a large session gone at once when it is deleted, and its id free', async () => {
      const id = await full()
      const copy = await copyOf(id)
      await store().deleteSession(id)
      const text = 'words of a run '.repeat(400_000)
      const [one] = copy.runs
      if (one === undefined) throw new Error('There is no run.')
      const runs = [1, 2, 3, 4].map((n) => {
        const messages = [messageOf(`run_${n}`, 'user', text)]
        return { run: { ...one.run, run_id: `run_${n}`, messages }, events: [] }
      })
      await store().restoreSession(piecesOf({ ...copy, runs }))
      const open = await started(store(), { run: { session_id: id }, session: null })
      expect(await store().deleteSession(id)).toBe(true)
      expect(await store().deleteSession(id)).toBe(false)
      expect(await store().findSession(id)).toBeUndefined()
      for (const runId of ['run_1', 'run_4', open.runId]) {
        expect(await store().findRun(runId)).toBeUndefined()
        expect(await store().readEvents(runId, 0, 10)).toEqual([])
      }
      expect((await store().listRuns({}, { limit: 10 })).items).toEqual([])
      expect((await store().readHistory(id, 10)).runs).toEqual([])
      expect(await store().finishRun(endOf(open.runId))).toBe('missing')
      const batch = { run_id: open.runId, fence: 1, events: textEvents(open.runId, 2, ['x']), reserve_until: 2_000 }
      expect(await store().appendEvents(batch)).toBe('gone')
      const again = await started(store(), { run: { session_id: id }, session: seedOf({ session_id: id }) })
      expect((await store().findSession(id))?.session.runs.map(({ run_id }) => run_id)).toEqual([again.runId])
      expect((await store().readHistory(id, 10)).runs.map(({ run_id }) => run_id)).toEqual([again.runId])
    }, 60_000)

    it('restores a session without runs', async () => {
      await store().createSession(seedOf({ session_id: 'bare' }))
      const copy = await copyOf('bare')
      await store().deleteSession('bare')
      expect((await store().restoreSession(piecesOf(copy))).session).toMatchObject({
        session_id: 'bare',
        run_count: 0,
        runs: [],
      })
    })
  })

  describe('lists and rules by time', () => {
    it('lists what has not changed since, and prunes only what its owners had', async () => {
      for (const [n, agent_id] of ['a', 'b', 'a', 'b'].entries()) {
        await store().createSession(seedOf({ session_id: `s${n}`, agent_id, created_at: at(n) }))
      }
      await store().shareSession('s1', { agent_id: 'c' }, at(1))
      const listed = async (filter: object) =>
        (await store().listSessions(filter, { limit: 10 })).items.map(({ session_id }) => session_id)
      expect(await listed({ updated_before: at(2) })).toEqual(['s1', 's0'])
      expect(await listed({ updated_before: at(9), agent_id: 'b' })).toEqual(['s3', 's1'])
      expect(await listed({ updated_before: at(3), agent_id: 'b' })).toEqual(['s1'])
      expect(await store().prune({ olderThan: at(9), filter: { agent_id: 'a' } }, 1)).toBe(1)
      expect(await store().prune({ olderThan: at(9), filter: { agent_id: 'a' } }, 10)).toBe(1)
      expect(await store().prune({ olderThan: at(9), filter: { agent_id: 'b', user_id: 'ann' } }, 10)).toBe(0)
      expect(await listed({})).toEqual(['s3', 's1'])
    })
  })
}
