import { expect, test } from 'vitest'
import type { EmittedEvent, RunEvent } from '../../src/core/event.ts'
import { RunFold } from '../../src/core/events/fold.ts'

const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
const emitted: EmittedEvent[] = [
  { type: 'text_delta', text: 'Hello ' },
  { type: 'source', index: 1, source: 'a.md', document_id: 'doc_1', chunk_id: 'chk_1' },
  { type: 'text_delta', text: 'you' },
  { type: 'model_call_end', call_id: 'call_1', usage, finish_reason: 'stop', duration_ms: 1 },
  { type: 'data', data: { n: 1 } },
  { type: 'step_end', step_id: 'step_1', status: 'completed', usage, duration_ms: 1 },
]

const outputOf = (fold: RunFold) => ({
  messages: fold.messages('run_1', 'msg_1', '2026-01-01T00:00:00.000Z'),
  sources: fold.sources,
  usage: fold.usage,
})

test('recorded events fold to the same output as the live ones', () => {
  const live = new RunFold()
  for (const event of emitted) live.add(event)
  const recorded = new RunFold(1_000)
  recorded.addRecorded(
    emitted.map(
      (event, index): RunEvent => ({ ...event, run_id: 'run_1', seq: index + 2, at: '2026-01-01T00:00:00.000Z' }),
    ),
  )
  expect(outputOf(recorded)).toEqual(outputOf(live))
  expect(outputOf(live).usage).toEqual({ input_tokens: 2, output_tokens: 4, total_tokens: 6 })
  expect(outputOf(live).messages[0]?.content).toBe('Hello you')
})

test('a fold with a limit leaves out the text and data beyond it', () => {
  const fold = new RunFold(8)
  for (const event of emitted) fold.add(event)
  expect(outputOf(fold).messages[0]?.parts).toEqual([{ type: 'text', text: 'Hello ' }])
})
