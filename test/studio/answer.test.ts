import { describe, expect, test } from 'vitest'
import { RunSteps } from '../../src/core/steps/steps.ts'
import type { RunEvent } from '../../src/wire/event.ts'

let seq = 1
const event = (body: Record<string, unknown>): RunEvent =>
  ({ run_id: 'run_1', seq: ++seq, at: '2026-01-01T00:00:00.000Z', ...body }) as unknown as RunEvent

function fold(events: readonly RunEvent[]): RunSteps {
  const answer = new RunSteps()
  answer.add({ ...event({ type: 'run_start', session_id: 's', entity_id: 'docs', entity_kind: 'agent' }), seq: 1 })
  for (const one of events) answer.add(one)
  return answer
}

describe('what a turn shows of its events', () => {
  test('is the text, once, however often its events come', () => {
    const events = Array.from({ length: 10_000 }, () => event({ type: 'text_delta', text: 'a ' }))
    const answer = fold([...events, ...events])
    expect(answer.parts).toEqual([{ type: 'text', text: 'a '.repeat(10_000) }])
    expect(answer.add(events[0] as RunEvent)).toBe(false)
  })

  test('begins with the first event: what comes late before it would hide what is between', () => {
    const at = (number: number) => ({ ...event({ type: 'text_delta', text: String(number) }), seq: number }) as RunEvent
    const answer = new RunSteps()
    for (const number of [41, 1, 3]) answer.receive(at(number))
    expect(answer.parts).toEqual([{ type: 'text', text: '13' }])
  })

  test('is where each source was found: in the last search that gave the passage', () => {
    const search = (chunk_id: string) => event({ type: 'retrieval', query: 'q', results: [{ chunk_id }] })
    const source = (index: number, chunk_id: string) => event({ type: 'source', index, source: 'a.md', chunk_id })
    const searches = [search('one'), search('two')]
    const answer = fold([...searches, source(1, 'two'), source(2, 'one'), source(3, 'elsewhere')])
    const own = answer.sources[2]?.seq
    expect(answer.sources.map((one) => answer.foundAt(one))).toEqual([searches[1]?.seq, searches[0]?.seq, own])
  })

  test('is what was asked and told, by call, for all at once, or over a second pause', () => {
    const ask = (call_id: string) => event({ type: 'input_required', call_id, prompt: call_id })
    const answer = fold([
      ask('a'),
      ask('b'),
      event({ type: 'run_resumed', from: 'input_required', approved: { a: true }, answers: { b: { input: 7 } } }),
      ask('c'),
      event({ type: 'run_resumed', from: 'interrupted' }),
      event({ type: 'run_resumed', from: 'input_required', approved: false, input: 'not today' }),
      ask('d'),
    ])
    expect(answer.exchanges.map(({ asked, given }) => [asked.call_id, given])).toEqual([
      ['a', { approved: true }],
      ['b', { input: 7 }],
      ['c', { approved: false, input: 'not today' }],
      ['d', undefined],
    ])
  })

  test('is the step in which it failed: the one under way, or the last that failed, or the end', () => {
    const call = event({ type: 'tool_call', call_id: 't', name: 'pay', input: {} })
    const failed = event({ type: 'tool_result', call_id: 't', name: 'pay', error: { message: 'no' } })
    const end = () => event({ type: 'run_error', error: { code: 'run_failed', message: 'no' } })
    expect(fold([call, end()]).failed?.seq).toBe(call.seq)
    expect(fold([call, failed, end()]).failed?.seq).toBe(call.seq)
    const last = end()
    expect(fold([last]).failed?.seq).toBe(last.seq)
  })
})
