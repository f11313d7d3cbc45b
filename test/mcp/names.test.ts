import { expect, test } from 'vitest'
import { toolNames } from '../../src/mcp/names.ts'

const named = (...ids: string[]) => Object.fromEntries(toolNames(ids, 'ask_'))

test('an id of letters, digits, _ and - is a name as it is', () => {
  expect(named('docs', 'My-team_2')).toEqual({ ask_docs: 'docs', 'ask_My-team_2': 'My-team_2' })
})

test('other characters become _, and equal names get a number', () => {
  expect(named('a b', 'a.b', 'ä')).toEqual({ ask_a_b: 'a b', ask_a_b_2: 'a.b', ask__: 'ä' })
})

test('an id that is a name keeps it, whatever comes before it', () => {
  expect(named('a.b', 'a_b')).toEqual({ ask_a_b: 'a_b', ask_a_b_2: 'a.b' })
})

test('a name has at most 64 characters, its number included', () => {
  const names = Object.keys(named('x'.repeat(100), `${'x'.repeat(100)}y`))
  expect(names.map((name) => name.length)).toEqual([64, 64])
  expect(new Set(names).size).toBe(2)
})
