import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { wordsOf } from '../../../src/core/text/terms.ts'
import { shippedTable } from '../../../src/knowledge/embedders/static.ts'
import { createTokens } from '../../../src/knowledge/embedders/static-tokens.ts'
import { type Counted, createTextWords } from '../../../src/knowledge/words/text-words.ts'
import { createVocabulary } from '../../../src/knowledge/words/vocabulary.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const pieces = 'abcdefghijklmnopqrstuvwxyz'.split('').flatMap((letter) => [letter, `##${letter}`])
const tokens = createTokens([...pieces, 'max', 'request', 'size', '1048', '5', '76', 'é', '##é', 'ς', '##ς'])

/** How often each is there, in the order in which they first come. */
function counts<T>(all: readonly T[]): [T, number][] {
  return [...Map.groupBy(all, (each) => each)].map(([each, group]) => [each, group.length])
}

function summed({ length, numbers, counts: each }: Counted): [number, number][] {
  const sums = new Map<number, number>()
  for (let at = 0; at < length; at++) {
    const number = numbers[at] ?? -1
    sums.set(number, (sums.get(number) ?? 0) + (each[at] ?? 0))
  }
  return [...sums]
}

function reader(known = tokens) {
  const vocabulary = createVocabulary()
  const read = createTextWords(vocabulary)
  return (...texts: string[]) => {
    read.begin()
    const bytes = texts.map((text) => read.add(text))
    const written = read.take()
    const words = summed(read.words()).map(([number, count]) => [vocabulary.wordOf(number), count])
    return { bytes, written: Buffer.from(written).toString(), words, tokens: summed(read.tokens(known.of)) }
  }
}

function expected(texts: readonly string[], known = tokens) {
  const words = texts.map(wordsOf)
  return {
    bytes: words.map((each) => Buffer.byteLength(each.join(' '))),
    written: words.map((each) => each.join(' ')).join(''),
    words: counts(words.flat()),
    tokens: counts(texts.flatMap(known.of)),
  }
}

describe('the words of texts', () => {
  it.each([
    '',
    ' – ',
    'maxRequestSize HTTPServer aB Ab max_size _ __a',
    '10485760 5a76 v2Max',
    'café–au lait Größe naïve e\u0301té ﬁne Ⅷ',
    'ΟΔΟΣ aΣ Σb ΑΣ.Α K 300K İstanbul',
    'a=\u0338aB <\u03381a >\u0338 b',
    '漢字漢字 かな ไทย a漢b',
    '\ud800a \udc00B 😀x',
    `${'x'.repeat(300)} ${'Max'.repeat(30)} ${'é'.repeat(50)}`,
  ])('are those of %j, and so are its tokens', (text) => {
    expect(reader()(text)).toEqual(expected([text]))
  })

  it('are the same for texts whose parts were read before, whatever characters they are of', () => {
    const random = seededRandom()
    const signs = [...'aAbBzZ019 _-.–éÉßΣσςKİ中のа́Я𝔸😀\n\ud800\udc00=\u0338\u0301ﬁ', 'max', 'Request', 'SIZE', '  ']
    const textOf = (length: number) => Array.from({ length }, () => signs[Math.floor(random() * signs.length)]).join('')
    const read = reader()
    for (let round = 0; round < 3_000; round++) {
      const texts = [textOf(round % 7), textOf(1 + (round % 40))]
      expect(read(...texts), JSON.stringify(texts)).toEqual(expected(texts))
    }
  })

  it('are those of our own changelog, with the tokens of the shipped table', async () => {
    const { tokens: shipped } = await shippedTable()
    const text = readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8')
    expect(reader(shipped)(text)).toEqual(expected([text], shipped))
  })

  it('are given without being written for those who only count them', () => {
    const vocabulary = createVocabulary()
    const read = createTextWords(vocabulary, { writes: false })
    for (const text of ['maxSize café', 'maxSize Σ and more']) {
      read.begin()
      expect(read.add(text)).toBe(0)
      const found = summed(read.words()).map(([number, count]) => [vocabulary.wordOf(number), count])
      expect(found).toEqual(expected([text]).words)
      expect(summed(read.tokens(tokens.of))).toEqual(expected([text]).tokens)
    }
    expect(read.take()).toHaveLength(0)
  })

  it('stay right when there are so many that they are forgotten', () => {
    const vocabulary = createVocabulary()
    const read = createTextWords(vocabulary)
    const first = Array.from({ length: 1_100 }, (_, at) => `${'x'.repeat(1_000)}${at}`).join(' ')
    read.begin()
    read.add(first)
    expect(vocabulary.epoch).toBe(0)
    read.begin()
    read.add('word7 other word7')
    expect([vocabulary.epoch, summed(read.words())]).toEqual([
      1,
      [
        [0, 2],
        [1, 1],
      ],
    ])
    expect(vocabulary.wordOf(0)).toBe('word7')
  })
})
