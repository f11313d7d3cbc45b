import { assert, property, string, stringMatching } from 'fast-check'
import { expect, it } from 'vitest'
import { diffAnswers } from '../../../src/core/text/answer-diff.ts'

const show = (before: string, after: string) =>
  diffAnswers(before, after)
    .map(({ kind, text }) => (kind === 'same' ? text : kind === 'gone' ? `[-${text}-]` : `{+${text}+}`))
    .join('')

it.each([
  ['', 'new', '{+new+}'],
  ['gone', '', '[-gone-]'],
  ['the same', 'the same', 'the same'],
  ['port 8080.', 'port 9090.', 'port [-8080-]{+9090+}.'],
  ['a b c', 'a c', 'a [-b -]c'],
  ['one two three', 'one 2 3', 'one [-two three-]{+2 3+}'],
  ['keep b keep', 'keep keep', 'keep [-b -]keep'],
  ['first\nsecond\n', 'first\nother\n', 'first\n[-second-]{+other+}\n'],
])('marks what changed from %j to %j', (before, after, shown) => {
  expect(show(before, after)).toBe(shown)
})

it('loses nothing: what stayed and went is the earlier answer, what stayed and came the later one', () => {
  const text = stringMatching(/^(?:[ab] {0,2}|\n|ü){0,30}$/)
  assert(
    property(text, text, string(), (before, after, noise) => {
      const stretches = diffAnswers(before + noise, after)
      const without = (kind: string) =>
        stretches
          .filter((one) => one.kind !== kind)
          .map(({ text }) => text)
          .join('')
      expect(without('gone')).toBe(after)
      expect(without('new')).toBe(before + noise)
    }),
  )
})

it('compares very long answers by lines, and longer ones as a whole', () => {
  const line = (number: number) => `line ${number} with some words\n`
  const long = Array.from({ length: 1_000 }, (_, number) => line(number))
  const edited = [line(-1), ...long.slice(1, -1), line(-2)]
  expect(diffAnswers(long.join(''), edited.join('')).filter(({ kind }) => kind === 'same')).not.toEqual([])
  const [huge, other] = ['a b '.repeat(100_000), 'c d '.repeat(100_000)]
  expect(diffAnswers(huge, other).map(({ kind }) => kind)).toEqual(['gone', 'new'])
})
