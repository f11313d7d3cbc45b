import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { createRecordedRuns } from '../../../src/service/events/reader.ts'
import { PromptLog } from '../../../src/service/prompts/log.ts'
import { createTraces } from '../../../src/service/prompts/trace.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { endOf, eventOf, started } from '../../contract/session-store/builders.ts'

const all = 100_000
/** Many times what a page takes when nothing else runs. */
const allowedMs = 2_000
const allowedEvents = 45_000

let folder: string
let store: SessionStore

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-'))
  store = sqliteStore({ path: join(folder, 'agentserve.db') })
  await store.open()
})
afterEach(async () => {
  await store.close()
  await rm(folder, { recursive: true })
})

async function recorded(make: (seq: number, runId: string) => Promise<RunEvent> | RunEvent): Promise<string> {
  const { runId } = await started(store)
  let events: RunEvent[] = []
  for (let seq = 2; seq < all; seq++) {
    events.push(await make(seq, runId))
    if (events.length < 10_000) continue
    await store.appendEvents({ run_id: runId, fence: 1, events, reserve_until: seq + 20_000 })
    events = []
  }
  await store.finishRun(endOf(runId, { events, end_seq: all }))
  return runId
}

/** As after a start: nothing is known of earlier pages. */
async function page(runId: string, cursor?: string, call?: string) {
  const runs = createRecordedRuns(store)
  const run = await runs.head(runId)
  let read = 0
  const counting: SessionStore = {
    ...store,
    async readEvents(...request) {
      const events = await store.readEvents(...request)
      read += events.length
      return events
    },
  }
  const begunMs = performance.now()
  const trace = await createTraces(counting, runs)(run, { limit: 20, cursor, call })
  expect(performance.now() - begunMs).toBeLessThan(allowedMs)
  expect(read).toBeLessThan(allowedEvents)
  return trace
}

test('reads little for any page of a trace of 100,000 events, whatever was read before', async () => {
  const log = new PromptLog()
  const runId = await recorded(async (seq, id) => {
    const call = Math.floor(seq / 3)
    if (seq % 3 === 1) return eventOf(id, seq, { type: 'text_delta', text: `answer ${call}` })
    const call_id = `c${call}`
    const about = { duration_ms: 1, usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } }
    if (seq % 3 === 2) return eventOf(id, seq, { type: 'model_call_end', call_id, finish_reason: 'stop', ...about })
    // Ten calls follow from each other, as those of an agent do.
    const messages = Array.from({ length: (call % 10) + 1 }, (_, back) => ({
      role: 'user',
      content: `question ${call - (call % 10) + back}`,
    }))
    return eventOf(id, seq, await log.record({ type: 'model_call_start', call_id, model: 'm', messages }))
  })
  const first = await page(runId)
  expect(first.calls.map(({ text }) => text).at(-1)).toBe('answer 20')
  const deep = await page(
    runId,
    first.next_cursor?.replace(/^\d+/, String(3 * 30_005)).replace(/\d+$/, String(3 * 30_000)),
  )
  expect(deep.calls.map(({ text }) => text)).toEqual(Array.from({ length: 20 }, (_, at) => `answer ${30_006 + at}`))
  expect(deep.calls[0]?.messages).toHaveLength(7)
  expect((await page(runId, undefined, 'c30007')).calls).toEqual([deep.calls[1]])
}, 60_000)

test('reads little of a run of 100,000 events that called no model, or one at its end', async () => {
  const progress = (seq: number, id: string) => eventOf(id, seq, { type: 'data', data: { step: seq } })
  const without = await page(await recorded(progress))
  expect(without).toMatchObject({ count: 0, next_cursor: null })
  const at = all - 100
  const last = await page(
    await recorded((seq, id) => {
      if (seq === at) return eventOf(id, seq, { type: 'model_call_start', call_id: 'c', model: 'm', messages: [] })
      return seq === at + 1 ? eventOf(id, seq, { type: 'text_delta', text: 'answer' }) : progress(seq, id)
    }),
  )
  expect(last.calls).toMatchObject([{ seq: at, text: 'answer' }])
}, 60_000)

test('tells of what was found long before a call, and of its sources', async () => {
  const sought = all - 5_000
  const runId = await recorded((seq, id) => {
    if (seq === sought - 80_000) {
      const results = [{ chunk_id: 'k', document_id: 'd', source: 'a.md', score: 1 }]
      return eventOf(id, seq, { type: 'retrieval', query: 'q', results })
    }
    if (seq === sought - 40_000)
      return eventOf(id, seq, { type: 'source', index: 1, chunk_id: 'k', document_id: 'd', source: 'a.md' })
    if (seq === sought) return eventOf(id, seq, { type: 'model_call_start', call_id: 'c', model: 'm', messages: [] })
    return eventOf(id, seq, { type: 'data', data: { step: seq } })
  })
  const { calls } = await page(runId)
  expect(calls).toMatchObject([{ retrievals: [{ query: 'q', passages: [{ chunk_id: 'k', index: 1 }] }] }])
}, 60_000)
