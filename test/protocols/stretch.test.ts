import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../src/core/event.ts'
import type { Usage } from '../../src/core/run.ts'
import { addStretchUsage, stretchNumber, stretchOf, type WhichStretch } from '../../src/protocols/stretch.ts'

const usage = (tokens: number): Usage => ({ input_tokens: tokens, output_tokens: 1, total_tokens: tokens + 1 })
const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z`
const stamp = (seq: number) => ({ run_id: 'run_1', seq, at: at(seq) })
const call = (seq: number, tokens: number): RunEvent => ({
  ...stamp(seq),
  type: 'model_call_end',
  call_id: `call_${seq}`,
  usage: usage(tokens),
  finish_reason: 'stop',
  duration_ms: 1,
})
const text = (seq: number): RunEvent => ({ ...stamp(seq), type: 'text_delta', text: `${seq} ` })
const started: RunEvent = { ...stamp(1), type: 'run_start', session_id: 'ses_1', entity_id: 'a', entity_kind: 'agent' }
const resumed = (seq: number, paused: number): RunEvent => ({
  ...stamp(seq),
  type: 'run_resumed',
  from: 'input_required',
  paused: { seq: paused, at: at(paused) },
})
const end = (seq: number): RunEvent => ({
  ...stamp(seq),
  type: 'run_end',
  status: 'completed',
  usage: usage(99),
  cache_hit: false,
})

const record = [
  [started, text(2), call(3, 10)],
  [resumed(6, 5), text(7), call(8, 20), resumed(10, 9)],
  [text(11), { ...stamp(12), type: 'run_resumed', from: 'interrupted' } as RunEvent, call(13, 40), end(14)],
]

describe('a stretch of a run', () => {
  test.each([
    { which: { number: 1 }, seqs: [1, 2, 3, 5], status: 'input_required' },
    { which: { from: 1 }, seqs: [1, 2, 3, 5], status: 'input_required' },
    { which: { number: 2 }, seqs: [6, 7, 8, 9], status: 'input_required' },
    { which: { from: 6 }, seqs: [6, 7, 8, 9], status: 'input_required' },
    { which: { number: 3 }, seqs: [10, 11, 12, 13, 14], status: 'completed' },
    { which: { from: 10 }, seqs: [10, 11, 12, 13, 14], status: 'completed' },
  ])('$which has the events $seqs', async ({ which, seqs, status }) => {
    const events = await read(which)
    expect(events.map(({ seq }) => seq)).toEqual(seqs)
    expect(events.at(-1)).toMatchObject({ type: 'run_end', status, at: at(seqs.at(-1) ?? 0) })
  })

  test('that the run does not have is empty', async () => {
    expect(await read({ number: 4 })).toEqual([])
    expect(await read({ from: 7 })).toEqual([])
  })

  test('uses what its own calls used', async () => {
    const used = async (number: number) => (await read({ number })).reduce<Usage | null>(addStretchUsage, null)
    expect(await used(1)).toEqual(usage(10))
    expect(await used(2)).toEqual(usage(20))
    expect(await used(3)).toEqual(usage(40))
  })

  test('has the number of the pauses before it, and one', async () => {
    const numbers = await Promise.all([1, 6, 10].map((from) => stretchNumber(batches(), from)))
    expect(numbers).toEqual([1, 2, 3])
  })

  test('stops reading where it ends, and its reader may leave', async () => {
    let left = 0
    const events = batches(() => left++)
    const stretch = stretchOf(events, { number: 1 })
    while (!(await stretch.next()).done);
    expect(left).toBe(1)
    const other = stretchOf(
      batches(() => left++),
      { number: 2 },
    )
    await other.next()
    await other.return?.()
    expect(await other.next()).toEqual({ done: true, value: undefined })
    expect(left).toBeGreaterThan(1)
  })

  test('of a record without the end of the pause ends just before its resumption', async () => {
    const { paused: _paused, ...older } = resumed(6, 5) as RunEvent & { paused?: unknown }
    const stretch = stretchOf([[started, older as RunEvent]].values() as never, { number: 1 })
    expect((await stretch.next()).value?.at(-1)).toMatchObject({ seq: 5, at: at(6), status: 'input_required' })
  })
})

async function read(which: WhichStretch): Promise<RunEvent[]> {
  const stretch = stretchOf(batches(), which)
  const events: RunEvent[] = []
  for (let next = await stretch.next(); !next.done; next = await stretch.next()) events.push(...next.value)
  return events
}

function batches(onLeave?: () => void): AsyncIterator<readonly RunEvent[]> {
  const all = record.values()
  return {
    next: async () => all.next(),
    return: async () => {
      onLeave?.()
      return { done: true, value: undefined }
    },
  }
}
