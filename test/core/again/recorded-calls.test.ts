import { expect, it } from 'vitest'
import { isSameJson, recordedCalls } from '../../../src/core/again/recorded-calls.ts'
import type { RunEvent } from '../../../src/core/event.ts'
import type { Json } from '../../../src/core/json.ts'

it.each<[Json, Json, boolean]>([
  [1, 1, true],
  [1, '1', false],
  [null, null, true],
  [null, {}, false],
  [[], {}, false],
  [[1, [2]], [1, [2]], true],
  [[1], [1, null], false],
  [{ a: 1, b: { c: [true] } }, { b: { c: [true] }, a: 1 }, true],
  [{ a: null }, { b: null }, false],
  [{ a: 1 }, { a: 1, b: null }, false],
])('compares %j and %j: %s', (one, other, same) => {
  expect(isSameJson(one, other)).toBe(same)
  expect(isSameJson(other, one)).toBe(same)
})

it('pairs calls with their results, and leaves out what is not there', () => {
  const stamp = { run_id: 'run_1', seq: 2, at: '2026-01-01T00:00:00.000Z' }
  const call = (call_id: string, input: Json): RunEvent => ({ type: 'tool_call', call_id, name: 't', input, ...stamp })
  const events: RunEvent[] = [
    call('a', 1),
    call('b', 2),
    call('c', 3),
    { type: 'tool_result', call_id: 'b', name: 't', error: { message: 'no' }, duration_ms: 1, ...stamp },
    { type: 'tool_result', call_id: 'a', name: 't', output: null, duration_ms: 1, ...stamp },
  ]
  expect(recordedCalls(events)).toEqual([
    { name: 't', input: 1, output: null },
    { name: 't', input: 2, error: 'no' },
    { name: 't', input: 3 },
  ])
})
