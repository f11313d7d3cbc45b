import { ToolLoopAgent } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { remoteAgent } from '../../../src/runnables/tools/remote-agent.ts'
import { toolSource } from '../../../src/runnables/tools/source.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { weather } from '../../runnables/weather.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const model = scriptedModel(() => 'Hello.')
const pick = { name: 'pick', parameters: { type: 'object', properties: {} } }
/** Its tools are known once it is opened, as those of an MCP server. */
const github = toolSource({}, { open: async () => [] })
const there = remoteAgent({ url: 'http://127.0.0.1:1', agentId: 'there' })

let server: RunningTestServer
beforeAll(async () => {
  const config = { limits: { clientTools: { count: 2, schemas: '1KB' } } }
  const main = agent({ model, tools: { weather, github, there }, knowledge: { mode: 'tool' } })
  server = await startServer(config, {
    main,
    offline: agent({}),
    own: agent({ run: () => 'Hello.' }),
    hosted: new ToolLoopAgent({ model }),
    group: team({ members: [main], mode: 'lead', model }),
    flow: workflow({ run: async () => 'Hello.' }),
  })
})
afterAll(() => server.close())

const run = (client_tools: unknown, id = 'main') =>
  server.call('POST', `/api/v1/agents/${id}/run`, { input: 'Hi', client_tools })

async function refusal(client_tools: unknown, id?: string) {
  const { status, json } = await run(client_tools, id)
  const { sessions } = (await server.call('GET', '/api/v1/sessions')).json
  return { status, sessions: sessions.length, message: json.error?.message, path: json.error?.details?.[0]?.path }
}

describe('client tools are refused before a run exists', () => {
  test.each(['offline', 'own', 'hosted', 'group', 'flow', 'there'])(
    'by %s, which has no model to offer them to',
    async (id) => {
      if (id === 'there') server.server.registerAgent('there', there)
      const refused = await refusal([pick], id)
      expect(refused).toMatchObject({ status: 400, sessions: 0, path: 'client_tools' })
      expect(refused.message).toContain(`'${id}' takes no client tools. Only an agent({ … }) that answers with a model`)
    },
  )

  const problems: [what: string, tools: unknown, path: string, message: string][] = [
    [
      'more than the limit',
      [pick, { ...pick, name: 'b' }, { ...pick, name: 'c' }],
      'client_tools',
      'the limit `clientTools.count` is 2',
    ],
    [
      'too large',
      [{ ...pick, description: 'x'.repeat(1024) }],
      'client_tools',
      'the limit `clientTools.schemas` is 1 KB',
    ],
    ['two of a name', [pick, pick], 'client_tools.1.name', "is 'pick', like an earlier"],
    ["the name of the agent's tool", [{ ...pick, name: 'weather' }], 'client_tools.0.name', 'a tool of that name'],
    ['the name of a remote agent', [{ ...pick, name: 'there' }], 'client_tools.0.name', 'a tool of that name'],
    ['the name of the search', [{ ...pick, name: 'search_knowledge' }], 'client_tools.0.name', 'a tool of that name'],
    ['a name for MCP tools', [{ ...pick, name: 'github_wipe' }], 'client_tools.0.name', "begin with 'github_'"],
    ['the name of an MCP server', [{ ...pick, name: 'github' }], 'client_tools.0.name', 'a tool of that name'],
    ['a name with a space', [{ ...pick, name: 'pick it' }], 'client_tools.0.name', 'letters, digits'],
    ['an empty name', [{ ...pick, name: '' }], 'client_tools.0.name', 'must not be empty'],
    ['a long name', [{ ...pick, name: 'x'.repeat(65) }], 'client_tools.0.name', 'at most 64'],
    ['no schema', [{ name: 'pick' }], 'client_tools.0.parameters', 'is required'],
    [
      'a schema that is a text',
      [{ ...pick, parameters: 'none' }],
      'client_tools.0.parameters',
      'must be a JSON object',
    ],
    [
      'another type of schema',
      [{ ...pick, parameters: { type: 'array' } }],
      'client_tools.0.parameters.type',
      "must be 'object'",
    ],
    [
      'a schema that is none',
      [{ ...pick, parameters: { properties: [] } }],
      'client_tools.0.parameters.properties',
      'must be object',
    ],
    ['no list', pick, 'client_tools', 'must be a list'],
    ['no objects', ['pick'], 'client_tools.0', ''],
  ]
  test.each(problems)('%s', async (_what, tools, path, message) => {
    const refused = await refusal(tools)
    expect(refused).toMatchObject({ status: 400, sessions: 0, path })
    expect(refused.message).toContain(message)
  })
})

test('an empty list is no client tool for any entity', async () => {
  expect((await run([], 'own')).json).toMatchObject({ content: 'Hello.' })
  expect((await run(null, 'own')).json).toMatchObject({ content: 'Hello.' })
})

test('a schema without a type is one of an object', async () => {
  const before = model.calls.length
  expect((await run([{ name: 'pick', description: '', parameters: {} }])).status).toBe(200)
  expect(model.doStreamCalls[before]?.tools).toContainEqual(
    expect.objectContaining({ name: 'pick', inputSchema: { type: 'object', properties: {} } }),
  )
})
