import { describe, expect, it } from 'vitest'
import { estimateMedian } from '../../bench/against/interval.ts'
import { seeded } from '../../bench/knowledge-corpus.ts'

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

describe('the interval of a median', () => {
  it.each([
    [6, 1, 6],
    [10, 2, 9],
    [20, 6, 15],
    [100, 40, 61],
  ])('of %i values lies from the %ith to the %ith, whatever their order', (count, low, high) => {
    const estimate = estimateMedian(upTo(count).toReversed())
    expect(estimate).toEqual({ median: (count + 1) / 2, low, high })
  })

  it('has the true median in it in 95 of 100 measurements of noise that leans to one side', () => {
    const random = seeded(5)
    const measurements = Array.from({ length: 2_000 }, () => {
      const values = Array.from({ length: 10 }, () => -Math.log(1 - random()))
      const { low, high } = estimateMedian(values)
      return low <= Math.LN2 && Math.LN2 <= high
    })
    expect(measurements.filter(Boolean).length / measurements.length).toBeGreaterThan(0.95)
  })

  it('is refused for fewer than six values', () => {
    expect(() => estimateMedian(upTo(5))).toThrow('at least 6')
  })
})
