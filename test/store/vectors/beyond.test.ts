import { expect, it } from 'vitest'
import { mostBeyond } from '../../../src/store/vectors/beyond.ts'

it('an index may miss a share of the rows of its list, as long as a search compares them quickly', () => {
  const missed = (dimensions: number) =>
    [1_000, 34_000, 100_000, 300_000, 1_000_000].map((rows) => mostBeyond(rows, dimensions))
  expect(missed(128)).toEqual([300, 10_200, 15_000, 30_000, 83_333])
  expect(missed(1_024)).toEqual([300, 10_200, 15_000, 30_000, 30_898])
  expect(missed(4_000)).toEqual([300, 10_000, 10_000, 10_000, 10_000])
})

it('a list that grows to a million rows has its index built some thirty times', () => {
  const builds = (dimensions: number) => {
    let times = 0
    for (let indexed = 15_000; indexed < 1_000_000; times++) {
      let rows = indexed
      while (rows - indexed <= mostBeyond(rows, dimensions)) rows += 500
      indexed = rows
    }
    return times
  }
  expect(builds(128)).toBeLessThan(30)
  expect(builds(1_024)).toBeLessThan(45)
})
