import { describe, expect, it } from 'vitest'
import type { EmittedEvent } from '../../../src/core/event.ts'
import type { RunGiven } from '../../../src/core/run.ts'
import type { RunStart } from '../../../src/core/run-write.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, endOf, eventOf, type StartFields, seedOf, startOf } from './builders.ts'

const tools = [{ name: 'page', description: 'Reads the page.', parameters: { type: 'object' } }]
const outputSchema = { type: 'object', properties: { city: { type: 'string' } } }
const given: RunGiven = {
  client_tools: tools,
  history: [
    { role: 'user', parts: [{ type: 'text', text: 'I live in Bern.' }] },
    { role: 'assistant', parts: [{ type: 'data', data: { noted: true } }] },
  ],
  instructions: 'Answer in French.',
  output_schema: outputSchema,
}

/** What a caller gave a run besides its input. */
export function testGiven(store: () => SessionStore): void {
  async function start({ run, ...fields }: StartFields = {}, unchecked?: boolean): Promise<RunStart> {
    const start = { ...startOf({ ...fields, run: { given: structuredClone(given), ...run } }), unchecked }
    await store().startRun(start)
    return start
  }
  const givenOf = async (runId: string) => (await store().findRun(runId))?.given

  describe('what a caller gave a run', () => {
    it('is in its record until it is deleted, and in no list or history', async () => {
      const { run } = await start()
      const { session_id: sessionId, run_id: runId } = run
      expect(await givenOf(runId)).toEqual(given)
      await store().finishRun(endOf(runId))
      expect(await givenOf(runId)).toEqual(given)
      expect((await store().readRecords(sessionId, undefined, 9)).map((record) => record.given)).toEqual([given])
      const next = startOf({ run: { session_id: sessionId }, session: null })
      await store().startRun(next)
      const shown = [
        ...(await store().readHistory(sessionId, 1, { before: next.run.run_id })).runs,
        ...(await store().readHistory(sessionId, 5)).runs,
        ...(await store().listRuns({ session_id: sessionId }, { limit: 9 })).items,
        ...((await store().findSession(sessionId))?.session.runs ?? []),
      ]
      expect(shown).toHaveLength(7)
      expect(JSON.stringify(shown)).not.toMatch(/Bern|French|city/)
      expect((await store().readHistory(sessionId, 5)).runs.map((record) => record.given)).toEqual([null, null])
      expect(await givenOf(next.run.run_id)).toBeNull()
      await store().deleteSession(sessionId)
      expect(await givenOf(runId)).toBeUndefined()
    })

    it('is kept whatever its size, and does not make the history larger', async () => {
      const large = { history: [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'x'.repeat(3e6) }] }] }
      const { run } = await start({ run: { given: large } })
      await store().finishRun(endOf(run.run_id))
      expect(await givenOf(run.run_id)).toEqual(large)
      const { runs } = await store().readHistory(run.session_id, 5)
      expect(JSON.stringify(runs).length).toBeLessThan(2_000)
      expect((await store().readRecords(run.session_id, undefined, 5))[0]?.given).toEqual(large)
    })

    it('stays as it was when the caller changes the object afterwards', async () => {
      const own = structuredClone(given)
      const { run } = await start({ run: { given: own } })
      const read = await store().findRun(run.run_id)
      try {
        own.instructions = 'changed'
        if (read?.given) read.given.instructions = 'changed too'
      } catch {
        // A cached store freezes it.
      }
      expect(await givenOf(run.run_id)).toEqual(given)
    })

    it('comes back with a resumption, and with a run that waited for the next process', async () => {
      const { run } = await start()
      await store().finishRun(endOf(run.run_id, { status: 'input_required' }))
      const resume = { run_id: run.run_id, end_seq: 2, owner: 'one', at: at(2), events: [], reserve_until: 1002 }
      expect((await store().resumeRun(resume)).outcome).toBe('resumed')
      expect(await givenOf(run.run_id)).toEqual(given)
      const plain = await start({ run: { status: 'queued', background: true } })
      const unchecked = await start({ run: { status: 'queued', background: true } }, true)
      const { queued } = await store().recover('two', at(50))
      expect(queued.map((handed) => [handed.run.run_id, handed.run.given])).toEqual([
        [plain.run.run_id, given],
        [unchecked.run.run_id, given],
      ])
      expect(await givenOf(run.run_id)).toEqual(given)
      expect(await givenOf(unchecked.run.run_id)).toBeNull()
    })

    it('is hidden until the input is checked', async () => {
      const { run } = await start({}, true)
      expect(await givenOf(run.run_id)).toBeNull()
      expect((await store().readRecords(run.session_id, undefined, 9))[0]?.given).toBeNull()
      await store().finishRun(endOf(run.run_id, { checked: true }))
      expect(await givenOf(run.run_id)).toEqual(given)
    })

    it('goes with a refused input, of this run and of those around it', async () => {
      const outer = await start()
      const parent = { session_id: outer.run.session_id, parent_run_id: outer.run.run_id }
      const inner = await start({ run: parent, session: null }, true)
      await store().finishRun(endOf(inner.run.run_id, { refused: [inner.run.run_id, outer.run.run_id] }))
      expect(await givenOf(inner.run.run_id)).toBeNull()
      // It goes on with what it needs.
      expect(await givenOf(outer.run.run_id)).toEqual({ client_tools: tools, output_schema: outputSchema })
      await store().finishRun(endOf(outer.run.run_id, { refused: [outer.run.run_id] }))
      expect(await givenOf(outer.run.run_id)).toBeNull()
      const told = await start({ run: { given: { history: given.history } } })
      await store().finishRun(endOf(told.run.run_id, { status: 'input_required', refused: [told.run.run_id] }))
      expect(await givenOf(told.run.run_id)).toBeNull()
    })

    it('goes with the files of its history when the input is refused', async () => {
      const plain = startOf({})
      const { session_id, run_id } = plain.run
      const about = { session_id, run_id, media_type: 'text/plain', name: null, url: null }
      const saved = await store().saveFile({ ...about, bytes: Buffer.from('a walrus') })
      const made = await store().saveFile({ ...about, bytes: Buffer.from('an answer') })
      const parts = [{ type: 'file' as const, media_type: 'text/plain', ...saved }]
      await store().startRun({ ...plain, run: { ...plain.run, given: { history: [{ role: 'user', parts }] } } })
      expect(await store().findFile(session_id, saved.file_id)).toMatchObject({ run_id })
      await store().finishRun(endOf(run_id, { refused: [run_id] }))
      expect(await store().findFile(session_id, saved.file_id)).toBeUndefined()
      expect(await store().findFile(session_id, made.file_id)).toMatchObject({ run_id })
    })

    it('goes with the input that a crash left unchecked', async () => {
      const { run } = await start({}, true)
      const call: EmittedEvent = { type: 'tool_call', call_id: 'c', name: 't', input: {} }
      const events = [eventOf(run.run_id, 2, call)]
      await store().appendEvents({ run_id: run.run_id, fence: 1, events, reserve_until: 1002 })
      await store().recover('two', at(50))
      expect(await givenOf(run.run_id)).toBeNull()
      expect((await store().readRecords(run.session_id, undefined, 9))[0]?.given).toBeNull()
    })

    it('goes with what an erased user said', async () => {
      await store().createSession(seedOf({ session_id: 'shared', user_id: 'bob' }))
      const { run } = await start({ run: { session_id: 'shared', user_id: 'ann' }, session: null })
      await store().finishRun(endOf(run.run_id))
      while ((await store().eraseUser('ann', 2)) > 0);
      expect(await givenOf(run.run_id)).toBeNull()
    })

    it('is part of a copy', async () => {
      const { run } = await start()
      await store().finishRun(endOf(run.run_id))
      const found = await store().findSession(run.session_id)
      if (found === undefined) throw new Error('The session is missing.')
      const records = await store().readRecords(run.session_id, undefined, 9)
      await store().deleteSession(run.session_id)
      const { runs: _runs, run_count: _count, summary, ...session } = found.session
      async function* runs() {
        for (const record of records) yield { run: record }
      }
      await store().restoreSession({ session, summary, runs: runs() })
      expect(await givenOf(run.run_id)).toEqual(given)
    })
  })
}
