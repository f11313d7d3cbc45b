import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import { endEvent, startEvent } from '../../../src/core/event.ts'
import type { RunRecord } from '../../../src/core/run.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { searchWordsOf } from '../../../src/core/text/message-search.ts'
import { at, endOf, eventOf, seedOf, started, textEvents } from './builders.ts'

/** Every kind that can be recorded, with fragments that coalescing could get wrong. */
function mixedEvents(runId: string): RunEvent[] {
  const texts = textEvents(runId, 2, ['He', 'llo', ' 🙂', '', '\ud83d', '\ude42 "x"\n'], at(2))
  return [
    ...texts,
    eventOf(runId, 8, { type: 'reasoning_delta', text: 'hm' }),
    eventOf(runId, 9, { type: 'reasoning_delta', text: 'm' }, at(8)),
    eventOf(runId, 10, { type: 'text_delta', text: 'later' }, at(9)),
    eventOf(runId, 11, { type: 'text_delta', text: 'still' }, at(10)),
    eventOf(runId, 12, { type: 'model_call_start', call_id: 'c', model: 'm', messages: [{ role: 'user', n: [1] }] }),
    eventOf(runId, 13, { type: 'tool_call', call_id: 't', name: 'look', input: { deep: { er: null } } }),
    eventOf(runId, 14, { type: 'tool_result', call_id: 't', name: 'look', error: { message: 'no' }, duration_ms: 3 }),
    eventOf(runId, 15, { type: 'step_start', step_id: 's', name: 'one', parent_id: 'p' }),
    eventOf(runId, 17, { type: 'text_delta', text: 'gap before' }),
    eventOf(runId, 20, { type: 'text_delta', text: 'gap again' }),
  ]
}

