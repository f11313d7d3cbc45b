import type { ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import type { ServerConfig } from '../../../src/config/types.ts'
import type { ModelChoice } from '../../../src/core/model.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import type { AgentSettings } from '../../../src/runnables/agent/settings.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { chunk, type Endpoint, openEndpoint, refuse, streamWords } from '../../models/endpoint.ts'
import { eventsOf, serveAgents } from '../agent-server.ts'

/* A list of models over providers that refuse, fail, hang and cut. */

type Respond = Parameters<typeof openEndpoint>[0]
const open: AsyncDisposable[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]()
})

async function provider(respond: Respond): Promise<Endpoint> {
  const endpoint = await openEndpoint(respond)
  open.push(endpoint)
  return endpoint
}

async function serve(model: ModelChoice, settings: Partial<AgentSettings> = {}, config: ServerConfig = {}) {
  const server = await serveAgents({ a: agent({ ...settings, model } as AgentSettings) }, config)
  open.push(server)
  return server
}

const at = ({ baseURL }: Endpoint, model: string) => ({ baseURL, model, apiKey: `key-of-${model}` })
const says = (response: ServerResponse) => streamWords(response, 'from ', 'two')
const hangs = () => {}
const begins = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  return response
}
const overloaded = 'data: {"error":{"message":"Overloaded","type":"server_error"}}\n\n'

const failures: [name: string, respond: Respond, reason: RegExp][] = [
  ['answers 429', (response) => refuse(response, 429, 'Too many requests'), /^status 429: Too many requests$/],
  ['answers 500', (response) => refuse(response, 500, 'Broken'), /^status 500: Broken$/],
  [
    'answers 503 with a key in its words',
    (response) => refuse(response, 503, 'no key-of-one'),
    /^status 503: no \*\*\*$/,
  ],
  ['hangs before the head', hangs, /^it said nothing for 0.2 s$/],
  ['hangs after the head', begins, /^it said nothing for 0.2 s$/],
  ['hangs after an empty fragment', (response) => begins(response).write(chunk({ content: '' })), /0.2 s$/],
  ['cuts before the head', (response) => response.destroy(), /socket|closed|terminated|ECONNRESET|Cannot connect/i],
  ['cuts after the head', (response) => setImmediate(() => begins(response).destroy()), /terminated|closed/i],
  ['ends without a word', (response) => begins(response).end(), /without a finish reason/],
  ['is overloaded in its stream', (response) => begins(response).end(overloaded), /Overloaded/],
]

test.each(failures)(
  'a provider that %s: the next model answers, and the record says why',
  async (_name, respond, reason) => {
    const [one, two] = [await provider(respond), await provider(says)]
    const server = await serve([at(one, 'one'), at(two, 'two')], { timeout: { firstChunkMs: 200 } })
    const { json, runId } = await server.ask('a', 'x')
    expect(json).toMatchObject({ status: 'completed', content: 'from two' })
    const events = await server.events(runId)
    const [failed, answered] = eventsOf(events, 'model_call_start')
    expect([failed?.model, answered?.model]).toEqual(['compatible/one', 'compatible/two'])
    const [fallback] = eventsOf(events, 'model_fallback')
    expect(fallback).toMatchObject({ call_id: failed?.call_id, from: 'compatible/one', to: 'compatible/two' })
    expect(fallback?.reason).toMatch(reason)
    expect(eventsOf(events, 'model_call_end').map((end) => [end.model, end.finish_reason])).toEqual([
      ['compatible/one', 'error'],
      ['compatible/two', 'stop'],
    ])
    expect([one.requests.length, two.requests.length]).toEqual([1, 1])
    expect(json.usage).toMatchObject({ input_tokens: 5, output_tokens: 2 })
  },
)

test('a server that is not there is one more reason, a third model one more way', async () => {
  const gone = await openEndpoint(says)
  await gone[Symbol.asyncDispose]()
  const busy = await provider((response) => refuse(response, 429, 'Too many requests'))
  const two = await provider(says)
  const server = await serve([at(gone, 'gone'), at(busy, 'busy'), at(two, 'two')])
  const { json, runId } = await server.ask('a', 'x')
  expect(json.content).toBe('from two')
  const fallbacks = eventsOf(await server.events(runId), 'model_fallback')
  expect(fallbacks.map(({ from, to }) => `${from} ${to}`)).toEqual([
    'compatible/gone compatible/busy',
    'compatible/busy compatible/two',
  ])
  expect(fallbacks[0]?.reason).toMatch(/nothing answers at .* is it running/)
})

test.each([
  ['a wrong key', (response: ServerResponse) => refuse(response, 401, 'No such key'), 'status 401'],
  ['a wrong request', (response: ServerResponse) => refuse(response, 400, 'Too long'), 'status 400'],
])('%s is the same everywhere: nothing falls back', async (_name, respond, said) => {
  const [one, two] = [await provider(respond), await provider(says)]
  const server = await serve([at(one, 'one'), at(two, 'two')])
  const { json } = await server.ask('a', 'x')
  expect(json.error.message).toContain(said)
  expect(two.requests).toEqual([])
})

