import { expect, it } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import { workedMs } from '../../../src/service/limits/worked-time.ts'

it('counts the stretches in which a run worked, and not its pauses', () => {
  const at = (second: number) => new Date(Date.UTC(2030, 0, 1) + second * 1000).toISOString()
  const event = (type: RunEvent['type'], second: number) => ({ type, at: at(second) }) as RunEvent
  const before = [
    event('run_start', 0),
    event('text_delta', 4),
    event('input_required', 5),
    event('run_resumed', 3600),
    event('input_required', 3602),
    event('run_resumed', 9000),
  ]
  expect(workedMs(before, at(0))).toBe(7_000)
  expect(workedMs([], at(0))).toBe(0)
  expect(workedMs([event('run_resumed', 10)], null)).toBe(0)
})
