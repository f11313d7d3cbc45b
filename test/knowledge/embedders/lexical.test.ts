import { describe, expect, it } from 'vitest'
import { queryWordsOf } from '../../../src/core/text/query-words.ts'
import { trigramsOf, wordsOf } from '../../../src/core/text/terms.ts'
import { lexicalEmbedder } from '../../../src/knowledge/embedders/lexical.ts'
import { eachFeature } from '../../../src/knowledge/embedders/lexical-features.ts'

const dot = (one: Float32Array, other: Float32Array) =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)

describe('words', () => {
  it('are lower case, without accents, and identifiers give their parts', () => {
    expect(wordsOf('Crème Grüße, maxRequestSize ERR_FOO_BAR v2 HTTPServer größteZahl')).toEqual(
      'creme gruße maxrequestsize max request size err_foo_bar err foo bar v2 httpserver http server großtezahl großte zahl'.split(
        ' ',
      ),
    )
    expect(wordsOf('東京タワー')).toEqual(['東京', '京タ', 'タワ', 'ワー'])
    expect(wordsOf(' – !? ')).toEqual([])
  })

  it('of a question leave out what every question has, unless there is nothing else', () => {
    expect(queryWordsOf('What is the default port of the server?')).toEqual(['default', 'port', 'server'])
    expect(queryWordsOf('what is this')).toEqual(['what', 'is', 'this'])
    expect(trigramsOf('port')).toEqual([' po', 'por', 'ort', 'rt '])
  })
})

describe('the lexical embedder', () => {
  const embedder = lexicalEmbedder()
  const frequencies = async (words: string[], trigrams: string[]) => ({
    chunks: 100,
    words: new Map(words.map((word) => [word, word === 'common' ? 99 : 1])),
    trigrams: new Map(trigrams.map((trigram) => [trigram, ' common '.includes(trigram) ? 99 : 1])),
  })

  it('gives vectors of length 1 that do not depend on what was embedded before', async () => {
    const [first] = await embedder.embedTexts(['the harbour at night'])
    await embedder.embedTexts([
      'x'.repeat(5_000),
      'many other words '.repeat(2_000),
      Array.from({ length: 9_000 }, (_, at) => `w${at}`).join(' '),
    ])
    const [again, empty] = await embedder.embedTexts(['the harbour at night', ' … '])
    expect(again).toEqual(first)
    expect(dot(again ?? new Float32Array(), first ?? new Float32Array())).toBeCloseTo(1, 5)
    expect(empty?.every((value) => value === 0)).toBe(true)
  })

  it('counts each feature by its square root, also when it has forgotten the words of earlier texts', async () => {
    const text = `the harbour at night, harbours and ${'lantern '.repeat(3_000)} banana`
    const counts = new Map<number, number>()
    for (const word of wordsOf(text)) eachFeature(word, (hash) => counts.set(hash, (counts.get(hash) ?? 0) + 1))
    const expected = new Float64Array(1_024)
    for (const [hash, count] of counts)
      expected[hash % 1_024] = (expected[hash % 1_024] ?? 0) + Math.sqrt(count) * (hash >= 2 ** 31 ? -1 : 1)
    const length = Math.hypot(...expected)
    for (let round = 0; round < 3; round++) {
      const [vector = new Float32Array()] = await embedder.embedTexts([text])
      expect(vector.every((value, at) => Math.abs(value - (expected[at] ?? 0) / length) < 1e-5)).toBe(true)
      await embedder.embedTexts([Array.from({ length: 70_000 }, (_, at) => `v${round}${at}`).join(' ')])
    }
  })

  it('finds near spellings nearer than other words, and rare terms weightier than common ones', async () => {
    const [harbours, mountain] = await embedder.embedTexts(['harbours', 'mountain'])
    const query = await embedder.embedQuery('harbor', frequencies)
    expect(dot(query, harbours ?? query)).toBeGreaterThan(dot(query, mountain ?? query) + 0.2)
    const [rare, common] = await embedder.embedTexts(['lighthouse', 'common'])
    const both = await embedder.embedQuery('common lighthouse', frequencies)
    expect(dot(both, rare ?? both)).toBeGreaterThan(dot(both, common ?? both) + 0.5)
  })
})
