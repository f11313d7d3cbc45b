import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import type { Waiting } from '../../../src/core/run.ts'
import type { RunResume } from '../../../src/core/run-write.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, endOf, eventOf, messageOf, started, startOf, textEvents } from './builders.ts'

const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
const source = { type: 'source', index: 1, source: 'a.md', document_id: 'd', chunk_id: 'c' } as const

const waiting: Waiting[] = [{ call_id: 'c1', kind: 'approval', tool: 'wipe', prompt: 'May I?', data: { a: [1] } }]

function resumeOf(runId: string, endSeq: number, fields: Partial<RunResume> = {}): RunResume {
  const events: RunEvent[] = [
    { type: 'run_resumed', from: 'input_required', approved: true, run_id: runId, seq: endSeq + 1, at: at(20) },
  ]
  return {
    run_id: runId,
    end_seq: endSeq,
    owner: 'two',
    at: at(20),
    events,
    reserve_until: endSeq + 1000,
    ...fields,
  }
}

export function testResume(store: () => SessionStore): void {
  async function paused(fields: Parameters<typeof started>[1] = {}, endSeq = 4) {
    const run = await started(store(), fields)
    await store().finishRun(
      endOf(run.runId, {
        status: 'input_required',
        end_seq: endSeq,
        events: [
          ...textEvents(run.runId, 2, ['Half ']),
          eventOf(run.runId, 3, { type: 'input_required', call_id: 'c1', prompt: 'May I?' }),
        ],
        messages: [messageOf(run.runId, 'assistant', 'Half ')],
        sources: [source],
        waiting,
        usage,
      }),
    )
    return run
  }
  const typesOf = async (runId: string, after = 0) =>
    (await store().readEvents(runId, after, 100)).map((event) => [event.seq, event.type])

  describe('a paused run', () => {
    it('ends its stream with the pause, and frees its session', async () => {
      const { runId, sessionId } = await paused()
      expect(await store().findRun(runId)).toMatchObject({ status: 'input_required', end_seq: 4, sources: [source] })
      expect((await typesOf(runId)).at(-1)).toEqual([4, 'run_end'])
      const other = startOf({ run: { session_id: sessionId }, session: null })
      expect(await store().startRun(other)).toMatchObject({ outcome: 'started' })
    })

    it('says what it waits for wherever it is read, until it is resumed or ends', async () => {
      const one = await paused()
      const two = await paused()
      const everywhere = async ({ runId, sessionId }: { runId: string; sessionId: string }) => [
        (await store().findRun(runId))?.waiting,
        (await (store().findRunHead?.(runId) ?? store().findRun(runId)))?.waiting,
        (await store().listRuns({ session_id: sessionId }, { limit: 1 })).items[0]?.waiting,
        (await store().findSession(sessionId))?.session.runs[0]?.waiting,
        (await store().listSessions({}, { limit: 100 })).items.find(({ session_id }) => session_id === sessionId)
          ?.runs[0]?.waiting,
        (await store().readHistory(sessionId, 1)).runs[0]?.waiting,
        (await store().readRecords(sessionId, undefined, 1))[0]?.waiting,
      ]
      expect(await everywhere(one)).toEqual(Array(7).fill(waiting))
      await store().resumeRun(resumeOf(one.runId, 4))
      expect(await everywhere(one)).toEqual(Array(7).fill([]))
      await store().finishRun(endOf(one.runId, { fence: 2, end_seq: 6 }))
      expect(await everywhere(one)).toEqual(Array(7).fill([]))
      await store().finishRun(endOf(two.runId, { fence: null, end_seq: 5, status: 'cancelled' }))
      expect(await everywhere(two)).toEqual(Array(7).fill([]))
    })

    it('keeps nothing of a refused input in what it waits for', async () => {
      const { runId, sessionId } = await paused()
      const outer = await started(store(), { run: { session_id: sessionId }, session: null })
      await store().finishRun(endOf(outer.runId, { refused: [outer.runId, runId] }))
      expect((await store().findRun(runId))?.waiting).toEqual([{ ...waiting[0], data: { refused: true } }])
    })

    it('goes on under a new fence, in one stream whose numbers only grow', async () => {
      const { runId, sessionId } = await paused()
      const before = await store().findSession(sessionId)
      expect(await store().resumeRun(resumeOf(runId, 4))).toEqual({ outcome: 'resumed', fence: 2 })
      const running = await store().findRun(runId)
      expect(running).toMatchObject({ status: 'running', completed_at: null, end_seq: null, usage: null, sources: [] })
      expect(running?.messages.map((message) => message.role)).toEqual(['user'])
      expect((await store().findSession(sessionId))?.revision).toBeGreaterThan(before?.revision ?? 0)
      expect(await typesOf(runId)).toEqual([
        [1, 'run_start'],
        [2, 'text_delta'],
        [3, 'input_required'],
        [5, 'run_resumed'],
      ])
      expect(await store().finishRun(endOf(runId, { end_seq: 7 }))).toBe('fenced')
      const batch = { run_id: runId, fence: 2, events: textEvents(runId, 6, ['a whole']), reserve_until: 2000 }
      expect(await store().appendEvents(batch)).toBe('ok')
      const messages = [messageOf(runId, 'assistant', 'Half a whole')]
      expect(await store().finishRun(endOf(runId, { fence: 2, end_seq: 7, messages, usage }))).toBe('ok')
      expect(await typesOf(runId, 3)).toEqual([
        [5, 'run_resumed'],
        [6, 'text_delta'],
        [7, 'run_end'],
      ])
      expect((await store().findRun(runId))?.messages.map((message) => message.content)).toEqual(['hi', 'Half a whole'])
    })

    it('is taken up by one alone, and only at the pause that is meant', async () => {
      const { runId } = await paused()
      expect(await store().resumeRun(resumeOf(runId, 3))).toEqual({ outcome: 'moved_on' })
      const both = await Promise.all([store().resumeRun(resumeOf(runId, 4)), store().resumeRun(resumeOf(runId, 4))])
      expect(both.map(({ outcome }) => outcome).sort()).toEqual(['moved_on', 'resumed'])
      expect(await store().resumeRun(resumeOf('run_none', 4))).toEqual({ outcome: 'missing' })
    })

    it('waits while its session runs something else', async () => {
      const { runId, sessionId } = await paused()
      const before = await store().findRun(runId)
      const other = await started(store(), { run: { session_id: sessionId }, session: null })
      expect(await store().resumeRun(resumeOf(runId, 4))).toEqual({ outcome: 'busy' })
      expect(await store().findRun(runId)).toEqual(before)
      await store().finishRun(endOf(other.runId))
      expect(await store().resumeRun(resumeOf(runId, 4))).toMatchObject({ outcome: 'resumed' })
      expect((await store().startRun(startOf({ run: { session_id: sessionId }, session: null }))).outcome).toBe('busy')
    })

    it('stays paused over a restart, and once resumed is interrupted by the next', async () => {
      const { runId } = await paused()
      expect(await store().recover('two', at(50))).toEqual({ interrupted: [], queued: [] })
      await store().resumeRun(resumeOf(runId, 4))
      expect((await store().recover('three', at(60))).interrupted).toMatchObject([{ run_id: runId }])
      const run = await store().findRun(runId)
      expect(run).toMatchObject({ status: 'interrupted', end_seq: 1005 })
      expect(run?.messages.map((message) => message.content)).toEqual(['hi', 'Half '])
      expect(await store().resumeRun(resumeOf(runId, 1005))).toEqual({ outcome: 'moved_on' })
    })

    it('can be cancelled without an owner, and keeps what it said', async () => {
      const { runId } = await paused()
      const cancel = endOf(runId, { fence: null, status: 'cancelled', end_seq: 5, cancellation_reason: 'requested' })
      expect(await store().finishRun({ ...cancel, usage, sources: [source] })).toBe('ok')
      expect(await store().finishRun(cancel)).toBe('already_final')
      const run = await store().findRun(runId)
      expect(run).toMatchObject({ status: 'cancelled', end_seq: 5, usage, sources: [source] })
      expect(run?.messages.map((message) => message.content)).toEqual(['hi', 'Half '])
      const { runId: running } = await started(store())
      expect(await store().finishRun({ ...cancel, run_id: running })).toBe('fenced')
    })

    it('can be ended with megabytes', async () => {
      const { runId } = await paused()
      const text = 'word '.repeat(250_000)
      const messages = [messageOf(runId, 'assistant', text)]
      const cancel = endOf(runId, { fence: null, status: 'cancelled', end_seq: 6, messages })
      expect(await store().finishRun({ ...cancel, events: textEvents(runId, 5, [text]) })).toBe('ok')
      const run = await store().findRun(runId)
      expect(run?.messages.map((message) => message.content.length)).toEqual([2, 5, text.length])
      expect(await typesOf(runId, 3)).toEqual([
        [5, 'text_delta'],
        [6, 'run_end'],
      ])
    })
  })

  it('resumes an interrupted workflow, and nothing else that was interrupted', async () => {
    const flow = await started(store(), { run: { entity_kind: 'workflow' } })
    const agent = await started(store())
    await store().recover('two', at(50))
    expect(await store().resumeRun(resumeOf(flow.runId, 1001))).toEqual({ outcome: 'resumed', fence: 3 })
    expect(await store().findRun(flow.runId)).toMatchObject({ status: 'running', truncated: true })
    expect(await store().resumeRun(resumeOf(agent.runId, 1001))).toEqual({ outcome: 'moved_on' })
  })

  describe('a run inside another', () => {
    it('takes no turn in its session, and is no interaction of it', async () => {
      const { runId, sessionId } = await started(store())
      const child = { run: { session_id: sessionId, parent_run_id: runId }, session: null }
      const [first, second] = [await started(store(), child), await started(store(), child)]
      const record = await store().findSession(sessionId)
      expect(record?.session).toMatchObject({ run_count: 1, runs: [{ run_id: runId }] })
      expect((await store().readHistory(sessionId, 10)).runs.map((run) => run.run_id)).toEqual([runId])
      const page = await store().listRuns({ parent_run_id: runId }, { limit: 10 })
      expect(page.items.map((run) => [run.run_id, run.parent_run_id])).toEqual([
        [second.runId, runId],
        [first.runId, runId],
      ])
      expect((await store().listRuns({ session_id: sessionId }, { limit: 10 })).items).toHaveLength(3)
      await store().finishRun(endOf(runId))
      expect(await store().startRun(startOf({ run: { session_id: sessionId }, session: null }))).toMatchObject({
        outcome: 'started',
      })
      await store().deleteSession(sessionId)
      expect(await store().findRun(first.runId)).toBeUndefined()
    })
  })
}
