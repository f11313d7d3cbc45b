import { expect, test } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import { createRecordedRuns } from '../../../src/service/events/reader.ts'
import { createTraces } from '../../../src/service/prompts/trace.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { endOf, eventOf, started } from '../../contract/session-store/builders.ts'

test('reads as much for a page of a trace as is in it, however long the run is', async () => {
  const store = memoryStore()
  await store.open()
  const { runId } = await started(store)
  const calls = 30_000
  const events: RunEvent[] = []
  for (let call = 0; call < calls; call++) {
    const at = 2 + 2 * call
    const messages = [{ role: 'user', content: `question ${call}` }]
    events.push(eventOf(runId, at, { type: 'model_call_start', call_id: `c${call}`, model: 'm', messages }))
    events.push(eventOf(runId, at + 1, { type: 'text_delta', text: `answer ${call}` }))
  }
  await store.finishRun(endOf(runId, { events, end_seq: 2 + 2 * calls }))
  const read: number[] = []
  const counting = {
    ...store,
    async readEvents(id: string, after: number, limit: number) {
      const page = await store.readEvents(id, after, limit)
      read.push(page.length)
      return page
    },
  }
  const recorded = createRecordedRuns(counting)
  const trace = createTraces(counting, recorded)
  const run = await recorded.head(runId)
  const seen: string[] = []
  for (let cursor: string | undefined, page = 0; page < 5; page++) {
    const { calls: shown, next_cursor } = await trace(run, { limit: 20, cursor })
    seen.push(...shown.map(({ text }) => text))
    cursor = next_cursor ?? undefined
  }
  expect(seen).toEqual(Array.from({ length: 100 }, (_, call) => `answer ${call}`))
  expect(read.length).toBe(5)
})
