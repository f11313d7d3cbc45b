import { describe, expect, it } from 'vitest'
import type { RunStatus } from '../../../src/core/run.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { allPages, at, claimOf, endOf, eventOf, messageOf, seedOf, started, startOf, textEvents } from './builders.ts'

export function testRuns(store: () => SessionStore): void {
  const end = (runId: string, fields?: Parameters<typeof endOf>[1]) => store().finishRun(endOf(runId, fields))

  describe('runs', () => {
    it('starts a run with its session and message, and finds it as it was put in', async () => {
      const start = startOf({
        session: seedOf({ session_id: 's1', agent_id: 'echo', state: { kept: 1, changed: 1 } }),
        run: { metadata: { trace: 'x' }, user_id: 'u', timeout_ms: 5000 },
        state: { changed: { to: 2 } },
      })
      expect(await store().startRun(start)).toMatchObject({ outcome: 'started', fence: 1, created_session: true })
      expect(await store().findRun(start.run.run_id)).toEqual(start.run)
      const record = await store().findSession('s1')
      expect(record?.session).toMatchObject({ agent_id: 'echo', run_count: 1, state: { kept: 1, changed: { to: 2 } } })
      expect(record?.session.runs).toEqual([
        {
          run_id: start.run.run_id,
          session_id: 's1',
          parent_run_id: null,
          entity_id: 'echo',
          entity_kind: 'agent',
          status: 'running',
          created_at: at(0),
          started_at: at(0),
          completed_at: null,
          cancellation_reason: null,
          error: null,
          cache_hit: false,
          usage: null,
          waiting: [],
          replaced_by: null,
          again_of: null,
        },
      ])
    })

    it('runs in a session that exists, with or without a seed, and keeps what the session says', async () => {
      await store().createSession(seedOf({ session_id: 's', name: 'mine', state: { a: 1 } }))
      const first = await started(store(), { run: { session_id: 's', created_at: at(1) }, session: null })
      await end(first.runId, { completed_at: at(2) })
      const second = startOf({ session: seedOf({ session_id: 's', name: 'other' }), run: { created_at: at(3) } })
      expect(await store().startRun(second)).toMatchObject({ outcome: 'started', fence: 1, created_session: false })
      const record = await store().findSession('s')
      expect(record?.session).toMatchObject({ name: 'mine', state: { a: 1 }, run_count: 2, updated_at: at(3) })
      expect(record?.session.runs.map((run) => run.run_id)).toEqual([first.runId, second.run.run_id])
    })

    it('starts nothing in a session that is missing, and writes nothing', async () => {
      const start = startOf({ run: { session_id: 'none' }, session: null, claim: claimOf('k') })
      expect(await store().startRun(start)).toEqual({ outcome: 'session_missing' })
      expect(await store().findRun(start.run.run_id)).toBeUndefined()
      expect(await store().findSession('none')).toBeUndefined()
      expect(await store().findClaim('k')).toBeUndefined()
    })

    it('has one running run per session at most', async () => {
      const { sessionId, runId } = await started(store())
      const other = startOf({ run: { session_id: sessionId }, session: null })
      expect(await store().startRun(other)).toEqual({ outcome: 'busy' })
      expect(await store().findRun(other.run.run_id)).toBeUndefined()
      expect((await store().findSession(sessionId))?.session.run_count).toBe(1)
      await end(runId)
      expect((await store().startRun(other)).outcome).toBe('started')
    })

    it('lets one of many starts at once into a session', async () => {
      await store().createSession(seedOf({ session_id: 's' }))
      const results = await Promise.all(
        Array.from({ length: 20 }, () => store().startRun(startOf({ run: { session_id: 's' }, session: null }))),
      )
      expect(results.map((result) => result.outcome).sort()).toEqual([...Array(19).fill('busy'), 'started'])
      expect((await store().findSession('s'))?.session.run_count).toBe(1)
    })

    it('queues any number of runs behind one, and begins them one at a time', async () => {
      const { sessionId, runId } = await started(store(), { session: seedOf({ session_id: 's', state: { a: 1 } }) })
      const queued = startOf({ run: { session_id: sessionId, status: 'queued' }, session: null, state: { b: 2 } })
      expect(await store().startRun(queued)).toMatchObject({ outcome: 'queued', fence: 1, created_session: false })
      expect((await store().findSession('s'))?.session.state).toEqual({ a: 1 })
      expect(await store().beginRun(queued.run.run_id, 1, at(5))).toBe('wait')
      await end(runId)
      expect(await store().beginRun(queued.run.run_id, 2, at(5))).toBe('gone')
      expect(await store().beginRun(queued.run.run_id, 1, at(5))).toBe('begun')
      expect(await store().beginRun(queued.run.run_id, 1, at(6))).toBe('gone')
      expect(await store().findRun(queued.run.run_id)).toMatchObject({ status: 'running', started_at: at(5) })
      expect((await store().findSession('s'))?.session).toMatchObject({ state: { a: 1, b: 2 }, updated_at: at(5) })
      expect(await store().beginRun('none', 1, at(5))).toBe('gone')
    })

    it('records everything that an end says', async () => {
      const { runId, sessionId } = await started(store(), { session: seedOf({ session_id: 's', state: { a: 1 } }) })
      const before = await store().findSession(sessionId)
      const source = { type: 'source', index: 1, source: 'README.md', document_id: 'd', chunk_id: 'c' } as const
      const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
      const reply = messageOf(runId, 'assistant', 'there', at(1))
      const outcome = await end(runId, {
        status: 'failed',
        error: { code: 'run_failed', message: 'broke' },
        cancellation_reason: 'own words',
        cache_hit: true,
        usage,
        end_seq: 9,
        messages: [reply],
        sources: [source],
        state: { b: [2] },
      })
      expect(outcome).toBe('ok')
      const run = await store().findRun(runId)
      expect(run).toMatchObject({
        status: 'failed',
        completed_at: at(1),
        error: { code: 'run_failed', message: 'broke' },
        cancellation_reason: 'own words',
        cache_hit: true,
        usage,
        end_seq: 9,
        truncated: false,
        sources: [source],
      })
      expect(run?.messages.map((message) => message.content)).toEqual(['hi', 'there'])
      expect(run?.messages[1]).toEqual(reply)
      const after = await store().findSession(sessionId)
      expect(after?.session).toMatchObject({ state: { b: [2] }, updated_at: at(1) })
      expect(after?.revision).toBeGreaterThan(before?.revision ?? 0)
    })

    it('keeps the state when an end says nothing of it, and clears it with null', async () => {
      const first = await started(store(), { session: seedOf({ session_id: 's', state: { a: 1 } }) })
      await end(first.runId)
      expect((await store().findSession('s'))?.session.state).toEqual({ a: 1 })
      const second = await started(store(), { run: { session_id: 's' }, session: null })
      await end(second.runId, { state: null })
      expect((await store().findSession('s'))?.session.state).toBeNull()
    })

    it('never changes a final status, whatever the fence', async () => {
      for (const status of ['completed', 'failed', 'cancelled'] as const) {
        const { runId } = await started(store())
        expect(await end(runId, { status })).toBe('ok')
        const before = await store().findRun(runId)
        expect(await end(runId, { status: 'completed', messages: [messageOf(runId, 'assistant', 'late')] })).toBe(
          'already_final',
        )
        expect(await end(runId, { status: 'interrupted', fence: 9 })).toBe('already_final')
        expect(await store().appendEvents({ run_id: runId, fence: 1, events: [], reserve_until: 5000 })).toBe('gone')
        expect(await store().findRun(runId)).toEqual(before)
      }
    })

    it('may end what waits for input', async () => {
      const { runId } = await started(store())
      expect(await end(runId, { status: 'input_required' })).toBe('ok')
      expect(await end(runId, { status: 'cancelled', end_seq: 5 })).toBe('ok')
      expect(await store().findRun(runId)).toMatchObject({ status: 'cancelled', end_seq: 5 })
    })

    it('writes nothing under another fence', async () => {
      const { runId } = await started(store())
      const before = await store().findRun(runId)
      expect(await end(runId, { fence: 2 })).toBe('fenced')
      const batch = { run_id: runId, fence: 2, events: textEvents(runId, 2, ['x']), reserve_until: 5000 }
      expect(await store().appendEvents(batch)).toBe('fenced')
      expect(await store().findRun(runId)).toEqual(before)
      expect(await store().readEvents(runId, 1, 10)).toEqual([])
    })

    it('writes nothing for the end of a run that is not there', async () => {
      expect(await end('none', { messages: [messageOf('none', 'assistant', 'x')] })).toBe('missing')
      expect(await store().appendEvents({ run_id: 'none', fence: 1, events: [], reserve_until: 1 })).toBe('gone')
      expect(await store().findRun('none')).toBeUndefined()
    })

    it('ends a queued run', async () => {
      const { runId } = await started(store(), { run: { status: 'queued' } })
      expect(await end(runId, { status: 'cancelled', cancellation_reason: 'requested' })).toBe('ok')
      expect(await store().beginRun(runId, 1, at(3))).toBe('gone')
      expect(await store().findRun(runId)).toMatchObject({ status: 'cancelled', started_at: null })
    })

    it('takes a start and its end at once', async () => {
      const start = startOf({ session: seedOf({ session_id: 's', state: { a: 1 } }), state: { b: 2 } })
      const runId = start.run.run_id
      const results = await Promise.all([
        store().startRun(start),
        end(runId, { events: textEvents(runId, 2, ['x']), end_seq: 3, messages: [messageOf(runId, 'assistant', 'x')] }),
      ])
      expect(results).toMatchObject([{ outcome: 'started', fence: 1, created_session: true }, 'ok'])
      expect(await store().findRun(runId)).toMatchObject({ status: 'completed', end_seq: 3 })
      expect((await store().readEvents(runId, 0, 10)).map((event) => event.type)).toEqual([
        'run_start',
        'text_delta',
        'run_end',
      ])
      expect((await store().findSession('s'))?.session).toMatchObject({ run_count: 1, state: { a: 1, b: 2 } })
    })

    it('takes megabytes as they are, beside what is small', async () => {
      const text = 'é"\\\n🙂 '.repeat(200_000)
      const data = { list: Array.from({ length: 60_000 }, (_, index) => ({ index, 'a key': `${index}` })) }
      const large = startOf({ text })
      large.run.messages[0]?.parts.push({ type: 'data', data })
      const { run_id: runId } = large.run
      const output = messageOf(runId, 'assistant', text)
      const events = [eventOf(runId, 2, { type: 'text_delta', text }), eventOf(runId, 3, { type: 'data', data })]
      const small = startOf({})
      const results = await Promise.all([
        store().startRun(small),
        store().startRun(large),
        store().finishRun(endOf(runId, { events, messages: [output], end_seq: 4 })),
        store().finishRun(endOf(small.run.run_id)),
      ])
      expect(results).toMatchObject([{ outcome: 'started' }, { outcome: 'started' }, 'ok', 'ok'])
      const kept = await store().findRun(runId)
      expect(kept?.messages).toEqual([...large.run.messages, output])
      expect((await store().readEvents(runId, 1, 10)).slice(0, -1)).toEqual(events)
      expect(await store().finishRun(endOf(runId, { messages: [output] }))).toBe('already_final')
    })

    it('gives the end of a refused start nothing to write to', async () => {
      const { sessionId } = await started(store())
      const start = startOf({ run: { session_id: sessionId }, session: null })
      const results = await Promise.all([store().startRun(start), end(start.run.run_id)])
      expect(results).toEqual([{ outcome: 'busy' }, 'missing'])
    })

    it('says whose the claim is, and starts nothing for it again', async () => {
      const { runId } = await started(store(), { claim: claimOf('k') })
      const again = startOf({ claim: claimOf('k') })
      expect(await store().startRun(again)).toEqual({
        outcome: 'claimed',
        claim: { key: 'k', hash: 'hash of k', run_id: runId, answer: null },
      })
      expect(await store().findRun(again.run.run_id)).toBeUndefined()
      expect(await store().findSession(again.run.session_id)).toBeUndefined()
    })

    it('starts one of many with the same claim at once', async () => {
      const starts = Array.from({ length: 10 }, () => startOf({ claim: claimOf('k') }))
      const results = await Promise.all(starts.map((start) => store().startRun(start)))
      const winner = starts[results.findIndex((result) => result.outcome === 'started')]?.run.run_id
      expect(results.filter((result) => result.outcome === 'started')).toHaveLength(1)
      for (const result of results) {
        if (result.outcome !== 'started')
          expect(result).toMatchObject({ outcome: 'claimed', claim: { run_id: winner } })
      }
    })

    it('lists runs newest first, filtered and paged', async () => {
      const runs: { runId: string; sessionId: string }[] = []
      for (let n = 0; n < 13; n++) {
        const run = {
          created_at: at(Math.floor(n / 4)),
          entity_id: n % 2 ? 'odd' : 'even',
          user_id: n % 3 ? null : 'u',
        }
        runs.push(await started(store(), { run }))
      }
      await end(runs[0]?.runId ?? '')
      const pages = await allPages((cursor) => store().listRuns({}, { limit: 5, cursor }))
      expect(pages.map((page) => page.length)).toEqual([5, 5, 3])
      expect(new Set(pages.flat().map((run) => run.run_id))).toEqual(new Set(runs.map((run) => run.runId)))
      const times = pages.flat().map((run) => run.created_at)
      expect(times).toEqual(times.toSorted().reverse())
      const count = async (filter: Parameters<SessionStore['listRuns']>[0]) =>
        (await store().listRuns(filter, { limit: 100 })).items.length
      expect(await count({ agent_id: 'odd' })).toBe(6)
      expect(await count({ user_id: 'u' })).toBe(5)
      expect(await count({ status: 'completed' })).toBe(1)
      expect(await count({ status: 'running' })).toBe(12)
      expect(await count({ status: 'running', agent_id: 'even', user_id: 'u' })).toBe(2)
      expect(await count({ session_id: runs[3]?.sessionId })).toBe(1)
      expect(await count({ status: "x' OR 1=1" as RunStatus })).toBe(0)
      expect(await count({ agent_id: 'nobody' })).toBe(0)
      const filtered = await allPages((cursor) => store().listRuns({ agent_id: 'even' }, { limit: 3, cursor }))
      expect(filtered.map((page) => page.length)).toEqual([3, 3, 1])
    })
  })
}
