import { describe, expect, test } from 'vitest'
import { type Step, sumCost, sumUsage } from '../../src/core/steps/step.ts'
import { RunEvents } from '../../src/studio/state/run/events.ts'
import type { RunEvent } from '../../src/wire/event.ts'

const began = Date.parse('2026-01-01T00:00:00.000Z')
const at = (ms: number) => new Date(began + ms).toISOString()
let seq = 0
const event = (ms: number, body: Record<string, unknown>): RunEvent =>
  ({ run_id: 'run_1', seq: ++seq, at: at(ms), ...body }) as unknown as RunEvent
const usage = { input_tokens: 10, output_tokens: 2, total_tokens: 12 }
const start = () => event(0, { type: 'run_start', session_id: 's', entity_id: 'docs', entity_kind: 'agent' })
const call = (ms: number, id: string) => event(ms, { type: 'model_call_start', call_id: id, model: 'm' })
const called = (ms: number, id: string, more: object = {}) =>
  event(ms, { type: 'model_call_end', call_id: id, usage, finish_reason: 'stop', duration_ms: 1, ...more })

function fold(events: readonly RunEvent[]): RunEvents {
  const run = new RunEvents()
  for (const one of events) run.add(one)
  return run
}
const shown = ({ steps }: RunEvents) =>
  steps.map(({ kind, label, depth, startMs, endMs, state }) => [kind, label, depth, startMs, endMs, state])

