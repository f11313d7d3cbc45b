import { Output, ToolLoopAgent } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { mcp } from '../../../src/runnables/mcp/mcp.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { asTool } from '../../../src/runnables/tools/as-tool.ts'
import { remoteAgent } from '../../../src/runnables/tools/remote-agent.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

/* What `GET /agents/{id}?include=config` shows, to whom, and what it never does. */

const city = z.object({ city: z.string() })
const citySchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const weather = tool({ description: 'Tells the weather.', inputSchema: city, execute: () => 'rain' })
const wipe = tool({ inputSchema: city, needsApproval: true, execute: () => 'wiped' })
const secret = 'sk-the-secret-of-this-test'
const model = { model: 'm', baseURL: 'http://the-provider.test:9/v1', apiKey: secret }
function noPrices() {}

const rich = agent({
  model: new MockLanguageModelV4(),
  instructions: 'Be brief.',
  tools: {
    weather,
    wipe,
    denied: weather,
    decided: weather,
    helper: asTool('plain', { description: 'Asks the plain one.' }),
    far: remoteAgent({ url: 'http://far.test', agentId: 'x', apiKey: secret, headers: { 'x-token': secret } }),
    files: mcp({ command: 'never-started', args: ['--key', secret], env: { TOKEN: secret } }),
  },
  toolApproval: { denied: 'denied', decided: () => 'approved' } as never,
  knowledge: { mode: 'tool', limit: 3, filters: { product: 'x' } },
  memory: { runs: 5 },
  output: Output.object({ schema: city }),
  guardrails: { output: noPrices },
  hooks: { modelCall: (_call, next) => next() },
  headers: { authorization: secret },
  providerOptions: { openai: { apiKey: secret } },
})

let server: RunningTestServer
beforeAll(async () => {
  const keys = [
    'the-key-of-operator',
    { key: 'the-key-of-ann', userId: 'ann' },
    { key: 'the-key-of-all', scopes: ['run', 'sessions', 'prompts', 'knowledge:read', 'knowledge:write', 'admin'] },
  ]
  server = await startServer({ auth: { keys } } as never, {
    rich,
    plain: agent({ model, instructions: 'Plain.' }),
    crew: team({ members: ['plain', 'rich'], mode: 'sequence', instructions: 'Work.' }),
    flow: workflow({ input: city, run: ({ input }) => input.city }),
    hosted: new ToolLoopAgent({
      id: 'hosted',
      model: new MockLanguageModelV4(),
      instructions: 'Hosted.',
      tools: { weather },
    }),
  })
})
afterAll(() => server.close())

const get = (id: string, key = 'operator', query = '?include=config') =>
  server.call('GET', `/api/v1/agents/${id}${query}`, undefined, { authorization: `Bearer the-key-of-${key}` })

test('an agent is shown as it is configured, without keys, headers and addresses', async () => {
  const { status, json, text } = await get('rich')
  expect(status).toBe(200)
  expect(json.config).toMatchObject({
    instructions: 'Be brief.',
    knowledge: { mode: 'tool', limit: 3, filters: { product: 'x' }, collection: null },
    memory: { runs: 5, tokens: null, summary: true },
    output_schema: citySchema,
    guardrails: { input: [], output: ['noPrices'] },
    hooks: ['modelCall'],
    members: [],
    mode: null,
    input_schema: null,
    source: null,
    version: null,
  })
  const tools = Object.fromEntries(json.config.tools.map((one: { name: string }) => [one.name, one]))
  expect(Object.keys(tools)).toEqual([
    ...['weather', 'wipe', 'denied', 'decided', 'helper', 'far', 'files', 'search_knowledge'],
  ])
  expect(tools.weather).toMatchObject({
    description: 'Tells the weather.',
    input_schema: citySchema,
    approval: 'never',
  })
  expect([tools.wipe.approval, tools.denied.approval, tools.decided.approval]).toEqual([
    'always',
    'denied',
    'sometimes',
  ])
  expect(tools.helper).toMatchObject({
    description: 'Asks the plain one.',
    input_schema: { properties: { question: { type: 'string' } } },
  })
  expect(tools.far.input_schema).toMatchObject({ properties: { message: { type: 'string' } } })
  expect(tools.files).toMatchObject({ input_schema: null })
  expect(tools.search_knowledge.input_schema).toMatchObject({ properties: { query: { type: 'string' } } })
  for (const hidden of [secret, 'far.test', 'x-token', 'authorization'])
    expect([hidden, text.includes(hidden)]).toEqual([hidden, false])
  const plain = await get('plain')
  expect(plain.json.config).toMatchObject({ instructions: 'Plain.', tools: [], version: expect.any(String) })
  expect([plain.text.includes(secret), plain.text.includes('the-provider')]).toEqual([false, false])
})

test('teams, workflows, agents with a run of their own and hosted agents tell what they have', async () => {
  expect((await get('crew')).json.config).toMatchObject({
    instructions: 'Work.',
    members: ['plain', 'rich'],
    mode: 'sequence',
    tools: [],
  })
  expect((await get('flow')).json.config).toMatchObject({ instructions: null, input_schema: citySchema })
  expect((await get('echo')).json.config).toMatchObject({ instructions: null, memory: null, version: null })
  expect((await get('hosted')).json.config).toMatchObject({
    instructions: 'Hosted.',
    tools: [{ name: 'weather', input_schema: citySchema }],
  })
})

test('only an operator may read it', async () => {
  for (const key of ['ann', 'all']) {
    const { status, json } = await get('rich', key)
    expect([key, status, json.error.code]).toEqual([key, 403, 'forbidden'])
    const plain = await get('rich', key, '')
    expect([plain.status, 'config' in plain.json]).toEqual([200, false])
    expect((await get('none', key)).status).toBe(404)
  }
  expect((await get('rich', 'operator', '')).json).not.toHaveProperty('config')
  expect((await get('rich', 'operator', '?include=other')).status).toBe(400)
})
