import { expect, test } from 'vitest'
import { Throttle } from '../../src/runtime/throttle.ts'
import { manualTimers } from '../support/manual-timers.ts'

function throttled(everyMs = 100) {
  const timers = manualTimers()
  const passed: number[] = []
  const throttle = new Throttle<{ n: number }>(timers, everyMs, ({ n }) => passed.push(n))
  const offer = (...values: number[]) => {
    for (const n of values) throttle.offer({ n })
  }
  return { timers, passed, throttle, offer }
}

test('the first value passes at once, and of those that follow the newest when its time has come', () => {
  const { timers, passed, offer } = throttled()
  offer(1, 2, 3)
  expect(passed).toEqual([1])
  timers.advance(99)
  offer(4)
  expect(passed).toEqual([1])
  timers.advance(1)
  expect(passed).toEqual([1, 4])
})

test('a value that came last passes although nothing follows it, and no timer stays', () => {
  const { timers, passed, offer } = throttled()
  offer(1, 2)
  timers.advance(100)
  expect(passed).toEqual([1, 2])
  expect(timers.size).toBe(1)
  timers.advance(100)
  expect([passed, timers.size]).toEqual([[1, 2], 0])
  offer(3)
  expect(passed).toEqual([1, 2, 3])
})

test('what passed late is followed by as long a pause as what passed at once', () => {
  const { timers, passed, offer } = throttled()
  offer(1, 2)
  timers.advance(100)
  offer(3)
  timers.advance(99)
  expect(passed).toEqual([1, 2])
  timers.advance(1)
  expect(passed).toEqual([1, 2, 3])
})

test('what is dropped never passes, and the pause goes on', () => {
  const { timers, passed, throttle, offer } = throttled()
  offer(1, 2)
  throttle.drop()
  timers.advance(50)
  offer(3)
  expect(passed).toEqual([1])
  timers.advance(50)
  expect(passed).toEqual([1, 3])
})

test('nothing passes after the end, and its timer is cleared', () => {
  const { timers, passed, throttle, offer } = throttled()
  offer(1, 2)
  throttle.stop()
  expect(timers.size).toBe(0)
  timers.advance(1000)
  expect(passed).toEqual([1])
})