describe('the steps of a run', () => {
  test('are its search, calls, tools and end, each with its time', () => {
    const run = fold([
      start(),
      event(38, { type: 'retrieval', query: 'open', results: [{}, { told: false }], duration_ms: 38 }),
      call(40, 'c1'),
      event(50, { type: 'text_delta', text: 'a' }),
      called(100, 'c1', { first_text_ms: 10 }),
      event(101, { type: 'tool_call', call_id: 't1', name: 'weather', input: { city: 'Ghent' } }),
      event(150, { type: 'tool_result', call_id: 't1', name: 'weather', error: { message: 'no' }, duration_ms: 49 }),
      event(200, { type: 'run_end', status: 'completed', usage, cache_hit: false }),
    ])
    expect(shown(run)).toEqual([
      ['run', 'docs', 0, 0, 200, 'done'],
      ['search', 'open', 1, 0, 38, 'done'],
      ['model', 'm', 1, 40, 100, 'done'],
      ['tool', 'weather', 1, 101, 150, 'failed'],
      ['end', 'completed', 1, 200, 200, 'done'],
    ])
    expect(run.steps.map(({ note }) => note)).toEqual([undefined, '1', undefined, 'no', undefined])
    expect(run.steps[2]?.textMs).toBe(50)
    expect(run).toMatchObject({ status: 'completed', usage, durationMs: 200 })
    expect(run.isOver).toBe(true)
  })

  test('are two calls of a tool also when the model uses the id of one again', () => {
    const used = (input: number, output: number) => [
      event(10, { type: 'tool_call', call_id: 'call_0', name: 'add', input }),
      event(20, { type: 'tool_progress', call_id: 'call_0', output: input }),
      event(30, { type: 'tool_result', call_id: 'call_0', name: 'add', output, duration_ms: 20 }),
    ]
    const [begun, one, two] = [start(), used(1, 10), used(2, 20)]
    const run = fold([begun, ...one, ...two])
    const [first, second] = run.steps.slice(1) as [Step, Step]
    expect([run.of(first), run.of(second)]).toEqual([one, two])
    expect([first.end, second.end]).toEqual([one[2], two[2]])
    // One whose process ended before it was done.
    const cut = fold([begun, ...one.slice(0, 2), ...two])
    expect(cut.of(cut.steps[1] as Step)).toEqual(one.slice(0, 2))
    expect(cut.of(cut.steps[2] as Step)).toEqual(two)
  })

  test('that are under way have no end, and get that of a run that failed', () => {
    const events = [start(), call(10, 'c1')]
    expect(fold(events).steps[1]).toMatchObject({ endMs: undefined, state: 'running' })
    const run = fold([...events, event(30, { type: 'run_error', error: { code: 'run_failed', message: 'broken' } })])
    expect(shown(run)).toEqual([
      ['run', 'docs', 0, 0, 30, 'failed'],
      ['model', 'm', 1, 10, 30, 'failed'],
      ['end', 'broken', 1, 30, 30, 'failed'],
    ])
  })

  test('wait at a pause, and go on when it is answered', () => {
    const events = [
      start(),
      event(5, { type: 'tool_call', call_id: 't1', name: 'refund', input: {} }),
      event(10, { type: 'input_required', call_id: 't1', kind: 'approval', tool: 'refund', prompt: 'Sure?' }),
    ]
    const paused = fold([...events, event(11, { type: 'run_end', status: 'input_required', usage, cache_hit: false })])
    expect(shown(paused)).toEqual([
      ['run', 'docs', 0, 0, 11, 'waiting'],
      ['tool', 'refund', 1, 5, undefined, 'waiting'],
      ['wait', 'refund', 1, 10, undefined, 'waiting'],
    ])
    expect(paused.isOver).toBe(true)
    paused.add(event(500, { type: 'run_resumed', from: 'input_required', approved: true }))
    expect(paused.isOver).toBe(false)
    paused.add(event(510, { type: 'tool_result', call_id: 't1', name: 'refund', output: 1, duration_ms: 9 }))
    paused.add(event(520, { type: 'run_end', status: 'completed', usage, cache_hit: false }))
    expect(shown(paused)).toEqual([
      ['run', 'docs', 0, 0, 520, 'done'],
      ['tool', 'refund', 1, 5, 510, 'done'],
      ['wait', 'refund', 1, 10, 500, 'done'],
      ['end', 'completed', 1, 520, 520, 'done'],
    ])
  })

  test('end with the run when they are questions that nobody answered', () => {
    const began = start()
    const asked = event(10, { type: 'input_required', prompt: 'Which?' })
    const run = fold([began, asked, event(11, { type: 'run_end', status: 'input_required', usage, cache_hit: false })])
    run.add(event(90, { type: 'run_end', status: 'cancelled', usage, cache_hit: false }))
    expect(shown(run)).toEqual([
      ['run', 'docs', 0, 0, 90, 'cancelled'],
      ['wait', 'Which?', 1, 10, 90, 'cancelled'],
      ['end', 'cancelled', 1, 90, 90, 'cancelled'],
    ])
    expect(run.exchanges).toEqual([{ asked, given: undefined }])
  })

  test('never end before they began, though the clock went back', () => {
    const run = fold([
      start(),
      call(40, 'c1'),
      called(30, 'c1'),
      event(35, { type: 'tool_call', call_id: 't', name: 'x' }),
    ])
    expect(shown(run).slice(1)).toEqual([
      ['model', 'm', 1, 40, 40, 'done'],
      ['tool', 'x', 1, 40, undefined, 'running'],
    ])
  })

  test('inside a step are deeper, and say which run works there', () => {
    const run = fold([
      start(),
      event(1, { type: 'step_start', step_id: 's1', name: 'plan' }),
      event(2, { type: 'step_start', step_id: 's2', name: 'ask', parent_id: 's1', child_run_id: 'run_2' }),
      event(9, { type: 'step_end', step_id: 's2', status: 'completed', usage, duration_ms: 7 }),
      event(10, { type: 'step_end', step_id: 's1', status: 'failed', error: { message: 'x' }, duration_ms: 9 }),
    ])
    expect(run.steps.map(({ depth, childRunId, note }) => [depth, childRunId, note])).toEqual([
      [0, undefined, undefined],
      [1, undefined, 'x'],
      [2, 'run_2', undefined],
    ])
    expect(run.usage).toEqual(usage)
  })

  test('know how long the run waited: by the pause that is in the record, or by what came live', () => {
    const began = start()
    const asked = event(10, { type: 'input_required', call_id: 'q', kind: 'input', prompt: 'Which?' })
    const ended = event(12, { type: 'run_end', status: 'input_required', usage, cache_hit: false })
    const resumed = { type: 'run_resumed', from: 'input_required' }
    const live = fold([began, asked, ended, event(500_012, resumed)])
    const paused = { seq: ended.seq, at: at(12) }
    const recorded = fold([began, asked, event(500_012, { ...resumed, paused })])
    for (const run of [live, recorded]) {
      expect(run.pauses).toEqual([{ fromMs: 12, toMs: 500_012 }])
      expect(run).toMatchObject({ status: 'running', waitedMs: 500_000 })
      expect(run.steps[1]).toMatchObject({ kind: 'wait', endMs: 500_012, state: 'done' })
    }
  })

  test('end when the process did, not when the server was there again', () => {
    const run = fold([
      start(),
      call(10, 'c1'),
      event(50, { type: 'text_delta', text: 'a' }),
      event(3_600_000, { type: 'run_end', status: 'interrupted', usage: null, cache_hit: false }),
    ])
    expect(run.steps.map(({ kind, endMs, isCut }) => [kind, endMs, isCut])).toEqual([
      ['run', 50, true],
      ['model', 50, true],
      ['end', 50, undefined],
    ])
    run.add(event(3_600_100, { type: 'run_resumed', from: 'interrupted' }))
    expect(run.pauses).toEqual([{ fromMs: 50, toMs: 3_600_100 }])
    expect(run.root).toMatchObject({ endMs: undefined, state: 'running' })
  })

  test('go on in the same row when they begin again after a pause', () => {
    const begin = { type: 'step_start', step_id: 's1', name: 'left', child_run_id: 'run_2' }
    const run = fold([
      start(),
      event(1, begin),
      event(5, { type: 'run_end', status: 'input_required', usage, cache_hit: false }),
      event(90, { type: 'run_resumed', from: 'input_required' }),
      event(91, begin),
      event(95, { type: 'step_end', step_id: 's1', status: 'completed', duration_ms: 4 }),
    ])
    expect(shown(run).filter(([kind]) => kind === 'step')).toEqual([['step', 'left', 1, 1, 95, 'done']])
  })

  test('say what a tool has given so far, and that a call is made again', () => {
    const run = fold([
      start(),
      event(1, { type: 'tool_call', call_id: 't', name: 'read', input: {} }),
      event(2, { type: 'tool_progress', call_id: 't', name: 'read', output: { pages: 3 } }),
      call(3, 'c1'),
      called(4, 'c1', { finish_reason: 'error', usage: null }),
      event(4, { type: 'model_fallback', call_id: 'c1', from: 'a/b', to: 'c/d', reason: 'status 429: busy' }),
      call(5, 'c2'),
      called(6, 'c2'),
      call(7, 'c3'),
    ])
    expect(run.steps[1]?.progress).toBe('{"pages":3}')
    expect(run.steps.slice(2).map(({ attempt }) => attempt)).toEqual([undefined, 2, undefined])
    expect(run.steps[2]?.note).toBe('status 429: busy')
  })

  test('are inside the call by which the model of a team asked the member, and count as its own', () => {
    const run = fold([
      start(),
      event(1, { type: 'tool_call', call_id: 't', name: 'ask_left', input: {} }),
      event(2, { type: 'step_start', step_id: 's1', name: 'left', child_run_id: 'run_2' }),
      event(3, { type: 'step_end', step_id: 's1', status: 'completed', usage, duration_ms: 1 }),
      event(4, { type: 'tool_result', call_id: 't', name: 'ask_left', output: '', duration_ms: 3 }),
    ])
    expect(shown(run).slice(1)).toEqual([
      ['tool', 'ask_left', 1, 1, 4, 'done'],
      ['step', 'left', 2, 2, 3, 'done'],
    ])
    expect(run.steps[1]?.usageInside).toEqual(usage)
    expect(run.usage).toEqual(usage)
  })

  test('change with what is drawn of them, and not with text', () => {
    const run = fold([start(), call(1, 'c1')])
    const drawn = (body: Record<string, unknown>) => run.add(event(2, body))
    expect(drawn({ type: 'text_delta', text: 'the first' })).toBe(true)
    expect(drawn({ type: 'text_delta', text: 'another' })).toBe(false)
    expect(drawn({ type: 'reasoning_delta', text: 'another' })).toBe(false)
    expect(drawn({ type: 'tool_input_delta', call_id: 't', name: 'x', text: '{' })).toBe(false)
    expect(drawn({ type: 'tool_call', call_id: 't', name: 'x', input: {} })).toBe(true)
  })

  test('come once, however often an event does', () => {
    const events = [start(), call(10, 'c1'), called(20, 'c1')]
    const run = fold([...events, ...events])
    expect(run.all).toHaveLength(3)
    expect(run.usage).toEqual(usage)
  })

  test('of 10,000 events are folded in a moment, and text is no row', () => {
    const run = fold([start(), ...Array.from({ length: 10_000 }, () => event(5, { type: 'text_delta', text: 'a ' }))])
    expect(run.steps).toHaveLength(1)
  })
})

