import { expect, test } from 'vitest'
import type { EmittedEvent } from '../../../src/core/event.ts'
import { collect, openServices, request, runnable } from '../../support/services.ts'

const end = { type: 'model_call_end', usage: null, finish_reason: 'stop', duration_ms: 1 } as const

test('the end of a model call names the model of its start, calls at the same time included', async () => {
  const { runs } = await openServices({
    two: runnable(async function* (): AsyncGenerator<EmittedEvent> {
      yield { type: 'model_call_start', call_id: 'a', model: 'openai/gpt-5' }
      yield { type: 'model_call_start', call_id: 'b', model: 'ollama/qwen3:8b' }
      yield { ...end, call_id: 'a', model: 'openai/another' }
      yield { ...end, call_id: 'b' }
      yield { ...end, call_id: 'never started' }
    }),
  })
  const handle = await runs.start(request('two', 'x'))
  const events = await collect(handle.events())
  const models = events.flatMap((event) => (event.type === 'model_call_end' ? [[event.call_id, event.model]] : []))
  expect(models).toEqual([
    ['a', 'openai/gpt-5'],
    ['b', 'ollama/qwen3:8b'],
    ['never started', undefined],
  ])
})
