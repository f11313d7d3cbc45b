import type { RunEvent, RunEventBody } from '../../../src/core/event.ts'
import { isFinalEvent } from '../../../src/core/event.ts'
import { RunFold } from '../../../src/core/events/fold.ts'
import type { Message } from '../../../src/core/message.ts'
import type { RunRecord } from '../../../src/core/run.ts'
import { toWaiting } from '../../../src/core/waiting.ts'

/* One table for the tests of every protocol: a run of each end, as it is recorded. */

export interface RecordedRun {
  name: string
  run: RunRecord
  events: readonly RunEvent[]
}

const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 }
const time = (seq: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, 0, seq)).toISOString()

/** `bodies`: what comes after its start; a number is a gap that a crash has left. */
export function recordRun(name: string, bodies: readonly (RunEventBody | number)[]): RecordedRun {
  const run_id = `run_${name.replaceAll(' ', '').padEnd(26, '0').slice(0, 26)}`
  const start: RunEventBody = { type: 'run_start', session_id: 'ses_recorded', entity_id: 'docs', entity_kind: 'agent' }
  let seq = 0
  const events: RunEvent[] = []
  for (const body of [start, ...bodies]) {
    if (typeof body === 'number') seq += body
    else {
      seq++
      events.push({ ...body, run_id, seq, at: time(seq) })
    }
  }
  return { name, events, run: recordOf(run_id, events) }
}

/** As the store has it after these events. */
function recordOf(run_id: string, events: readonly RunEvent[]): RunRecord {
  const fold = new RunFold()
  fold.addRecorded(events)
  const last = events.at(-1) as RunEvent
  const end = isFinalEvent(last) ? last : undefined
  const status = end === undefined ? 'running' : end.type === 'run_error' ? 'failed' : end.status
  const input: Message = {
    message_id: 'msg_input',
    run_id,
    role: 'user',
    parts: [{ type: 'text', text: 'Hello' }],
    content: 'Hello',
    created_at: time(1),
  }
  return {
    run_id,
    session_id: 'ses_recorded',
    parent_run_id: null,
    entity_id: 'docs',
    entity_kind: 'agent',
    status,
    created_at: time(1),
    started_at: time(1),
    completed_at: end === undefined ? null : end.at,
    cancellation_reason: end?.type === 'run_end' ? (end.cancellation_reason ?? null) : null,
    error: end?.type === 'run_error' ? end.error : null,
    cache_hit: false,
    ...fold.used(),
    waiting: status === 'input_required' ? toWaiting(fold.requests) : [],
    replaced_by: null,
    again_of: null,
    user_id: null,
    metadata: null,
    background: true,
    timeout_ms: null,
    truncated: false,
    end_seq: end === undefined ? null : end.seq,
    messages: [input, ...fold.messages(run_id, `msg_output_${run_id}`, last.at)],
    sources: fold.sources,
    given: null,
  }
}

const model = (call_id: string): RunEventBody[] => [
  { type: 'model_call_start', call_id, model: 'm', messages: [{ role: 'system', content: 'a secret prompt' }] },
]
const modelEnd = (call_id: string): RunEventBody => ({
  type: 'model_call_end',
  call_id,
  model: 'm',
  usage,
  finish_reason: 'stop',
  duration_ms: 5,
})
/** An answer in so many fragments. */
export function longRun(count: number): RecordedRun {
  return recordRun('long', [
    ...Array.from({ length: count }, (_, place) => ({ type: 'text_delta', text: `fragment ${place} ` }) as const),
    { type: 'run_end', status: 'completed', usage: null, cache_hit: false },
  ])
}

const text = (given: string): RunEventBody => ({ type: 'text_delta', text: given })
const ended = (status: RunRecord['status'], cancellation_reason?: string): RunEventBody => ({
  type: 'run_end',
  status,
  usage,
  cache_hit: false,
  ...(cancellation_reason !== undefined && { cancellation_reason }),
})

/** Text and reasoning, a tool, what was found, data, and a file elsewhere. */
const everything: (RunEventBody | number)[] = [
  ...model('c1'),
  { type: 'reasoning_delta', text: 'Let me ' },
  { type: 'reasoning_delta', text: 'think.' },
  text('I look '),
  text('it up. '),
  modelEnd('c1'),
  { type: 'tool_call', call_id: 't1', name: 'weather', input: { city: 'Ghent' } },
  { type: 'tool_result', call_id: 't1', name: 'weather', output: { degrees: 9 }, duration_ms: 2 },
  7,
  ...model('c2'),
  text('It is "9" degrees.\n\u2028 '),
  text('🙂 [1]'),
  { type: 'source', index: 1, source: 'weather.md', document_id: 'doc_1', chunk_id: 'chk_1', line_start: 3 },
  { type: 'data', data: { degrees: 9, tags: ['cold', null] } },
  text(''),
  { type: 'file', media_type: 'image/png', name: 'map.png', url: 'https://example.org/map.png' },
  text('See the map.'),
  modelEnd('c2'),
]

const mayI: RunEventBody = {
  type: 'input_required',
  call_id: 't2',
  kind: 'approval',
  tool: 'pay',
  prompt: 'May I pay?',
  data: { amount: 5 },
  messages: [{ role: 'user', content: 'a secret prompt' }],
}

