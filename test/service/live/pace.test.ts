import { expect, test } from 'vitest'
import { Pace } from '../../../src/service/live/pace.ts'

function openPace() {
  const state = { nowMs: 1_000_000, longer: 0 }
  const pace = new Pace(
    () => state.nowMs,
    () => {
      state.longer++
    },
  )
  const work = (ms: number) => {
    pace.begin()
    state.nowMs += ms
    pace.end()
  }
  return { state, pace, work }
}

test('the first change waits 10 ms, the next step 100 ms, and after a pause 10 ms again', () => {
  const { state, pace } = openPace()
  expect(pace.restMs).toBe(10)
  pace.step()
  expect(pace.restMs).toBe(100)
  state.nowMs += 60
  expect(pace.restMs).toBe(40)
  state.nowMs += 1_000
  expect(pace.restMs).toBe(10)
})

test('rests sixty times as long as it worked, at most two seconds, and says so', () => {
  const { state, pace, work } = openPace()
  pace.step()
  work(1)
  expect([pace.restMs, state.longer]).toEqual([99, 0])
  work(17)
  expect([pace.restMs, state.longer]).toEqual([1_062, 1])
  work(500)
  expect(pace.restMs).toBe(2_000 - 518)
  pace.step()
  expect(pace.restMs).toBe(100)
})

test('readers that work at the same time count once', () => {
  const { state, pace } = openPace()
  pace.step()
  for (let count = 0; count < 5; count++) pace.begin()
  state.nowMs += 10
  for (let count = 0; count < 5; count++) pace.end()
  expect([pace.restMs, state.longer]).toEqual([590, 1])
})

test('a clock that is set back or ahead neither stops the work nor hurries it', () => {
  const { state, pace, work } = openPace()
  pace.step()
  state.nowMs -= 3_600_000
  expect(pace.restMs).toBe(2_000)
  work(-3_600_000)
  expect(pace.restMs).toBe(2_000)
  state.nowMs += 86_400_000
  expect(pace.restMs).toBe(10)
})
