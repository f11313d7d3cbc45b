import { describe, expect, it } from 'vitest'
import { fuse, placeIn } from '../../../src/service/knowledge/fuse.ts'

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

  it('gives 1 to what is first in every list', () => {
    const [first] = fuse([
      { name: 'keyword', ranking: ranking(7, 8), weight: 2 },
      { name: 'static', ranking: ranking(7) },
    ])
    expect(first).toEqual({ chunk: 7, score: 1 })
  })

  it('follows the weights of the lists, and only their ratio', () => {
    const order = (keyword: number, vector: number) =>
      fuse([
        { name: 'keyword', ranking: ranking(1, 2), weight: keyword },
        { name: 'static', ranking: ranking(2, 1), weight: vector },
      ]).map(({ chunk }) => chunk)
    expect(order(2, 1)).toEqual([1, 2])
    expect(order(1, 2)).toEqual([2, 1])
    expect(order(0.1, 0.2)).toEqual([2, 1])
  })

  it('leaves a single list as it is', () => {
    expect(fuse([{ name: 'keyword', ranking: ranking(3, 1) }])).toEqual(ranking(3, 1))
    expect(fuse([])).toEqual([])
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
