import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { gatherLines } from '../../src/config/logger.ts'

describe('lines of the log', () => {
  let written: string[]
  let flush: () => void
  let logger: ReturnType<typeof pino>
  beforeEach(() => {
    vi.useFakeTimers()
    written = []
    const gathered = gatherLines((lines) => written.push(lines))
    flush = gathered.flush
    logger = pino({ base: null, timestamp: false }, gathered.stream)
  })
  afterEach(() => void vi.useRealTimers())
  const messages = () =>
    written.map((lines) =>
      lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).msg),
    )

  it('are written together, in order, 50 ms after the first', () => {
    logger.info('one')
    vi.advanceTimersByTime(49)
    logger.info('two')
    expect(written).toEqual([])
    vi.advanceTimersByTime(1)
    expect(messages()).toEqual([['one', 'two']])
    logger.info('three')
    vi.advanceTimersByTime(50)
    expect(messages()).toEqual([['one', 'two'], ['three']])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('are written at once with a warning or an error', () => {
    logger.info('one')
    logger.warn('two')
    expect(messages()).toEqual([['one', 'two']])
    logger.error('three')
    expect(messages()).toEqual([['one', 'two'], ['three']])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('are written at once when they are many', () => {
    const long = 'x'.repeat(10_000)
    logger.info(long)
    expect(written).toEqual([])
    logger.info(long)
    expect(messages()).toEqual([[long, long]])
  })

  it('are written when the process ends, once', () => {
    logger.info('one')
    flush()
    flush()
    vi.runAllTimers()
    expect(messages()).toEqual([['one']])
  })
})
