import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningTestServer, startServer } from '../../support/server.ts'
import { runnable } from '../../support/services.ts'

let server: RunningTestServer
let holding: PromiseWithResolvers<void>

beforeAll(async () => {
  holding = Promise.withResolvers()
  server = await startServer(
    {},
    {
      holds: runnable(async function* () {
        yield { type: 'model_call_start', call_id: 'c1', model: 'mine', messages: 'the prompt' }
        yield 'so far'
        await holding.promise
      }),
    },
  )
})
afterAll(async () => {
  holding.resolve()
  await server.close()
})

test('a model call that the stream has told is in the trace and in the text of the run', async () => {
  for (let times = 0; times < 3; times++) {
    const started = await server.call('POST', '/api/v1/agents/holds/run', { input: 'x', background: true })
    const path = `${server.url}/api/v1/runs/${started.json.run_id}`
    const { body } = await fetch(`${path}/events`)
    const reader = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
    for (let told = ''; !told.includes('so far'); ) {
      const { value, done } = await reader.read()
      if (done) break
      told += value
    }
    const [trace, text] = await Promise.all([fetch(`${path}/trace?call=c1`), fetch(`${path}/text`)])
    expect(trace.status).toBe(200)
    expect(await trace.json()).toMatchObject({ calls: [{ call_id: 'c1', messages: 'the prompt', text: 'so far' }] })
    expect(await text.text()).toContain('the prompt')
    await reader.cancel()
  }
})