test('steps with runs inside cost no more each, however many there are', () => {
  const events = Array.from({ length: 30_000 }, (_, place) => {
    const step = { step_id: `s${place}`, name: 'look' }
    return [
      event(place, { type: 'step_start', ...step, child_run_id: `run_${place}` }),
      event(place, { type: 'step_end', ...step, status: 'completed' }),
    ]
  })
  const { user } = process.cpuUsage()
  expect(fold([start(), ...events.flat()].map((one, place) => ({ ...one, seq: place + 1 }))).steps).toHaveLength(30_001)
  expect((process.cpuUsage().user - user) / 1000).toBeLessThan(1000)
})

describe('a sum of costs', () => {
  const cost = (usd: number, more: object = {}) => ({ usd, as_of: '2026-09-23', ...more })

  test('is unknown when a part is, and local only when all are', () => {
    expect(sumCost([cost(1), cost(2)])).toEqual(cost(3))
    expect(sumCost([cost(1), null])).toBeNull()
    expect(sumCost([])).toBeNull()
    const local = { usd: 0, as_of: null, local: true as const }
    expect(sumCost([local, local])).toEqual(local)
    expect(sumCost([local, cost(1)])).toEqual(cost(1))
  })

  test('of tokens has the details that any part has', () => {
    expect(sumUsage({ ...usage, cached_input_tokens: 4 }, { ...usage, reasoning_tokens: 1 })).toEqual({
      ...{ input_tokens: 20, output_tokens: 4, total_tokens: 24 },
      cached_input_tokens: 4,
      reasoning_tokens: 1,
    })
  })
})
