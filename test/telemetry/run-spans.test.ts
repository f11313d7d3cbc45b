import { describe, expect, it } from 'vitest'
import type { RunEvent, RunEventBody } from '../../src/core/event.ts'
import { type EndedRun, RunSpans } from '../../src/telemetry/run-spans.ts'

const startedMs = Date.parse('2026-01-01T00:00:00.000Z')
const at = (ms: number) => new Date(startedMs + ms).toISOString()
const ended: EndedRun = {
  run_id: 'run_1',
  session_id: 'ses_1',
  entity_id: 'helper',
  entity_kind: 'agent',
  status: 'completed',
  created_at: at(-50),
  started_at: at(0),
  completed_at: at(1_000),
  cancellation_reason: null,
  error: null,
  cache_hit: false,
}

/** Each event with the milliseconds after the start. */
function draftsOf(events: [number, RunEventBody][], run: Partial<EndedRun> = {}, withContents = false) {
  const spans = new RunSpans({ ...ended, ...run }, { firstSeq: 1, withContents, maxCharacters: 1_000 })
  for (const [place, [ms, body]] of events.entries())
    spans.add({ ...body, run_id: 'run_1', seq: place + 2, at: at(ms) } as RunEvent)
  return spans.drafts()
}

const call = (id: string, model = 'openai/gpt-5'): RunEventBody => ({ type: 'model_call_start', call_id: id, model })
const end = (id: string, more: object = {}): RunEventBody => ({
  type: 'model_call_end',
  call_id: id,
  usage: null,
  finish_reason: 'stop',
  duration_ms: 40,
  ...more,
})

describe('a model call', () => {
  it.each([
    ['openai/gpt-5', 'openai', 'gpt-5', 'client'],
    ['google/gemini-3-pro', 'gcp.gemini', 'gemini-3-pro', 'client'],
    ['amazon-bedrock/anthropic.claude', 'aws.bedrock', 'anthropic.claude', 'client'],
    ['openrouter/meta/llama', 'openrouter', 'meta/llama', 'client'],
    ['offline', 'agentserve', 'offline', 'internal'],
  ])('of %s is of the provider %s', (name, provider, model, kind) => {
    const [, chat] = draftsOf([
      [10, call('c1', name)],
      [50, end('c1')],
    ])
    expect(chat).toMatchObject({
      name: `chat ${model}`,
      kind,
      startMs: startedMs + 10,
      endMs: startedMs + 50,
      attributes: { 'gen_ai.provider.name': provider, 'gen_ai.request.model': model },
    })
  })

  it('tells its tokens in detail and the time to its first text', () => {
    const usage = {
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 120,
      cached_input_tokens: 60,
      cache_write_tokens: 10,
      reasoning_tokens: 5,
    }
    const [run, chat] = draftsOf([
      [10, call('c1')],
      [50, end('c1', { usage, first_text_ms: 15 })],
    ])
    const tokens = {
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.cache_read.input_tokens': 60,
      'gen_ai.usage.cache_write.input_tokens': 10,
      'gen_ai.usage.reasoning.output_tokens': 5,
    }
    expect(chat?.attributes).toMatchObject({ ...tokens, 'gen_ai.response.time_to_first_chunk': 0.015 })
    expect(run?.attributes).toMatchObject(tokens)
  })

  it('has failed when the provider refused it, with its words only among contents', () => {
    const events: [number, RunEventBody][] = [
      [10, call('c1')],
      [20, end('c1', { finish_reason: 'error', refused: true })],
      [20, { type: 'model_fallback', call_id: 'c1', from: 'openai/gpt-5', to: 'local', reason: 'It said: secret' }],
    ]
    expect(draftsOf(events)[1]?.failure).toEqual({ type: 'refused', message: undefined })
    expect(draftsOf(events, {}, true)[1]?.failure).toEqual({ type: 'refused', message: 'It said: secret' })
  })

  it('that was taken over from another record is no span, and its tokens count there', () => {
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    const [run, ...others] = draftsOf([
      [0, call('c1')],
      [0, end('c1', { usage, repeated: true })],
    ])
    expect(others).toEqual([])
    expect(run?.attributes).not.toHaveProperty(['gen_ai.usage.input_tokens'])
  })
})

describe('what was at work when the run ended', () => {
  const cut: [number, RunEventBody][] = [
    [10, call('c1')],
    [20, { type: 'tool_call', call_id: 't1', name: 'send', input: {} }],
    [30, { type: 'step_start', step_id: 's1', name: 'first' }],
  ]

  it('ends with it, and has failed as it has', () => {
    const error = { code: 'run_failed', message: 'no' }
    const [run, ...others] = draftsOf(cut, { status: 'failed', error })
    expect(run?.failure).toEqual({ type: 'run_failed', message: undefined })
    expect(others.map(({ name, endMs, failure }) => [name, endMs - startedMs, failure?.type])).toEqual([
      ['chat gpt-5', 1_000, 'run_failed'],
      ['execute_tool send', 1_000, 'run_failed'],
      ['step first', 1_000, 'run_failed'],
    ])
  })

  it('ends with the last event of a process that died, not when another one found it', () => {
    const drafts = draftsOf(cut, { status: 'interrupted' })
    for (const { endMs, failure } of drafts) expect([endMs, failure?.type]).toEqual([startedMs + 30, 'interrupted'])
  })

  it('has not failed when a caller cancelled the run, but has at its time limit', () => {
    const drafts = draftsOf(cut, { status: 'cancelled', cancellation_reason: 'requested' })
    expect(drafts.map(({ name, failure }) => [name, failure])).toEqual([
      ['invoke_agent helper', undefined],
      ['chat gpt-5', undefined],
      ['step first', undefined],
    ])
    const late = draftsOf(cut, { status: 'cancelled', cancellation_reason: 'timeout' })
    expect(late.map(({ failure }) => failure?.type)).toEqual(Array(4).fill('timeout'))
  })

  it('says nothing of the reason that a caller gave', () => {
    const [run] = draftsOf([], { status: 'cancelled', cancellation_reason: 'my own words' })
    expect(JSON.stringify(run)).not.toContain('my own words')
  })
})

it('a tool that was not allowed to run is no span', () => {
  const drafts = draftsOf([
    [10, { type: 'tool_call', call_id: 't1', name: 'send', input: {} }],
    [20, { type: 'tool_result', call_id: 't1', name: 'send', error: { message: 'no' }, denied: true, duration_ms: 0 }],
  ])
  expect(drafts.map(({ name }) => name)).toEqual(['invoke_agent helper'])
})

it('durations of another run or clock never reach out of the run', () => {
  const output = { output: 1, duration_ms: 99_000 }
  const [, tool] = draftsOf([[10, { type: 'tool_result', call_id: 't1', name: 'send', ...output }]])
  expect([tool?.startMs, tool?.endMs]).toEqual([startedMs, startedMs + 10])
})

it('a run of more than 1,000 spans tells the first ones, and how many it leaves out', () => {
  const calls = Array.from({ length: 1_200 }, (_, place): [number, RunEventBody][] => [
    [place, call(`c${place}`)],
    [place, end(`c${place}`, { usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } })],
  ])
  const drafts = draftsOf(calls.flat(), { completed_at: at(2_000) })
  expect(drafts).toHaveLength(1_001)
  expect(drafts[0]?.attributes).toMatchObject({ 'agentserve.spans_left_out': 200, 'gen_ai.usage.input_tokens': 1_200 })
})
