import { describe, expect, it } from 'vitest'
import type { EmittedEvent } from '../../../src/core/event.ts'
import type { RunStart } from '../../../src/core/run-write.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, endOf, eventOf, messageOf, type StartFields, startOf, textEvents } from './builders.ts'

const refused = [{ type: 'data', data: { refused: true } }]
const unchecked = [{ type: 'data', data: { unchecked: true } }]

/** Input that guardrails have not let pass. */
export function testWithheld(store: () => SessionStore): void {
  async function start(fields: StartFields = {}): Promise<RunStart> {
    const start = { ...startOf({ text: 'my secret', ...fields }), unchecked: true }
    await store().startRun(start)
    return start
  }
  const inputOf = async (runId: string) => (await store().findRun(runId))?.messages[0]?.parts
  const find = async () =>
    (await store().searchMessages({ words: [{ word: 'secret', isBeginning: false }] }, { limit: 10 })).items

  describe('input that is not to be told', () => {
    it('is hidden until a batch says that it was checked', async () => {
      const { run, message } = await start()
      expect(await inputOf(run.run_id)).toEqual(unchecked)
      expect((await store().readHistory(run.session_id, 1)).runs[0]?.messages[0]?.parts).toEqual(unchecked)
      expect((await store().readRecords(run.session_id, undefined, 1))[0]?.messages[0]?.parts).toEqual(unchecked)
      expect(await find()).toEqual([])
      const events = textEvents(run.run_id, 2, ['a'])
      await store().appendEvents({ run_id: run.run_id, fence: 1, events, reserve_until: 1002, checked: true })
      expect((await store().findRun(run.run_id))?.messages).toEqual([message])
      expect(await find()).toHaveLength(1)
    })

    it('is hidden until the end says that it was checked, in whatever commit', async () => {
      const one = { ...startOf({ text: 'my secret' }), unchecked: true }
      const runId = one.run.run_id
      const output = [messageOf(runId, 'assistant', 'fine', at(1))]
      const both = [store().startRun(one), store().finishRun(endOf(runId, { checked: true, messages: output }))]
      await Promise.all(both)
      expect((await store().findRun(runId))?.messages).toEqual([one.message, ...output])
      const { run, message } = await start()
      await store().finishRun(endOf(run.run_id, { checked: true, status: 'input_required' }))
      expect((await store().findRun(run.run_id))?.messages).toEqual([message])
      const large = await start({ text: 'secret '.repeat(200_000) })
      expect(await inputOf(large.run.run_id)).toEqual(unchecked)
      await store().finishRun(endOf(large.run.run_id, { checked: true }))
      expect((await store().findRun(large.run.run_id))?.messages).toEqual([large.message])
    })

    it('goes with the end of a run that says so: message, events, cached answers', async () => {
      const { run } = await start()
      const runId = run.run_id
      const call: EmittedEvent = { type: 'tool_call', call_id: 'c', name: 't', input: { q: 'secret' } }
      const prompt: EmittedEvent = { type: 'model_call_start', call_id: 'm', model: 'm', messages: ['secret'] }
      const query: EmittedEvent = { type: 'retrieval', query: 'secret', results: [] }
      const piece: EmittedEvent = { type: 'tool_input_delta', call_id: 'c', name: 't', text: '{"q":"secret' }
      const first = [eventOf(runId, 2, call), ...textEvents(runId, 3, ['No', '.'])]
      await store().appendEvents({ run_id: runId, fence: 1, events: first, reserve_until: 1004 })
      await store().cacheAnswer({ key: 'k', run_id: runId, expires_at: at(86_400 * 365 * 50) })
      await find()
      const events = [eventOf(runId, 5, prompt), eventOf(runId, 6, query), eventOf(runId, 7, piece)]
      const messages = [messageOf(runId, 'assistant', 'No.', at(1))]
      expect(await store().finishRun(endOf(runId, { end_seq: 8, events, messages, refused: [runId] }))).toBe('ok')
      expect((await store().findRun(runId))?.messages).toMatchObject([
        { parts: refused, content: '{"refused":true}' },
        { content: 'No.' },
      ])
      const recorded = await store().readEvents(runId, 1, 10)
      expect(JSON.stringify(recorded)).not.toContain('secret')
      expect(recorded.map(({ type }) => type)).toEqual([
        'tool_call',
        'text_delta',
        'text_delta',
        'model_call_start',
        'retrieval',
        'tool_input_delta',
        'run_end',
      ])
      expect(await store().findCached('k')).toBeUndefined()
      expect(await find()).toEqual([])
    })

    it('goes from the runs inside it and around it too, and from no other', async () => {
      const outer = startOf({ text: 'my secret' })
      await store().startRun(outer)
      const { session_id } = outer.run
      const inside = (parent: string) => ({ run: { session_id, parent_run_id: parent }, session: null })
      const child = await start(inside(outer.run.run_id))
      const grandchild = await start(inside(child.run.run_id))
      const beside = await start(inside(outer.run.run_id))
      const other = startOf({ text: 'my secret' })
      await store().startRun(other)
      await store().finishRun(endOf(beside.run.run_id, { checked: true }))
      await store().finishRun(endOf(child.run.run_id, { refused: [child.run.run_id] }))
      expect(await inputOf(child.run.run_id)).toEqual(refused)
      expect(await inputOf(grandchild.run.run_id)).toEqual(refused)
      expect(await inputOf(outer.run.run_id)).toEqual(outer.message.parts)
      await store().finishRun(endOf(outer.run.run_id, { refused: [outer.run.run_id] }))
      expect(await inputOf(beside.run.run_id)).toEqual(refused)
      expect(await inputOf(other.run.run_id)).toEqual(other.message.parts)
      expect(await store().finishRun(endOf(other.run.run_id, { fence: 9, refused: [other.run.run_id] }))).toBe('fenced')
      expect(await inputOf(other.run.run_id)).toEqual(other.message.parts)
      expect(await find()).toMatchObject([{ run_id: other.run.run_id }])
    })

    it('leaves a run that waits for somebody what it goes on from', async () => {
      const { run } = await start()
      const asked: EmittedEvent = { type: 'input_required', call_id: 'c', prompt: 'May I?', messages: ['secret'] }
      const events = [eventOf(run.run_id, 2, asked)]
      await store().finishRun(
        endOf(run.run_id, { status: 'input_required', end_seq: 3, events, refused: [run.run_id] }),
      )
      expect((await store().readEvents(run.run_id, 1, 5))[0]).toMatchObject(asked)
      await store().finishRun(
        endOf(run.run_id, { fence: null, status: 'cancelled', end_seq: 4, refused: [run.run_id] }),
      )
      expect(JSON.stringify(await store().readEvents(run.run_id, 1, 5))).not.toContain('secret')
    })

    it('goes from what an earlier process left unchecked, and comes back with what still waits', async () => {
      const running = await start()
      const passed = await start()
      await store().appendEvents({
        run_id: passed.run.run_id,
        fence: 1,
        events: textEvents(passed.run.run_id, 2, ['a']),
        reserve_until: 1002,
        checked: true,
      })
      const waiting = await start({ run: { status: 'queued', background: true } })
      const plain = startOf({ run: { status: 'queued', background: true } })
      await store().startRun(plain)
      const { queued } = await store().recover('two', at(50))
      expect(await inputOf(running.run.run_id)).toEqual(refused)
      expect(await inputOf(passed.run.run_id)).toEqual(passed.message.parts)
      expect(queued.map(({ run, unchecked }) => [run.messages, unchecked])).toEqual([
        [[waiting.message], true],
        [[plain.message], undefined],
      ])
      expect(await inputOf(waiting.run.run_id)).toEqual(unchecked)
    })
  })
}
