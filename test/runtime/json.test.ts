import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonPieces, stringifyLarge } from '../../src/runtime/json.ts'

const joined = (value: unknown) => [...jsonPieces(value)].join('')

test('the pieces of a value are together what JSON.stringify makes of it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 8 }), async (value) => {
      expect(joined(value)).toBe(JSON.stringify(value))
      expect(await stringifyLarge(value)).toBe(JSON.stringify(value))
    }),
  )
  const odd = { a: undefined, b: [undefined, new Date(0)], c: {}, d: [], e: { f: undefined }, '"': Number.NaN }
  expect(joined(odd)).toBe(JSON.stringify(odd))
  expect(joined(undefined)).toBe('null')
  const wide = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`k${index}`, index]))
  expect(joined(wide)).toBe(JSON.stringify(wide))
})

test.each([
  ['of two bytes', 'é'],
  ['with escapes', '"\\\n'],
  ['of pairs', '🙂'],
  ['of pairs, one off', 'x', '🙂'],
  ['of halves of pairs', '\ud83d'],
  ['of halves the wrong way round', '\ude42\ud83d'],
])('a long text %s is cut where nothing is changed by it', async (_name, first, then = first) => {
  const long = { text: first + then.repeat(600_000), rest: 1 }
  const pieces = [...jsonPieces(long)]
  expect(pieces.length).toBeGreaterThan(3)
  expect(pieces.join('') === JSON.stringify(long)).toBe(true)
  expect((await stringifyLarge([long])) === JSON.stringify([long])).toBe(true)
})
