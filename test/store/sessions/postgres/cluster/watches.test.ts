import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Line } from '../../../../../src/store/sessions/postgres/cluster/lines.ts'
import { Watches } from '../../../../../src/store/sessions/postgres/cluster/watches.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('an instance that was not heard for a while is told that it missed what was changed then', () => {
  const told: [number, Line][] = []
  const watches = new Watches(
    (instance, line) => told.push([instance, line]),
    () => [],
    async () => {},
  )
  const change = { kind: 'run', id: 'run_x' } as const
  watches.heard(2, { kind: 'watch' })
  watches.publish(change)
  vi.advanceTimersByTime(4_000)
  watches.heard(2, { kind: 'watch' })
  watches.publish(change)
  expect(told).toEqual([
    [2, { kind: 'watching' }],
    [2, { kind: 'change', change }],
    // Nothing was changed while it was silent.
    [2, { kind: 'watching' }],
    [2, { kind: 'change', change }],
  ])
  told.length = 0
  vi.advanceTimersByTime(4_000)
  expect(watches.isWatched).toBe(false)
  watches.publish(change)
  for (let times = 0; times < 2; times++) watches.heard(2, { kind: 'watch' })
  expect(told).toEqual([
    [2, { kind: 'missed' }],
    [2, { kind: 'watching' }],
    [2, { kind: 'watching' }],
  ])
})
