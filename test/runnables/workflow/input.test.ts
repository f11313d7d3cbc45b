import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { serveAgents } from '../agent-server.ts'

const told = ({ input }: { input: unknown }) => JSON.stringify(input)
const report = workflow({
  input: z.object({ topic: z.string(), depth: z.object({ pages: z.int().max(9) }).optional() }),
  run: told,
})
const never = new Promise<never>(() => {})

let server: Awaited<ReturnType<typeof serveAgents>>
beforeAll(async () => {
  server = await serveAgents(
    {
      report,
      free: workflow({ run: ({ text, parts }) => JSON.stringify({ text, parts }) }),
      many: workflow({ input: z.array(z.string()), run: told }),
      parts: workflow({ input: z.object({ parts: z.string() }), run: told }),
      later: workflow({
        input: z.object({ id: z.string().refine(async (id) => id === 'known', 'is unknown') }),
        run: told,
      }),
      thrower: workflow({
        input: z.string().transform(() => {
          throw new TypeError('the secret of the schema')
        }),
        run: told,
      }),
      endless: workflow({ input: z.string().refine(() => never), run: told }),
      inTeam: team({ members: [report] }),
      model: agent({ run: ({ text, parts }) => JSON.stringify({ text, parts }) }),
    },
    { requestTimeout: '500ms' },
  )
})
afterAll(() => server.close())

const runs = async () => (await server.call('GET', '/api/v1/runs?limit=100')).json.count
const sessions = async () => (await server.call('GET', '/api/v1/sessions?limit=100')).json.count

test('an object is the input of a workflow, as data, as JSON text or as it is', async () => {
  const input = { topic: 'walrus', depth: { pages: 3 } }
  for (const given of [input, JSON.stringify(input), { parts: [{ type: 'data', data: input }] }]) {
    expect((await server.ask('report', given)).json.content).toBe(JSON.stringify(input))
  }
  expect((await server.ask('parts', { parts: 'x' })).json.content).toBe('{"parts":"x"}')
  const both = { parts: [{ type: 'text', text: 'a' }], more: 1 }
  for (const given of [both, {}, { parts: {} }, { type: 'text', text: 'a' }]) {
    const { json } = await server.ask('model', given)
    expect(JSON.parse(json.content)).toEqual({ text: '', parts: [{ type: 'data', data: given }] })
  }
  const { json } = await server.ask('model', { parts: [{ type: 'text', text: 'a' }] })
  expect(JSON.parse(json.content)).toEqual({ text: 'a', parts: [{ type: 'text', text: 'a' }] })
})

test.each([
  [{}, ['input.topic']],
  [{ topic: 7 }, ['input.topic']],
  [{ topic: 'x', depth: { pages: 12 } }, ['input.depth.pages']],
  [{ depth: { pages: 'x' } }, ['input.topic', 'input.depth.pages']],
  ['hello', ['input']],
  ['{"topic":', ['input']],
  [{ parts: [{ type: 'text', text: 'hello' }] }, ['input']],
])('wrong input %j is 400 with the paths, before a run exists', async (input, paths) => {
  const before = [await runs(), await sessions()]
  for (const more of [{}, { stream: true }, { background: true }]) {
    const { status, json, headers } = await server.ask('report', input, more)
    expect([status, json.error.code, headers.get('x-run-id')]).toEqual([400, 'invalid_request', null])
    expect(json.error.details.map(({ path }: { path: string }) => path)).toEqual(paths)
    for (const path of paths) expect(json.error.message).toContain(`${path}: `)
  }
  expect([await runs(), await sessions()]).toEqual(before)
})

test('A2A says the same with -32602', async () => {
  const rest = await server.ask('report', { topic: 7 })
  const before = await runs()
  for (const method of ['sendMessage', 'streamMessage']) {
    const parts = [{ type: 'data', data: '{"topic":7}' }]
    const message = { messageId: method, role: 'user', agentId: 'report', parts }
    const rpc = { jsonrpc: '2.0', method, id: '1', params: { message } }
    const { status, json } = await server.call('POST', `/api/v1/a2a/${method}`, rpc)
    expect([status, json.error]).toEqual([200, { code: -32602, message: rest.json.error.message }])
  }
  expect(await runs()).toBe(before)
})

test('a schema may ask others, and the first of many mistakes are named', async () => {
  expect((await server.ask('later', { id: 'known' })).status).toBe(200)
  expect((await server.ask('later', { id: 'other' })).json.error.details).toEqual([
    { path: 'input.id', message: 'is unknown' },
  ])
  const parts = [{ type: 'data', data: Array(5_000).fill(7) }]
  const { status, json } = await server.ask('many', { parts })
  expect([status, json.error.details.length]).toEqual([400, 20])
  expect(json.error.message).toContain('and 4980 more')
})

test('a schema that throws or never ends is the fault of the server, and starts no run', async () => {
  const before = await runs()
  const thrown = await server.ask('thrower', 'x')
  expect(thrown.status).toBe(500)
  expect(thrown.text).not.toContain('secret')
  const late = await server.ask('endless', 'x')
  expect([late.status, late.json.error.code]).toEqual([504, 'timeout'])
  expect(await runs()).toBe(before)
})

test('a member of a team that gets the wrong input fails its run, as it did', async () => {
  const { status, json } = await server.ask('inTeam', { topic: 7 })
  expect([status, json.error.code]).toEqual([500, 'run_failed'])
  expect(json.error.message).toContain('input.topic')
})

test('without a schema every input is taken', async () => {
  expect(JSON.parse((await server.ask('free', { topic: 7 })).json.content)).toEqual({
    text: '',
    parts: [{ type: 'data', data: { topic: 7 } }],
  })
})
