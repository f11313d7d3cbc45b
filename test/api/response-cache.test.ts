import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { Runnable } from '../../src/core/runnable.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { runContext } from '../../src/runnables/base/run-context.ts'
import { tool } from '../../src/runnables/tools/tool.ts'
import { answer, callTool, scripted } from '../runnables/fixture.ts'
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

const whose = tool({ inputSchema: z.object({}), execute: () => `of ${runContext().userId}` })
const asking = () => scripted(...[1, 2].flatMap(() => [callTool('whose', {}), answer('Found.')]))

/** Whether Ann, Bob and Ann again get an answer that was given before. */
async function hits(entity: Runnable): Promise<boolean[]> {
  const users = await startServer({}, { it: entity })
  onTestFinished(() => users.close())
  const hit = async (userId: string) =>
    (await users.call('POST', '/api/v1/agents/it/run', { input: 'Hi', user_id: userId })).json.cache_hit
  return [await hit('ann'), await hit('bob'), await hit('ann')]
}

test("gives a user no other user's answer, with tools and without", async () => {
  const model = asking()
  expect(await hits(agent({ model, tools: { whose }, cache: { ttl: '10m' } }))).toEqual([false, false, true])
  expect(model.doStreamCalls).toHaveLength(4)
  const plain = scripted(answer('For the first'), answer('For the second'))
  expect(await hits(agent({ model: plain, cache: { ttl: '10m' } }))).toEqual([false, false, true])
  expect(await hits(agent({ cache: { ttl: '10m' } }))).toEqual([false, false, true])
})

test('gives everybody the same answer where the agent says that it is shared', async () => {
  const model = asking()
  const entity = agent({ model, tools: { whose }, cache: { ttl: '10m', shared: true } })
  expect(await hits(entity)).toEqual([false, true, true])
  expect(model.doStreamCalls).toHaveLength(2)
})

test('tells metadata and state apart where tools may look at them', async () => {
  const looked = scripted(...[1, 2, 3].map((place) => answer(`Answer ${place}`)))
  const look = tool({ inputSchema: z.object({}), execute: () => runContext().metadata })
  const tools = await startServer({}, { looks: agent({ model: looked, tools: { look }, cache: { ttl: '10m' } }) })
  onTestFinished(() => tools.close())
  const ask = async (body: object) =>
    (await tools.call('POST', '/api/v1/agents/looks/run', { input: 'Hi', ...body })).json.cache_hit
  expect(await ask({ metadata: { tenant: 'a' } })).toBe(false)
  expect(await ask({ metadata: { tenant: 'b' } })).toBe(false)
  expect(await ask({ state: { tenant: 'b' } })).toBe(false)
  expect(await ask({ metadata: { tenant: 'a' } })).toBe(true)
})
