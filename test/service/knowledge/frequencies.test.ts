import { expect, it } from 'vitest'
import { countedOnce } from '../../../src/service/knowledge/frequencies.ts'

const known = new Map([
  ['red', 3],
  ['blue', 2],
])

it('the parts of a search that ask for the same words side by side have them counted once', async () => {
  const asked: (readonly string[])[] = []
  const frequencies = countedOnce(async (words, trigrams) => {
    asked.push([...words, ...trigrams])
    return {
      chunks: 9,
      words: new Map(words.flatMap((word) => (known.has(word) ? [[word, known.get(word) ?? 0]] : []))),
      trigrams: new Map(trigrams.map((trigram) => [trigram, 1])),
    }
  })
  const [one, other, third] = await Promise.all([
    frequencies(['red', 'absent'], []),
    frequencies(['red', 'blue'], ['red']),
    frequencies(['absent', 'blue'], []),
  ])
  expect(asked).toEqual([['red', 'absent'], ['blue'], ['red']])
  expect(one).toEqual({ chunks: 9, words: new Map([['red', 3]]), trigrams: new Map() })
  expect(other).toEqual({ chunks: 9, words: known, trigrams: new Map([['red', 1]]) })
  expect(third).toEqual({ chunks: 9, words: new Map([['blue', 2]]), trigrams: new Map() })
  expect((await frequencies([], [])).chunks).toBe(9)
})

it('trigrams that can not be counted fail only who has asked for them', async () => {
  const frequencies = countedOnce(async (words, trigrams) => {
    if (trigrams.length > 0) throw new Error('too slow')
    return { chunks: 9, words: new Map(words.map((word) => [word, 1])), trigrams: new Map() }
  })
  const [both, words] = await Promise.allSettled([frequencies(['red'], ['red']), frequencies(['red'], [])])
  expect(both?.status).toBe('rejected')
  expect(words).toMatchObject({ value: { words: new Map([['red', 1]]) } })
})

it('a count that fails fails all who wait for it', async () => {
  const frequencies = countedOnce(() => Promise.reject(new Error('away')))
  const both = await Promise.allSettled([frequencies(['red'], []), frequencies(['red'], [])])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})
