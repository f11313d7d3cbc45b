import { describe, expect, test, vi } from 'vitest'
import type { Timers } from '../../src/core/time.ts'
import { systemTimers } from '../../src/runtime/timers.ts'
import { manualTimers } from '../support/manual-timers.ts'

/** Either kind, and how to let time pass for it. */
const kinds: Record<string, () => { timers: Timers; pass: (ms: number) => void; close: () => void }> = {
  'the timers of Node': () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    return { timers: systemTimers, pass: (ms) => vi.advanceTimersByTime(ms), close: () => vi.useRealTimers() }
  },
  'the timers of tests': () => {
    const timers = manualTimers()
    return { timers, pass: (ms) => timers.advance(ms), close: () => {} }
  },
}

describe.each(Object.entries(kinds))('%s', (_, open) => {
  test('call once when their time has passed, the earliest first', () => {
    const { timers, pass, close } = open()
    const called: string[] = []
    timers.set(() => called.push('late'), 20)
    timers.set(() => called.push('early'), 10)
    pass(9)
    expect(called).toEqual([])
    pass(100)
    expect(called).toEqual(['early', 'late'])
    close()
  })

  test('are cleared, and begin anew', () => {
    const { timers, pass, close } = open()
    const called: string[] = []
    const cleared = timers.set(() => called.push('cleared'), 10)
    const again = timers.set(() => called.push('again'), 10)
    timers.clear(cleared)
    timers.clear(undefined)
    pass(5)
    again.refresh()
    pass(9)
    expect(called).toEqual([])
    pass(1)
    expect(called).toEqual(['again'])
    close()
  })
})
