import { describe, expect, it } from 'vitest'
import { fuse, placeIn, weighed, withoutUnknown } from '../../../src/service/knowledge/fuse.ts'

const ranking = (...chunks: number[]) => chunks.map((chunk, at) => ({ chunk, score: 0.9 - at / 100 }))

describe('fusing rankings', () => {
  it('puts first what is high in several lists', () => {
    const fused = fuse([
      { name: 'keyword', ranking: ranking(1, 2, 3) },
      { name: 'lexical', ranking: ranking(4, 2) },
      { name: 'static', ranking: ranking(5, 2, 1) },
    ])
    expect(fused.map(({ chunk }) => chunk).slice(0, 2)).toEqual([2, 1])
    expect(fused.map(({ chunk }) => chunk).toSorted()).toEqual([1, 2, 3, 4, 5])
    for (const { score } of fused) expect(score).toBeLessThan(1)
  })

  it('gives 1 to what is first in every list, whatever their scales', () => {
    const [first] = fuse([
      { name: 'keyword', ranking: [{ chunk: 7, score: 31.5 }] },
      { name: 'static', ranking: ranking(7) },
    ])
    expect(first).toEqual({ chunk: 7, score: 1 })
  })

  it('prefers a chunk that is far ahead in one list to one that is barely ahead in the other', () => {
    const fused = fuse([
      {
        name: 'keyword',
        ranking: [
          { chunk: 1, score: 12 },
          { chunk: 2, score: 3 },
        ],
      },
      { name: 'static', ranking: ranking(2, 1) },
    ])
    expect(fused.map(({ chunk }) => chunk)).toEqual([1, 2])
  })

  it('counts hashed words for less than the words themselves', () => {
    const order = (name: string) =>
      fuse([
        { name: 'keyword', ranking: ranking(1) },
        { name, ranking: ranking(2, 3) },
      ]).map(({ chunk }) => chunk)
    expect(order('lexical')).toEqual([1, 2, 3])
    expect(fuse([{ name: 'lexical', ranking: ranking(2, 3) }]).map(({ chunk }) => chunk)).toEqual([2, 3])
  })

  it('takes lists that are empty or without any likeness', () => {
    expect(fuse([])).toEqual([])
    const zero = [{ chunk: 4, score: 0 }]
    const fused = fuse([
      { name: 'keyword', ranking: ranking(3) },
      { name: 'static', ranking: zero },
    ])
    expect(fused).toEqual([{ chunk: 3, score: 0.5 }])
  })
})

describe('the table of tokens', () => {
  const lists = [
    { name: 'static', ranking: ranking(2) },
    { name: 'lexical', ranking: ranking(3) },
  ]
  const part = (words: [string, number][]) => withoutUnknown(lists, new Map(words)).map((list) => list.part ?? 1)

  it('counts for the share of the words that some text has, and the other lists count as before', () => {
    expect(part([['anchor', 3]])).toEqual([1, 1])
    expect(
      part([
        ['anchor', 3],
        ['wintch', 0],
      ]),
    ).toEqual([0.5, 1])
    expect(part([])).toEqual([1, 1])
  })

  it('says nothing when no word is known', () => {
    const fused = fuse(withoutUnknown(lists, new Map([['wintch', 0]])))
    expect(fused[0]).toEqual({ chunk: 3, score: 1 })
    expect(fused[1]).toEqual({ chunk: 2, score: 0 })
  })
})

describe('the weights of sources', () => {
  it('change scores and the order, and leave equals as they are', () => {
    const weights = new Map([[1, 0.5]])
    expect(weighed(ranking(1, 2, 3), weights).map(({ chunk }) => chunk)).toEqual([2, 3, 1])
    expect(weighed(ranking(1, 2), new Map())).toEqual(ranking(1, 2))
  })
})

describe('the place in a list', () => {
  it('counts from 1 and is undefined for what is not there', () => {
    const lists = [{ name: 'keyword', ranking: ranking(3, 1) }]
    expect(placeIn(lists, 'keyword', 1)).toEqual({ rank: 2, score: 0.89 })
    expect(placeIn(lists, 'keyword', 2)).toBeUndefined()
    expect(placeIn(lists, 'static', 1)).toBeUndefined()
  })
})