export function testEvents(store: () => SessionStore): void {
  const append = (runId: string, events: RunEvent[], reserveUntil = 2000) =>
    store().appendEvents({ run_id: runId, fence: 1, events, reserve_until: reserveUntil })

  describe('events', () => {
    it('derives the start event of a run that goes on', async () => {
      const { runId } = await started(store())
      const run = await store().findRun(runId)
      expect(await store().readEvents(runId, 0, 10)).toEqual(run ? [startEvent(run)] : [])
      expect(await store().readEvents(runId, 1, 10)).toEqual([])
      expect(await store().readEvents('none', 0, 10)).toEqual([])
    })

    it('gives back identical events, cut exactly at every number and length', async () => {
      const { runId } = await started(store())
      const events = mixedEvents(runId)
      expect(await append(runId, events.slice(0, 4))).toBe('ok')
      expect(await append(runId, events.slice(4, 9))).toBe('ok')
      await store().finishRun(endOf(runId, { events: events.slice(9), end_seq: 25 }))
      const run = await store().findRun(runId)
      if (!run) throw new Error('the run is gone')
      const all = [startEvent(run), ...events, endEvent(run, 25)]
      for (let after = 0; after <= 26; after++) {
        const expected = all.filter((event) => event.seq > after)
        expect(await store().readEvents(runId, after, 100)).toEqual(expected)
        for (const limit of [1, 2, 5])
          expect(await store().readEvents(runId, after, limit)).toEqual(expected.slice(0, limit))
      }
    })

    it('gives back a large answer, whichever commit it came with, page by page', async () => {
      const pieces = Array.from({ length: 300 }, (_, n) => `${n} ${'x'.repeat(400)}`)
      const wholeEnd = await started(store())
      const appended = await started(store())
      const texts = (runId: string) => textEvents(runId, 2, pieces, at(2))
      await store().finishRun(endOf(wholeEnd.runId, { events: texts(wholeEnd.runId), end_seq: 400 }))
      await append(appended.runId, texts(appended.runId).slice(0, 200))
      await append(appended.runId, texts(appended.runId).slice(150, 250))
      await store().finishRun(endOf(appended.runId, { events: texts(appended.runId).slice(240), end_seq: 400 }))
      for (const { runId } of [wholeEnd, appended]) {
        const read: RunEvent[] = []
        for (let page = await store().readEvents(runId, 1, 37); page.length > 0; ) {
          read.push(...page)
          page = await store().readEvents(runId, page.at(-1)?.seq ?? 0, 37)
        }
        expect(read.slice(0, -1)).toEqual(texts(runId))
        expect(read.at(-1)).toMatchObject({ type: 'run_end', seq: 400 })
      }
    })

    it('changes nothing when the same numbers are appended again', async () => {
      const { runId } = await started(store())
      const events = mixedEvents(runId)
      await append(runId, events.slice(0, 6))
      await append(runId, events.slice(0, 6))
      await append(runId, events.slice(2, 9))
      await append(runId, events.slice(0, 3))
      await Promise.all([append(runId, events.slice(9)), append(runId, events.slice(9))])
      await store().finishRun(endOf(runId, { events: events.slice(11), end_seq: 25 }))
      expect(await store().readEvents(runId, 1, 100)).toEqual([...events, expect.objectContaining({ type: 'run_end' })])
    })

    it('never stores the events that are derived', async () => {
      const { runId } = await started(store())
      const run = await store().findRun(runId)
      if (!run) throw new Error('the run is gone')
      await append(runId, [startEvent(run), ...textEvents(runId, 2, ['x'])])
      const ended = { ...run, status: 'completed' as const }
      await store().finishRun(endOf(runId, { events: [endEvent(ended, 3)], end_seq: 3 }))
      const types = (await store().readEvents(runId, 0, 10)).map((event) => [event.seq, event.type])
      expect(types).toEqual([
        [1, 'run_start'],
        [2, 'text_delta'],
        [3, 'run_end'],
      ])
    })

    it('gives back what a newer version has added, and folds the rest when its server is gone', async () => {
      const metadata = { of: 'later' }
      const { runId, sessionId } = await started(store(), {
        run: { added: { in: ['a later version'] } } as Partial<RunRecord>,
        session: seedOf({ metadata }),
      })
      const added = [
        { type: 'thought_delta', run_id: runId, seq: 2, at: at(2), tokens: [1, 2] } as unknown as RunEvent,
        { ...eventOf(runId, 3, { type: 'text_delta', text: 'said' }), tone: 'calm' } as unknown as RunEvent,
        ...textEvents(runId, 4, [' and', ' done']),
      ]
      expect(await append(runId, added)).toBe('ok')
      const read = await store().readEvents(runId, 1, 10)
      expect(read[0]).toEqual(added[0])
      const [recovered] = (await store().recover('later', at(9))).interrupted
      expect(recovered).toMatchObject({ run_id: runId, status: 'interrupted' })
      expect((await store().findRun(runId))?.messages.map(({ content }) => content)).toEqual(['hi', 'said and done'])
      expect((await store().readHistory(sessionId, 5)).runs).toMatchObject([{ run_id: runId }])
      expect((await store().findSession(sessionId))?.session).toMatchObject({ metadata })
      const { items } = await store().searchMessages({ words: searchWordsOf('said done') }, { limit: 9 })
      expect(items).toMatchObject([{ run_id: runId }])
    })

    it('ends a failed run with run_error', async () => {
      const { runId } = await started(store())
      const error = { code: 'run_failed', message: 'broke' }
      await store().finishRun(endOf(runId, { status: 'failed', error, end_seq: 2 }))
      expect(await store().readEvents(runId, 1, 10)).toEqual([
        { type: 'run_error', run_id: runId, seq: 2, at: at(1), error },
      ])
    })

    it('accepts a batch without events to extend the reservation', async () => {
      const { runId } = await started(store())
      expect(await append(runId, [], 9000)).toBe('ok')
      expect(await append(runId, [], 3000)).toBe('ok')
      const { interrupted } = await store().recover('two', at(50))
      expect(interrupted.map((run) => run.run_id)).toEqual([runId])
      expect((await store().findRun(runId))?.end_seq).toBe(9001)
    })

    it('reads a long stream in pages', async () => {
      const { runId } = await started(store())
      const events = textEvents(
        runId,
        2,
        Array.from({ length: 3000 }, (_, n) => `w${n} `),
        at(2),
      )
      for (let n = 0; n < events.length; n += 700) await append(runId, events.slice(n, n + 700), n + 2000)
      const seen: RunEvent[] = []
      for (let after = 1; ; ) {
        const page = await store().readEvents(runId, after, 256)
        if (page.length === 0) break
        seen.push(...page)
        after = page.at(-1)?.seq ?? after
      }
      expect(seen).toEqual(events)
    })
  })
}
