import { describe, expect, test } from 'vitest'
import { spanOf, timeScale } from '../../src/studio/state/run/time-scale.ts'

describe('the time axis', () => {
  test('has a place for each time, and ticks at round ones', () => {
    const scale = timeScale(2000, [])
    expect([0, 500, 2000, 9000].map(scale.at)).toEqual([0, 25, 100, 100])
    expect(scale.ticks.map(({ ms }) => ms)).toEqual([0, 500, 1000, 1500, 2000])
    expect(scale.cuts).toEqual([])
  })

  test('leaves out minutes of waiting, so that what was done has its room', () => {
    const scale = timeScale(302_000, [{ fromMs: 1000, toMs: 301_000 }])
    expect(scale.cuts).toEqual([{ at: 50, ms: 300_000 }])
    const places = [0, 1000, 301_000, 302_000].map((ms) => Math.round(scale.at(ms)))
    expect(places).toEqual([0, 48, 52, 100])
    expect(scale.ticks.map(({ ms }) => ms)).toEqual([0, 500, 1500, 2000])
    expect(scale.ticks.map(({ at }) => Math.round(at))).toEqual([0, 24, 76, 100])
  })

  test('draws a short wait as it was, also in a long run', () => {
    expect(timeScale(2000, [{ fromMs: 1000, toMs: 1900 }]).cuts).toEqual([])
    expect(timeScale(600_000, [{ fromMs: 1000, toMs: 61_000 }]).cuts).toEqual([])
  })

  test('knows no order in which several waits would be wrong', () => {
    const pauses = [0, 1, 2].map((one) => ({ fromMs: 100 + one * 60_000, toMs: 59_900 + one * 60_000 }))
    const scale = timeScale(180_000, pauses)
    const places = [0, 50, 100, 30_000, 59_900, 60_050, 120_000, 180_000].map(scale.at)
    expect(places).toEqual(places.toSorted((one, other) => one - other))
    expect(scale.cuts).toHaveLength(3)
    expect(scale.at(180_000)).toBe(100)
  })

  test('of a run that works has some room to grow', () => {
    for (const ms of [0, 10, 999, 1000, 4999, 61_000]) {
      expect(spanOf(ms)).toBeGreaterThan(ms)
      expect(spanOf(ms)).toBeLessThanOrEqual(Math.max(1000, ms * 2))
    }
  })
})
