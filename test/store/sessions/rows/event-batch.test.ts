import { expect, test } from 'vitest'
import type { RunEvent } from '../../../../src/core/event.ts'
import { decodeBatch, encodeBatch } from '../../../../src/store/sessions/rows/event-batch.ts'
import { collect, openServices, request, runnable } from '../../../support/services.ts'

const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }

test('a batch gives events back byte for byte as live readers got them', async () => {
  const emitted = [
    'text ',
    'and more',
    { type: 'reasoning_delta', text: 'thought' },
    { type: 'reasoning_delta', text: ' and thought' },
    { type: 'tool_call', call_id: 'c', name: 'n', input: { b: 1, a: 2 } },
    { type: 'tool_result', call_id: 'c', name: 'n', output: null, duration_ms: 1 },
    { type: 'data', data: { z: 1, a: [] } },
    { type: 'step_start', step_id: 's', name: 'n' },
    { type: 'step_end', step_id: 's', status: 'completed', usage, duration_ms: 1 },
  ] as const
  const { runs } = await openServices({
    all: runnable(async function* () {
      for (const emission of emitted) yield emission as never
    }),
  })
  const handle = await runs.start(request('all', 'go'))
  const live = (await collect(handle.events())).slice(1, -1) as RunEvent[]
  expect(live.map(({ type }) => type)).toEqual(
    emitted.map((one) => (typeof one === 'string' ? 'text_delta' : one.type)),
  )
  const recorded = encodeBatch(live)?.parts.flatMap(({ text }) => decodeBatch(handle.runId, text))
  expect(recorded?.map((event) => JSON.stringify(event))).toEqual(live.map((event) => JSON.stringify(event)))
})
