import { expect, it } from 'vitest'
import type { Logger } from '../../src/core/logger.ts'
import { ExportQueue } from '../../src/telemetry/export-queue.ts'
import type { ReadableSpan } from '../../src/telemetry/readable-span.ts'
import { manualTimers } from '../support/manual-timers.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))
async function turns(count = 20): Promise<void> {
  for (let done = 0; done < count; done++) await turn()
}

/** A queue whose collector answers only when it is told to. `perRun`: spans of a run. */
function open(perRun = 1) {
  const timers = manualTimers()
  const lines: [string, Record<string, unknown>][] = []
  const write = (fields: object, message?: string) => void lines.push([message ?? '', { ...fields }])
  const logger: Logger = { debug: write, info: write, warn: write, error: write }
  const sent: { size: number; done: (result: { code: number; error?: Error }) => void }[] = []
  let made = 0
  const queue = new ExportQueue<number>({
    exporter: async () => ({
      export: (spans, done) => void sent.push({ size: spans.length, done }),
      shutdown: async () => {},
    }),
    async spansOf(run) {
      if (run < 0) throw new Error('no record')
      made++
      return Array<ReadableSpan>(perRun).fill({} as ReadableSpan)
    },
    timers,
    logger,
  })
  const answer = async (code: number) => {
    sent.shift()?.done(code === 0 ? { code } : { code, error: new Error('refused') })
    await turns()
  }
  return { queue, timers, lines, sent, answer, made: () => made }
}

it('has no timer while there is nothing to send', async () => {
  const { queue, timers, answer } = open()
  expect(timers.size).toBe(0)
  queue.offer(1)
  expect(timers.size).toBe(1)
  timers.advance(1_000)
  await turns()
  await answer(0)
  expect([timers.size, queue.numbers.exported]).toEqual([0, 1])
})

it('sends at most 512 spans at once, and the next ones when those have arrived', async () => {
  const { queue, timers, sent, answer } = open(300)
  for (let run = 0; run < 4; run++) queue.offer(run)
  timers.advance(1_000)
  await turns()
  expect(sent.map(({ size }) => size)).toEqual([512])
  await answer(0)
  expect(sent.map(({ size }) => size)).toEqual([512])
  await answer(0)
  expect(sent.map(({ size }) => size)).toEqual([176])
  await answer(0)
  expect(queue.numbers).toEqual({ exported: 1_200, failed: 0, droppedRuns: 0 })
})

it('makes no more spans while the collector hangs, and drops and counts what is too much, with one line', async () => {
  const { queue, timers, lines, made, answer } = open(512)
  queue.offer(0)
  timers.advance(1_000)
  await turns()
  for (let run = 1; run <= 5_000; run++) queue.offer(run)
  await turns()
  expect(made()).toBe(1)
  expect(queue.numbers.droppedRuns).toBe(5_000 - 2_048)
  expect(lines.map(([message]) => message)).toEqual([
    'spans are dropped; runs are not affected, and their record has everything',
  ])
  for (let run = 0; run < 3; run++) await answer(0)
  expect(lines.map(([message]) => message)).toEqual([expect.stringContaining('dropped'), 'spans are exported again'])
})

it('counts what the collector refuses, says so once, and again when it is over', async () => {
  const { queue, timers, lines, answer } = open()
  for (const code of [1, 1, 0, 1]) {
    queue.offer(1)
    timers.advance(1_000)
    await turns()
    await answer(code)
  }
  expect(queue.numbers).toEqual({ exported: 1, failed: 3, droppedRuns: 0 })
  expect(lines.map(([message]) => message)).toEqual([
    expect.stringContaining('dropped'),
    'spans are exported again',
    expect.stringContaining('dropped'),
  ])
  expect(lines[0]?.[1]).toMatchObject({ reason: 'The collector did not take them.', failed: 1 })
})

it('goes on after a run whose record can not be read', async () => {
  const { queue, timers, answer } = open()
  queue.offer(-1)
  queue.offer(1)
  timers.advance(1_000)
  await turns()
  await answer(0)
  expect(queue.numbers).toEqual({ exported: 1, failed: 0, droppedRuns: 1 })
})

it('sends what waits when it is closed, and takes nothing afterwards', async () => {
  const { queue, timers, answer } = open()
  queue.offer(1)
  const closed = queue.close(3_000)
  await turns()
  await answer(0)
  await closed
  queue.offer(2)
  expect(queue.numbers).toEqual({ exported: 1, failed: 0, droppedRuns: 1 })
  expect(timers.size).toBe(0)
})

it('gives up at the limit when the collector hangs, and says what was lost', async () => {
  const { queue, timers, lines } = open()
  queue.offer(1)
  const closed = queue.close(3_000)
  await turns()
  timers.advance(2_999)
  await turns()
  expect(lines).toEqual([])
  timers.advance(1)
  await closed
  expect(lines.map(([message]) => message)).toEqual(['the last spans were not exported in time'])
  expect(timers.size).toBe(0)
})
