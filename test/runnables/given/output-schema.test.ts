import { Output, ToolLoopAgent, tool } from 'ai'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { type Script, scriptedModel } from '../../../src/testing/scripted-model.ts'
import { eventsOf, serveAgents } from '../agent-server.ts'

const bern = { city: 'Bern', degrees: 21 }
const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'number' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
}
const saying = (value: unknown) => scriptedModel(() => JSON.stringify(value))

async function serve(entities: Record<string, object>) {
  const server = await serveAgents(entities)
  onTestFinished(() => server.close())
  return server
}

test('the answer is a data part that matches the schema, and the model is told it', async () => {
  const model = saying(bern)
  const server = await serve({ it: agent({ model }), text: agent({ model, output: Output.text() }) })
  for (const id of ['it', 'text']) {
    const { status, json } = await server.ask(id, 'Bern?', { output_schema: schema })
    expect([status, json.content]).toEqual([200, JSON.stringify(bern)])
    expect(json.messages.at(-1).parts).toEqual([{ type: 'data', data: bern }])
  }
  const { streamed } = await server.ask('it', 'Bern?', { output_schema: schema, stream: true })
  expect(eventsOf(streamed, 'text_delta')).toEqual([])
  expect(eventsOf(streamed, 'data').map(({ data }) => data)).toEqual([bern])
  expect(model.doStreamCalls.map(({ responseFormat }) => responseFormat)).toEqual(
    Array(3).fill({ type: 'json', schema }),
  )
  expect((await server.ask('it', 'Bern?')).json.messages.at(-1).parts[0].type).toBe('text')
})

test.each([
  ['{"city":"Bern"}', 'data.degrees is required'],
  ['{"city":"Bern","degrees":"warm"}', 'data.degrees must be number'],
  ['{"city":"Bern","degrees":1,"more":1}', 'data.more is not allowed'],
  ['Bern is warm.', '`output_schema`'],
  ['', '`output_schema`'],
])('the answer %j fails the run and keeps its text', async (text, words) => {
  const server = await serve({ it: agent({ model: scriptedModel({ text }) }) })
  const { status, json } = await server.ask('it', 'Bern?', { output_schema: schema })
  expect([status, json.error.code]).toEqual([500, 'run_failed'])
  expect(json.error.message).toContain(words)
  const run = (await server.call('GET', `/api/v1/runs/${json.error.run_id}`)).json
  expect(run.content).toBe(text)
})

test('only an agent with a model and without an output of its own takes one', async () => {
  const model = saying(bern)
  const member = agent({ name: 'member', model })
  const server = await serve({
    typed: agent({ model, output: Output.object({ schema: z.object({ city: z.string() }) }) }),
    own: agent({ run: () => 'ok' }),
    offline: agent({}),
    hosted: new ToolLoopAgent({ model }),
    flow: workflow({ run: () => 'ok' }),
    pair: team({ members: [member] }),
    led: team({ mode: 'lead', members: [member], model }),
  })
  for (const id of ['typed', 'own', 'offline', 'hosted', 'flow', 'pair', 'led']) {
    const { status, json, headers } = await server.ask(id, 'x', { output_schema: schema })
    expect([status, json.error.code, headers.get('x-run-id')], id).toEqual([400, 'invalid_request', null])
    expect(json.error.message).toContain(`'${id}' takes no \`output_schema\``)
  }
  expect((await server.call('GET', '/api/v1/runs')).json.count).toBe(0)
  expect(model.calls).toEqual([])
})

let deep: object = { type: 'string' }
for (let level = 0; level < 70; level++) deep = { not: deep }
test.each([
  [7, 'output_schema must be a JSON object'],
  [[], 'output_schema must be a JSON object'],
  ['{}', 'output_schema must be a JSON object'],
  [{ type: 'text' }, 'output_schema.type'],
  [{ type: 'object', properties: 'x' }, 'output_schema.properties'],
  [{ $ref: 'https://example.org/schema.json' }, 'output_schema is no usable JSON schema'],
  [{ $ref: '#/$defs/none' }, 'output_schema is no usable JSON schema'],
  [{ pattern: '(' }, 'output_schema'],
  [{ description: 'x'.repeat(70_000) }, 'output_schema` has'],
  [{ properties: { a: deep } }, 'nested deeper'],
])('the wrong schema number %# is refused before a run exists', async (output_schema, words) => {
  const server = await serve({ it: agent({ model: saying(bern) }) })
  const { status, json } = await server.ask('it', 'x', { output_schema })
  expect([status, json.error.code]).toEqual([400, 'invalid_request'])
  expect(json.error.message).toContain(words)
  expect((await server.call('GET', '/api/v1/runs')).json.count).toBe(0)
})

test('a pattern that takes forever fails its run, and the server goes on', async () => {
  const server = await serve({ it: agent({ model: saying(`${'a'.repeat(60)}!`) }) })
  const { status, json } = await server.ask('it', 'x', { output_schema: { type: 'string', pattern: '^(a+)+$' } })
  expect([status, json.error.code]).toEqual([500, 'run_failed'])
  expect((await server.ask('echo', 'still here')).json.content).toBe('still here')
})

test('output guardrails check the data', async () => {
  const output = ({ data }: { data: unknown }) =>
    (data as { degrees?: number } | undefined)?.degrees === 21 ? { refuse: 'Too warm.' } : undefined
  const server = await serve({ it: agent({ model: saying(bern), guardrails: { output } }) })
  const { json, runId } = await server.ask('it', 'x', { output_schema: schema })
  expect(json.messages.at(-1).parts).toEqual([{ type: 'text', text: 'Too warm.' }])
  expect(JSON.stringify(eventsOf(await server.events(runId), 'data'))).not.toContain('21')
})

test('tools run before the answer, and a resumed run keeps the schema', async () => {
  const look = tool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'warm' })
  const script: Script = ({ number }) =>
    number === 1 ? { text: 'Let me look.', tool_calls: [{ name: 'look', input: {} }] } : JSON.stringify(bern)
  const it = agent({ model: scriptedModel(script), tools: { look }, toolApproval: { look: 'user-approval' } })
  const server = await serve({ it })
  const { json } = await server.ask('it', 'x', { output_schema: schema })
  expect(json.status).toBe('input_required')
  const resumed = await server.call('POST', `/api/v1/runs/${json.run_id}/resume`, { approved: true })
  expect(resumed.json.messages.at(-1).parts).toEqual([
    { type: 'text', text: 'Let me look.' },
    { type: 'data', data: bern },
  ])
})

test('code that prepares the call keeps the schema of the caller', async () => {
  const model = saying(bern)
  const it = agent({
    model,
    prepareCall: ({ instructions }) => ({ model, instructions, messages: [{ role: 'user', content: 'y' }] }) as never,
  })
  const server = await serve({ it })
  const { json } = await server.ask('it', 'x', { output_schema: schema })
  expect(json.messages.at(-1).parts).toEqual([{ type: 'data', data: bern }])
})
