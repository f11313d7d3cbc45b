import { expect, test } from 'vitest'
import type { RunEvent, RunEventBody } from '../../src/core/event.ts'
import { timestamp } from '../../src/core/time.ts'
import { followRun } from '../../src/mcp/follow.ts'
import { Progress } from '../../src/mcp/progress.ts'

const begun = Date.parse('2026-01-05T09:30:00.000Z')
const event = (seq: number, ms: number, body: RunEventBody): RunEvent => ({
  run_id: 'run_1',
  seq,
  at: timestamp(begun + ms),
  ...body,
})
const call = (name: string) => ({ type: 'tool_call', call_id: 'c', name, input: {} }) as const
const text = { type: 'text_delta', text: 'a' } as const

test('tells at most once in 250 ms, and of text after 10 s, by the time of the events', () => {
  const progress = new Progress(Number.NEGATIVE_INFINITY)
  const events = [
    event(2, 0, call('a')),
    event(3, 100, call('b')),
    event(4, 250, call('c')),
    event(5, 5000, text),
    event(6, 10_250, text),
    event(7, 11_000, text),
    event(8, 11_001, call('d\u001b[2J')),
  ]
  expect(events.flatMap((one) => progress.add(one) ?? [])).toEqual([
    { progress: 2, message: 'using a' },
    { progress: 4, message: 'using c' },
    { progress: 6, message: 'writing the answer' },
    { progress: 8, message: 'using d\ufffd[2J' },
  ])
})

test('tells nothing from before it was asked, and nothing twice', () => {
  const progress = new Progress(begun + 1000)
  expect(progress.add(event(2, 0, call('a')))).toBeUndefined()
  expect(progress.add(event(3, 2000, call('b')))).toMatchObject({ progress: 3 })
  expect(progress.add(event(3, 4000, call('b')))).toBeUndefined()
})

test('a reader that has waited long enough leaves, and lets go of the events', async () => {
  let left = false
  const endless: AsyncIterable<readonly RunEvent[]> = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => {}),
      return: async () => {
        left = true
        return { done: true, value: undefined }
      },
    }),
  }
  await followRun(endless, { signal: new AbortController().signal, mostMs: 1 }, () => {})
  expect(left).toBe(true)
  await followRun(endless, { signal: AbortSignal.abort(), mostMs: 60_000 }, () => {})
})

test('tells how many passages a search found, and one in the singular', () => {
  const results = Array.from({ length: 2 }, (_, rank) => ({ rank }))
  const found = (many: number) => {
    const one = { type: 'retrieval', query: 'q', results: results.slice(0, many) } as unknown as RunEventBody
    return new Progress(Number.NEGATIVE_INFINITY).add(event(2, 0, one))?.message
  }
  expect([found(0), found(1), found(2)]).toEqual(['found 0 passages', 'found 1 passage', 'found 2 passages'])
})
