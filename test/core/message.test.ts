import { expect, test } from 'vitest'
import { addToParts, type Part, promptText, textOf } from '../../src/core/message.ts'

const parts: Part[] = [
  { type: 'text', text: 'a' },
  { type: 'data', data: { n: 1 } },
  { type: 'text', text: 'b' },
]

test('text in a row becomes one part, and data stands between', () => {
  const made: Part[] = []
  for (const text of ['', 'a', 'b']) addToParts(made, { type: 'text_delta', text })
  addToParts(made, { type: 'data', data: [1] })
  addToParts(made, { type: 'reasoning_delta', text: 'never' })
  addToParts(made, { type: 'text_delta', text: 'c' })
  expect(made).toEqual([
    { type: 'text', text: 'ab' },
    { type: 'data', data: [1] },
    { type: 'text', text: 'c' },
  ])
})

test('the text of parts leaves data out, and a prompt has it as JSON', () => {
  expect([textOf(parts), textOf([]), textOf(parts.slice(0, 1))]).toEqual(['ab', '', 'a'])
  expect(promptText(parts)).toBe('a\n{"n":1}\nb')
})
