import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../src/runnables/agent.ts'
import { answer, scripted } from '../runnables/fixture.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

const model = scripted(answer('Hello ', 'there'), answer('Never asked'))
let server: RunningTestServer

beforeAll(async () => {
  server = await startServer({}, { polite: agent({ model, cache: { ttl: '10m' } }) })
})

afterAll(() => server.close())

test('shows a cache hit in the answer, the run, the session and the stream, and asks the model once', async () => {
  const ask = (body: object) => server.call('POST', '/api/v1/agents/polite/run', { input: 'Hi', ...body })
  const first = (await ask({})).json
  const second = (await ask({})).json
  expect(first).toMatchObject({ content: 'Hello there', cache_hit: false, usage: { input_tokens: 7 } })
  expect(second).toMatchObject({ status: 'completed', content: 'Hello there', cache_hit: true, usage: null })
  expect(second.session_id).not.toBe(first.session_id)
  expect((await server.call('GET', `/api/v1/runs/${second.run_id}`)).json.cache_hit).toBe(true)
  const session = (await server.call('GET', `/api/v1/sessions/${second.session_id}`)).json
  expect(session.runs).toMatchObject([{ run_id: second.run_id, cache_hit: true }])
  const { text } = await ask({ stream: true })
  expect(text).toMatch(/event: text_delta\ndata: .*"Hello "/)
  expect(text).toMatch(/event: run_end\ndata: .*"cache_hit":true/)
  expect(model.doStreamCalls).toHaveLength(1)
})

test('asks the model when the conversation before the question is another one', async () => {
  const first = (await server.call('POST', '/api/v1/agents/polite/run', { input: 'Hi' })).json
  const again = { input: 'Hi', session_id: first.session_id }
  expect((await server.call('POST', '/api/v1/agents/polite/run', again)).json).toMatchObject({ cache_hit: false })
  expect(model.doStreamCalls).toHaveLength(2)
})