export const recordedRuns: readonly RecordedRun[] = [
  recordRun('completed', [...everything, ended('completed')]),
  recordRun('empty', [ended('completed')]),
  recordRun('data only', [{ type: 'data', data: [1, 'two'] }, ended('completed')]),
  recordRun('failed', [text('Almost '), { type: 'run_error', error: { code: 'run_failed', message: 'It broke.' } }]),
  recordRun('failed at once', [{ type: 'run_error', error: { code: 'run_limit', message: 'Too many steps.' } }]),
  recordRun('cancelled', [text('Almost '), ended('cancelled', 'requested')]),
  recordRun('interrupted', [text('Almost '), 300, ended('interrupted')]),
  recordRun('waiting', [text('One moment. '), mayI, ended('input_required')]),
  recordRun('waiting for a form', [
    { type: 'input_required', kind: 'input', prompt: 'Where?', schema: { type: 'object', required: ['city'] } },
    ended('input_required'),
  ]),
  recordRun('resumed', [
    text('One moment. '),
    mayI,
    { type: 'run_resumed', from: 'input_required', approved: true, paused: { seq: 4, at: time(4) } },
    { type: 'tool_call', call_id: 't2', name: 'pay', input: { amount: 5 } },
    { type: 'tool_result', call_id: 't2', name: 'pay', output: 'paid', duration_ms: 1 },
    text('It is paid.'),
    ended('completed'),
  ]),
  recordRun('denied', [
    ...model('c1'),
    { type: 'tool_call', call_id: 't2', name: 'pay', input: { amount: 5 } },
    modelEnd('c1'),
    mayI,
    {
      type: 'run_resumed',
      from: 'input_required',
      answers: { t2: { approved: false, reason: 'Too much.' } },
      paused: { seq: 6, at: time(6) },
    },
    { type: 'tool_result', call_id: 't2', name: 'pay', error: { message: 'No.' }, denied: true, duration_ms: 1 },
    ...model('c2'),
    text('It is not paid.'),
    modelEnd('c2'),
    ended('completed'),
  ]),
  recordRun('cancelled while it waited', [
    { type: 'tool_call', call_id: 't2', name: 'pay', input: { amount: 5 } },
    mayI,
    3,
    ended('cancelled', 'superseded'),
  ]),
  recordRun('asked by a child run, and answered', [
    { ...mayI, call_id: 'run_child/t2', child_run_id: 'run_child' },
    { type: 'input_required', call_id: 'form', kind: 'input', prompt: 'Where?', schema: { type: 'object' } },
    {
      type: 'run_resumed',
      from: 'input_required',
      approved: true,
      input: { city: 'Ghent' },
      paused: { seq: 4, at: time(4) },
    },
    text('Thanks.'),
    ended('completed'),
  ]),
  recordRun('waiting for a client tool', [
    ...model('c1'),
    { type: 'tool_call', call_id: 't3', name: 'pick', input: { of: 2 } },
    modelEnd('c1'),
    { type: 'input_required', call_id: 't3', kind: 'tool', tool: 'pick', prompt: 'Pick.', data: { of: 2 } },
    ended('input_required'),
  ]),
  recordRun('tools that tell how they get on', [
    ...model('c1'),
    text('I try. '),
    { type: 'tool_input_delta', call_id: 't1', name: 'weather', text: '{"city":' },
    ...model('c2'),
    { type: 'tool_input_delta', call_id: 't4', name: 'weather', text: '{"city":' },
    { type: 'tool_input_delta', call_id: 't4', name: 'weather', text: '"Ghent"}' },
    { type: 'tool_call', call_id: 't4', name: 'weather', input: { city: 'Ghent' } },
    { type: 'tool_progress', call_id: 't4', name: 'weather', output: 'asking' },
    modelEnd('c2'),
    { type: 'tool_result', call_id: 't4', name: 'weather', error: { message: 'It is down.' }, duration_ms: 1 },
    { type: 'tool_result', call_id: 't5', name: 'unheard', output: 1, duration_ms: 1 },
    ended('completed'),
  ]),
  recordRun('answered by the next model', [
    ...model('c1'),
    { type: 'model_fallback', call_id: 'c1', from: 'm', to: 'other/m', reason: 'It answered 503.' },
    ...model('c2'),
    text('So it is.'),
    modelEnd('c2'),
    ended('completed'),
  ]),
  recordRun('answered from what was found', [
    { type: 'retrieval', query: 'q', results: [{ chunk_id: 'chk_1', source: 'docs/a.md', score: 0.9 }] },
    { type: 'source', index: 1, source: 'docs/a.md', document_id: 'd1', chunk_id: 'chk_1', line_start: 1, line_end: 9 },
    { type: 'source', index: 2, source: 'https://example.org/b', document_id: 'd2', chunk_id: 'chk_2', page: 2 },
    ...model('c1'),
    text('So it is [1].'),
    modelEnd('c1'),
    ended('completed'),
  ]),
  recordRun('asked inside a step, and answered', [
    { type: 'step_start', step_id: 's1', name: 'research' },
    { type: 'step_start', step_id: 's2', name: 'ask', parent_id: 's1', child_run_id: 'run_child' },
    { ...mayI, call_id: 'run_child/t2', child_run_id: 'run_child' },
    {
      type: 'run_resumed',
      from: 'input_required',
      answers: { 'run_child/t2': { approved: true } },
      paused: { seq: 5, at: time(5) },
    },
    { type: 'step_end', step_id: 's2', status: 'completed', output: 'found', usage, duration_ms: 3 },
    { type: 'step_end', step_id: 's1', status: 'completed', duration_ms: 4 },
    text('Done.'),
    ended('completed'),
  ]),
  recordRun('steps', [
    { type: 'step_start', step_id: 's1', name: 'research' },
    { type: 'step_start', step_id: 's2', name: 'research', parent_id: 's1', child_run_id: 'run_child' },
    { type: 'step_end', step_id: 's2', status: 'completed', output: 'found', usage, duration_ms: 3 },
    { type: 'step_end', step_id: 's1', status: 'failed', error: { message: 'no' }, state: { a: 1 }, duration_ms: 4 },
    text('Done.'),
    ended('completed'),
  ]),
]
