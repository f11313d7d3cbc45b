import { expect, test } from 'vitest'
import { factsOf } from '../../src/core/steps/facts.ts'
import { RunEvents } from '../../src/studio/state/run/events.ts'
import type { RunEvent } from '../../src/wire/event.ts'

/** The facts of each step of a run with these events, 10 ms apart. */
function factsIn(...bodies: Record<string, unknown>[]): string[] {
  const events = new RunEvents()
  const start = { type: 'run_start', session_id: 'ses_1', entity_id: 'docs', entity_kind: 'agent' }
  for (const [place, body] of [start, ...bodies].entries()) {
    const at = new Date(place * 10).toISOString()
    events.add({ run_id: 'run_1', seq: place + 1, at, ...body } as unknown as RunEvent)
  }
  return events.steps.slice(1).map((step) => factsOf(step, events).join(' · '))
}

const usage = { input_tokens: 1330, output_tokens: 212, total_tokens: 1542 }
const call = (id: string) => ({ type: 'model_call_start', call_id: id, model: 'qwen' })
const called = (id: string, more: object = {}) => ({
  type: 'model_call_end',
  call_id: id,
  usage,
  finish_reason: 'stop',
  duration_ms: 10,
  ...more,
})
const tool = (id: string, input: unknown = {}) => ({ type: 'tool_call', call_id: id, name: 'refund', input })
const gave = (id: string, more: object = { output: 1 }) => ({
  type: 'tool_result',
  call_id: id,
  name: 'refund',
  duration_ms: 10,
  ...more,
})
const asks = (id: string) => ({
  type: 'input_required',
  call_id: id,
  kind: 'approval',
  tool: 'refund',
  prompt: 'Sure?',
})
const denied = { error: { message: 'not approved' }, denied: true }

test('a call tells its tokens, cost and first text, and after how many that failed it is', () => {
  const tokens = { ...usage, cached_input_tokens: 1204, reasoning_tokens: 100 }
  expect(
    factsIn(
      call('c1'),
      called('c1', { usage: null, finish_reason: 'error', refused: true }),
      call('c2'),
      called('c2', { usage: tokens, cost: { usd: 0.0041, as_of: null }, first_text_ms: 4 }),
      call('c3'),
    ),
  ).toEqual([
    'call 1 of 3 · seq 2 · error · refused by the provider · tokens not reported · 10 ms',
    'call 2 of 3 · retry 1 after a call that failed · seq 4 · stop · 1,330 in (1,204 cached) 212 out (100 reasoning) · $0.0041 · first text 4 ms · 10 ms',
    'call 3 of 3 · seq 6 · under way',
  ])
})

test('a tool tells who allowed or refused it, and that it failed with the same input before', () => {
  expect(
    factsIn(
      tool('t1'),
      gave('t1', { error: { message: 'busy' } }),
      tool('t2'),
      asks('t2'),
      { type: 'run_resumed', from: 'input_required', approved: { t2: true } },
      gave('t2'),
      tool('t3', { order: 1 }),
      asks('t3'),
      { type: 'run_resumed', from: 'input_required', answers: { t3: { approved: false } } },
      gave('t3', denied),
      tool('t4'),
      gave('t4', denied),
      tool('t5'),
      asks('t5'),
    ),
  ).toEqual([
    'tool refund · seq 2 · failed · 10 ms',
    'tool refund · seq 4 · try 2 · allowed by a person · 30 ms',
    'wait · seq 5 · allowed by a person after 10 ms',
    'tool refund · seq 8 · refused by a person · 30 ms',
    'wait · seq 9 · refused by a person after 10 ms',
    'tool refund · seq 12 · try 2 · refused by the agent’s own rules · 10 ms',
    'tool refund · seq 14 · under way · try 2 · waits for a person',
    'wait · seq 15 · waits for a person',
  ])
})

test('a search, a step and the end tell how many, what it used and why', () => {
  expect(
    factsIn(
      { type: 'retrieval', query: 'open', results: [{}, { told: false }], duration_ms: 5 },
      { type: 'step_start', step_id: 's1', name: 'plan' },
      { type: 'step_end', step_id: 's1', status: 'completed', usage, duration_ms: 10 },
      { type: 'run_end', status: 'cancelled', usage, cache_hit: false, cancellation_reason: 'enough' },
    ),
  ).toEqual([
    'search · seq 2 · 1 of 2 passages told · 5 ms',
    'step · seq 3 · completed · 1,330 in 212 out · 10 ms',
    'end · seq 5 · cancelled · enough · 1,330 in 212 out',
  ])
})
