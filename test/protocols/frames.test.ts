import { expect, test } from 'vitest'
import type { RunEvent } from '../../src/core/event.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { type Batch, toFrames } from '../../src/protocols/frames.ts'
import { type Projection, positionOf } from '../../src/protocols/projection.ts'

const stamp = (seq: number) => ({ run_id: 'run_1', seq, at: '2026-01-01T00:00:00.000Z' })
const events: RunEvent[] = [
  { type: 'run_start', session_id: 's', entity_id: 'a', entity_kind: 'agent', ...stamp(1) },
  { type: 'text_delta', text: 'one', ...stamp(2) },
  // A crash has left a gap in the numbers.
  { type: 'text_delta', text: 'two', ...stamp(40) },
  { type: 'run_end', status: 'completed', usage: null, cache_hit: false, ...stamp(41) },
]

/** Counts what it has seen, so that it can't begin in the middle; the end has two frames. */
function counting(): Projection {
  let seen = 0
  return {
    add(event) {
      seen++
      if (event.type === 'run_end')
        return [`${positionOf(event.seq, 0)} last ${seen}\n`, `${positionOf(event.seq, 1)} end\n`]
      return event.type === 'text_delta' ? `${positionOf(event.seq, 0)} ${seen} ${event.text}\n` : ''
    },
    broken: (error) => `broken ${(error as Error).message}\n`,
  }
}

async function* inBatches(all: readonly RunEvent[], size: number): AsyncGenerator<Batch> {
  for (let start = 0; start < all.length; start += size) yield all.slice(start, start + size)
}

async function read(batches: AsyncGenerator<Batch>, after?: number): Promise<string> {
  let text = ''
  for await (const frames of toFrames(counting(), batches, { runId: 'run_1', logger: silentLogger, after }))
    text += frames
  return text
}

test('frames are the same however the events are batched', async () => {
  const whole = await read(inBatches(events, 4))
  expect(whole).toBe('2048 2 one\n40960 3 two\n41984 last 4\n41985 end\n')
  for (const size of [1, 2, 3]) expect(await read(inBatches(events, size))).toBe(whole)
})

test('a reader that comes again after any frame gets the rest', async () => {
  const whole = await read(inBatches(events, 2))
  const frames = whole.split(/(?<=\n)/)
  for (const [index, frame] of frames.entries()) {
    expect(await read(inBatches(events, 2), Number.parseInt(frame, 10))).toBe(frames.slice(index + 1).join(''))
  }
})

test('a stream that ends or fails before its run is broken, never complete', async () => {
  expect(await read(inBatches(events.slice(0, 2), 2))).toBe('2048 2 one\nbroken the stream ended before the run did\n')
  const failing = async function* (): AsyncGenerator<Batch> {
    yield events.slice(0, 2)
    throw new Error('unreadable')
  }
  expect(await read(failing())).toBe('2048 2 one\nbroken unreadable\n')
})

test('no protocol is given a prompt', async () => {
  const given: unknown[] = []
  const add: Projection['add'] = (event) => {
    given.push(event)
    return ''
  }
  const secret = [{ role: 'system', content: 'secret' }]
  const prompts: RunEvent[] = [
    { type: 'model_call_start', call_id: 'c', model: 'm', messages: secret, ...stamp(2) },
    { type: 'input_required', prompt: 'ok?', messages: secret, ...stamp(3) },
    { type: 'step_end', step_id: 's', status: 'completed', state: { secret: true }, duration_ms: 1, ...stamp(4) },
  ]
  const all = [...prompts, ...events.slice(3)]
  for await (const _ of toFrames({ add, broken: () => '' }, inBatches(all, 4), {
    runId: 'run_1',
    logger: silentLogger,
  }));
  expect(given).toHaveLength(4)
  expect(JSON.stringify(given)).not.toContain('secret')
})
