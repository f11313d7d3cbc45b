import { expect, test } from 'vitest'
import { changeOf, hitsOf, messagePairs, toolPairs } from '../../src/studio/again/compare.ts'
import { RunEvents } from '../../src/studio/state/run/events.ts'
import type { RunEvent } from '../../src/wire/event.ts'

const call = (call_id: string, name: string, input: unknown) => ({ type: 'tool_call', call_id, name, input })
const result = (call_id: string, output: unknown) => ({ type: 'tool_result', call_id, output })
const events = (...all: object[]) => {
  const events = new RunEvents()
  for (const [place, event] of all.entries()) events.add({ ...event, at: '', seq: place + 1 } as unknown as RunEvent)
  return events
}

test.each([
  [10, 17, '+70 %'],
  [10, 5, '−50 %'],
  [10, 10, 'the same'],
  [1000, 1001, 'about the same'],
  [0, 5, ''],
  [undefined, 5, ''],
  ['a/small', 'a/large', 'another'],
  ['a/small', 'a/small', 'the same'],
])('from %j to %j is %j', (before, after, words) => {
  expect(changeOf(before, after)).toBe(words)
})

test('calls of the same tool with the same input are one pair, in their order', () => {
  const a = events(call('1', 'look', { at: 1 }), result('1', 'x'), call('2', 'look', { at: 1 }), result('2', 'y'))
  const b = events(call('9', 'look', { at: 1 }), result('9', 'z'), call('8', 'send', {}))
  expect(toolPairs(a, b)).toEqual([
    { name: 'look', input: '{"at":1}', before: 'x', after: 'z' },
    { name: 'look', input: '{"at":1}', before: 'y' },
    { name: 'send', input: '{}', after: 'no result' },
  ])
})

test('calls that a model gave the same id are told apart, also when one has no result', () => {
  const a = events(call('0', 'look', 1), result('0', 'x'), call('0', 'look', 2), result('0', 'y'))
  const b = events(call('0', 'look', 1), call('0', 'look', 2), result('0', 'z'))
  expect(toolPairs(a, b)).toEqual([
    { name: 'look', input: '1', before: 'x', after: 'no result' },
    { name: 'look', input: '2', before: 'y', after: 'z' },
  ])
})

test('a call that failed tells why, and a result that is no text is JSON', () => {
  const a = events(call('1', 'look', 'x'), { type: 'tool_result', call_id: '1', error: { message: 'closed' } })
  const b = events(call('1', 'look', 'x'), result('1', { open: true }))
  const [pair] = toolPairs(a, b)
  expect(pair).toEqual({ name: 'look', input: '"x"', before: 'Failed: closed', after: '{\n  "open": true\n}' })
})

test('a passage is found by its id, as the last search found it', () => {
  const found = (...hits: object[]) => ({ type: 'retrieval', results: hits })
  const { all } = events(
    found({ chunk_id: '1', rank: 1 }, { chunk_id: '2', rank: 2 }),
    found({ chunk_id: '1', rank: 3 }),
  )
  expect([...hitsOf(all)]).toEqual([
    ['1', { chunk_id: '1', rank: 3 }],
    ['2', { chunk_id: '2', rank: 2 }],
  ])
})

test('messages between those that are the same are paired by role', () => {
  const said = (role: string, content: string) => ({ role, content })
  const before = [said('system', 'Be short.'), said('user', 'When?'), said('assistant', 'Nine.'), said('user', 'Why?')]
  const after = [said('system', 'Be kind.'), said('user', 'When?'), said('tool', '{}'), said('user', 'Why?')]
  expect(messagePairs(before, after)).toEqual([
    { name: 'user', before: 'Why?', after: 'Why?' },
    { name: 'system', before: 'Be short.', after: 'Be kind.' },
    { name: 'user', before: 'When?', after: 'When?' },
    { name: 'assistant', before: 'Nine.', after: undefined },
    { name: 'tool', before: undefined, after: '{}' },
  ])
  expect(messagePairs([], [said('user', 'x')])).toEqual([{ name: 'user', before: undefined, after: 'x' }])
})

test('the same messages in another order differ', () => {
  const [when, nine] = [
    { role: 'user', content: 'When?' },
    { role: 'assistant', content: 'Nine.' },
  ]
  expect(messagePairs([when, nine], [nine, when])).toEqual([
    { name: 'assistant', before: undefined, after: 'Nine.' },
    { name: 'user', before: 'When?', after: 'When?' },
    { name: 'assistant', before: 'Nine.', after: undefined },
  ])
  expect(messagePairs([when, nine], [when, nine]).every(({ before, after }) => before === after)).toBe(true)
})