test('nothing falls back once a fragment is out', async () => {
  const one = await provider((response) => {
    begins(response)
    response.write(chunk({ content: 'Half' }), () => response.destroy())
  })
  const two = await provider(says)
  const server = await serve([at(one, 'one'), at(two, 'two')])
  const { streamed, runId } = await server.ask('a', 'x', { stream: true })
  expect(streamed.map(({ type }) => type)).toEqual(expect.arrayContaining(['text_delta', 'run_error']))
  expect(eventsOf(await server.events(runId), 'model_fallback')).toEqual([])
  expect(two.requests).toEqual([])
})

test('when all fail, the error is of the last one, after its retries', async () => {
  const one = await provider((response) => refuse(response, 500, 'Broken'))
  const two = await provider((response) => refuse(response, 401, 'No such key'))
  const server = await serve([at(one, 'one'), at(two, 'two')])
  const { json } = await server.ask('a', 'x')
  expect(json.error).toMatchObject({
    code: 'run_failed',
    message: expect.stringMatching(/compatible\/two.*status 401/),
  })
  expect([one.requests.length, two.requests.length]).toEqual([1, 1])
})

test('the time limit of the run holds over all models, and a cancelled run asks no other', async () => {
  const [one, two] = [await provider(hangs), await provider(says)]
  const server = await serve([at(one, 'one'), at(two, 'two')], { timeout: { stepMs: 150, firstChunkMs: 10_000 } })
  const { json } = await server.ask('a', 'x')
  expect(json.error.code).toBe('run_failed')
  const patient = await serve([at(one, 'one'), at(two, 'two')])
  const { json: begun } = await patient.ask('a', 'x', { background: true })
  await expect.poll(() => one.requests.length).toBe(2)
  await patient.call('POST', `/api/v1/runs/${begun.run_id}/cancel`, {})
  await expect
    .poll(async () => (await patient.call('GET', `/api/v1/runs/${begun.run_id}`)).json.status)
    .toBe('cancelled')
  expect(two.requests).toEqual([])
})

test.each<[string, Partial<AgentSettings>, ServerConfig]>([
  ['of the server', {}, { requestTimeout: 1_200 }],
  ['of the agent', { timeout: '1200ms' }, {}],
  ['of a step', { timeout: { stepMs: 1_200 } }, {}],
])('a model that hangs leaves the next one its share of the time limit %s', async (_whose, settings, config) => {
  const [one, two] = [await provider(hangs), await provider(says)]
  const server = await serve([at(one, 'one'), at(two, 'two')], settings, config)
  const { json, runId } = await server.ask('a', 'x')
  expect(json).toMatchObject({ status: 'completed', content: 'from two' })
  const [fallback] = eventsOf(await server.events(runId), 'model_fallback')
  expect(fallback?.reason).toBe('it said nothing for 0.6 s')
})

test('each step begins with the first model again, and tools go on', async () => {
  const one = await provider((response, _body, count) =>
    count === 1 ? refuse(response, 503, 'Loading') : streamWords(response, 'from one'),
  )
  const two = await provider((response) => {
    begins(response)
    const call = { index: 0, id: 'c1', type: 'function', function: { name: 'now', arguments: '{}' } }
    response.end(`${chunk({ tool_calls: [call] })}${chunk({}, 'tool_calls')}data: [DONE]\n\n`)
  })
  const now = tool({ inputSchema: z.object({}), execute: () => 'noon' })
  const server = await serve([at(one, 'one'), at(two, 'two')], { tools: { now } } as Partial<AgentSettings>)
  const { json } = await server.ask('a', 'x')
  expect(json.content).toBe('from one')
  expect(JSON.stringify(one.requests[1]?.body)).toContain('noon')
})

test('the list shows the first model, the configuration the others; teams have them too', async () => {
  const models = ['ollama/qwen3:8b', 'lmstudio/x'] as const
  const leader = team({ mode: 'lead', model: models, members: [agent({ run: () => 'ok' })] })
  const server = await serveAgents({ a: agent({ model: models }), leader })
  open.push(server)
  for (const id of ['a', 'leader']) {
    const { json } = await server.call('GET', `/api/v1/agents/${id}?include=config`)
    expect([json.model, json.config.fallback_models]).toEqual(['ollama/qwen3:8b', ['lmstudio/x']])
  }
})

test.each([
  [[], /1 to 8 models/],
  [['ollama/a', 'nobody/b'], /nobody|provider\/model/],
  [Array.from({ length: 9 }, () => 'ollama/a'), /1 to 8 models/],
])('a list of %o is no list of models', (model, message) => {
  expect(() => agent({ model: model as unknown as ModelChoice })).toThrow(message)
})
