import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { openServices, request, runnable } from '../../support/services.ts'

test('a trace waits for the end of a run that is being recorded, and has what came with it', async () => {
  const store = memoryStore()
  const begun = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  onTestFinished(() => held.resolve())
  const slow = {
    ...store,
    async finishRun(...end: Parameters<typeof store.finishRun>) {
      begun.resolve()
      await held.promise
      return store.finishRun(...end)
    },
  }
  const quick = runnable(async function* () {
    yield { type: 'model_call_start', call_id: 'c1', model: 'mine', messages: 'the prompt' }
  })
  const { runs } = await openServices({ quick }, slow)
  const { runId } = await runs.start(request('quick', 'x'))
  await begun.promise
  const trace = runs.trace(runId, { call: 'c1', limit: 1 })
  let isWaiting = true
  trace
    .catch(() => {})
    .finally(() => {
      isWaiting = false
    })
  for (let turn = 0; turn < 50; turn++) await setImmediate()
  expect(isWaiting).toBe(true)
  held.resolve()
  expect((await trace).calls).toMatchObject([{ call_id: 'c1', messages: 'the prompt' }])
})
