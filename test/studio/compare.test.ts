import { expect, test } from 'vitest'
import { changeOf, messagePairs, passagePairs, toolPairs } from '../../src/studio/again/compare.ts'
import type { RunEvent } from '../../src/wire/event.ts'

const call = (call_id: string, name: string, input: unknown) => ({ type: 'tool_call', call_id, name, input })
const result = (call_id: string, output: unknown) => ({ type: 'tool_result', call_id, output })
const events = (...all: object[]) => all as unknown as RunEvent[]

test.each([
  [10, 17, '+70 %'],
  [10, 5, '−50 %'],
  [10, 10, 'the same'],
  [1000, 1001, 'about the same'],
  [0, 5, ''],
  [undefined, 5, ''],
])('from %j to %j is %j', (before, after, words) => {
  expect(changeOf(before, after)).toBe(words)
})

test('calls of the same tool with the same input are one pair, in their order', () => {
  const a = events(call('1', 'look', { at: 1 }), result('1', 'x'), call('2', 'look', { at: 1 }), result('2', 'y'))
  const b = events(call('9', 'look', { at: 1 }), result('9', 'z'), call('8', 'send', {}))
  expect(toolPairs(a, b)).toEqual([
    expect.objectContaining({ name: 'look', outputs: ['x', 'z'], called: [true, true] }),
    expect.objectContaining({ name: 'look', outputs: ['y', undefined], called: [true, false] }),
    expect.objectContaining({ name: 'send', outputs: [undefined, undefined], called: [false, true] }),
  ])
})

test('a passage that one run found stands alone', () => {
  const found = (...ids: string[]) => events({ type: 'retrieval', results: ids.map((chunk_id) => ({ chunk_id })) })
  const pairs = passagePairs(found('1', '2'), found('2', '3'))
  expect(pairs.map((pair) => pair.map((hit) => hit?.chunk_id))).toEqual([
    ['1', undefined],
    ['2', '2'],
    [undefined, '3'],
  ])
})

test('messages between those that are the same are paired by role', () => {
  const said = (role: string, content: string) => ({ role, content })
  const before = [said('system', 'Be short.'), said('user', 'When?'), said('assistant', 'Nine.'), said('user', 'Why?')]
  const after = [said('system', 'Be kind.'), said('user', 'When?'), said('tool', '{}'), said('user', 'Why?')]
  expect(messagePairs(before, after)).toEqual([
    { role: 'system', before: 'Be short.', after: 'Be kind.' },
    { role: 'user', before: 'When?', after: 'When?' },
    { role: 'assistant', before: 'Nine.', after: undefined },
    { role: 'tool', before: undefined, after: '{}' },
    { role: 'user', before: 'Why?', after: 'Why?' },
  ])
  expect(messagePairs([], [said('user', 'x')])).toEqual([{ role: 'user', before: undefined, after: 'x' }])
})
