import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { limitLines } from '../../../src/cli/terminal/line-limit.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('lets so many lines through a second and tells how many it left out', () => {
  const told: Record<string, number>[] = []
  const limit = limitLines(2, (counts) => told.push(Object.fromEntries(counts)))
  const taken = ['a', 'a', 'a', 'b', 'b'].map((name) => limit.take(name))
  expect(taken).toEqual([true, true, false, false, false])
  expect(told).toEqual([])
  vi.advanceTimersByTime(1_000)
  expect(told).toEqual([{ a: 1, b: 2 }])
  expect(limit.take('a')).toBe(true)
  vi.advanceTimersByTime(1_000)
  expect(told).toHaveLength(1)
})

it('tells what is left when it is closed, and keeps no timer', () => {
  const told: Record<string, number>[] = []
  const limit = limitLines(0, (counts) => told.push(Object.fromEntries(counts)))
  limit.take('a')
  limit.close()
  expect(told).toEqual([{ a: 1 }])
  expect(vi.getTimerCount()).toBe(0)
})
