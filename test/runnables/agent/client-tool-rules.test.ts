import { expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { toolSource } from '../../../src/runnables/tools/source.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { eventsOf } from '../agent-server.ts'
import { calls, pick, serveClientTools as serve, told } from '../client-tools.ts'
import { weather } from '../weather.ts'

const run_failed = (name: string) => ({
  error: {
    code: 'run_failed',
    message: `The client tool '${name}' has the name of a tool of the agent. Give the client tool another name.`,
  },
})

test('an output guardrail holds back the answer that follows the output of a client tool', async () => {
  const model = scriptedModel(calls('pick'), 'The secret is 7.')
  const output = ({ text }: { text: string }) => (text.includes('secret') ? { refuse: 'I keep that.' } : undefined)
  const { ask, pick: give, events } = await serve(agent({ model, guardrails: { output } }))
  const paused = await ask()
  expect(await give(paused)).toMatchObject({ status: 'completed', content: 'I keep that.' })
  expect(JSON.stringify(await events(paused.run_id))).not.toContain('secret')
})

test('an input guardrail that refuses keeps the model from the client tools', async () => {
  const model = scriptedModel(calls('pick'))
  const { ask } = await serve(agent({ model, guardrails: { input: () => ({ refuse: 'No.' }) } }))
  expect(await ask()).toMatchObject({ status: 'completed', content: 'No.' })
  expect(model.calls).toEqual([])
})

test('the output of a client tool does not approve a call of the agent', async () => {
  const wiped: unknown[] = []
  const wipe = tool({ inputSchema: z.object({}), execute: () => void wiped.push('disk') })
  const model = scriptedModel(calls('wipe', 'pick'), 'Done.')
  const { ask, resume } = await serve(agent({ model, tools: { wipe }, toolApproval: { wipe: 'user-approval' } }))
  const paused = await ask()
  for (const answer of [{ output: 'ok' }, { output: 'ok', approved: true }, { input: true }, {}]) {
    const refused = await resume(paused, { 'use-pick': { output: 'red' }, 'use-wipe': answer })
    expect(refused).toMatchObject({ error: { code: 'invalid_request' } })
  }
  for (const answer of [{ approved: true }, { input: 'red' }, { output: 1, error: 'x' }, {}]) {
    const refused = await resume(paused, { 'use-pick': answer, 'use-wipe': { approved: true } })
    expect(refused).toMatchObject({ error: { code: 'invalid_request' } })
  }
  expect(wiped).toEqual([])
  const answers = { 'use-pick': { output: { approved: true } }, 'use-wipe': { approved: false } }
  expect(await resume(paused, answers)).toMatchObject({ content: 'Done.' })
  expect(wiped).toEqual([])
})

test('a function for approvals holds for the tools of the agent, and may deny a client tool', async () => {
  const model = scriptedModel(calls('weather', 'pick', 'look'), 'Done.')
  const toolApproval = ({ toolCall }: { toolCall: { toolName: string } }) =>
    toolCall.toolName === 'look' ? ('denied' as const) : ('user-approval' as const)
  const { ask, resume, waiting, events } = await serve(agent({ model, tools: { weather }, toolApproval }))
  const paused = await ask({ client_tools: [pick, { ...pick, name: 'look' }] })
  expect(await waiting(paused)).toEqual(['approval use-weather', 'tool use-pick'])
  await resume(paused, { 'use-weather': { approved: true }, 'use-pick': { output: 'red' } })
  expect(told(model)).toMatchObject({
    'use-look': { type: 'execution-denied' },
    'use-pick': { value: 'red' },
    'use-weather': { value: { degrees: 21 } },
  })
  const results = eventsOf(await events(paused.run_id), 'tool_result')
  expect(results.filter(({ denied }) => denied).map(({ call_id }) => call_id)).toEqual(['use-look'])
  expect(results).toHaveLength(3)
})

test('a client tool that is denied alone does not pause the run', async () => {
  const { ask, events } = await serve(
    agent({ model: scriptedModel(calls('pick'), 'Done.'), toolApproval: () => 'denied' as const }),
  )
  const run = await ask()
  expect(run).toMatchObject({ status: 'completed', content: 'Done.' })
  expect(eventsOf(await events(run.run_id), 'tool_result')).toMatchObject([{ name: 'pick', denied: true }])
})

test('a tool that appears with the run, under the name of a client tool, fails the run', async () => {
  const late = toolSource({}, { open: async () => [{ name: 'pick', own: 'pick', tool: weather }] })
  const { ask } = await serve(agent({ model: scriptedModel('Hi.'), tools: { late } }))
  expect(await ask()).toMatchObject(run_failed('pick'))
})

test('a call that brings a tool under the name of a client tool fails the run', async () => {
  const prepareCall = ({ tools, ...rest }: { tools?: object }) => ({ ...rest, tools: { ...tools, pick: weather } })
  const settings = { model: scriptedModel('Hi.', 'Hi.'), prepareCall } as unknown as Parameters<typeof agent>[0]
  const { ask } = await serve(agent(settings))
  expect(await ask({ client_tools: [] })).toMatchObject({ content: 'Hi.' })
  expect(await ask()).toMatchObject(run_failed('pick'))
})

test('a call that keeps the tools that it is given keeps the client tools', async () => {
  const prepareCall = (given: { tools?: object }) => ({ ...given, tools: { ...given.tools, weather } })
  const model = scriptedModel(calls('pick'), 'Done.')
  const { ask, pick: give } = await serve(agent({ model, prepareCall } as unknown as Parameters<typeof agent>[0]))
  expect(await give(await ask())).toMatchObject({ content: 'Done.' })
  expect(model.calls[0]?.tools).toEqual(['pick', 'weather'])
})

test('what is too large for the model is cut, and what is too large for the record is refused', async () => {
  const model = scriptedModel(calls('pick', 'look'), 'Done.')
  const limits = { toolResult: { prompt: '1KB', record: '4KB' } }
  const { ask, resume, events } = await serve(agent({ model }), { limits })
  const paused = await ask({ client_tools: [pick, { ...pick, name: 'look' }] })
  const half = { 'use-look': { error: 'y'.repeat(2000) } }
  for (const large of [{ output: ['x'.repeat(4096)] }, { error: 'x'.repeat(4097) }]) {
    const { error } = await resume(paused, { ...half, 'use-pick': large })
    expect(error).toMatchObject({
      code: 'invalid_request',
      details: [{ path: expect.stringMatching(/^answers\.use-pick\./) }],
    })
    expect(error.message).toContain('the limit `toolResult.record` is 4 KB')
  }
  expect(await resume(paused, { ...half, 'use-pick': { output: ['x'.repeat(2000)] } })).toMatchObject({
    content: 'Done.',
  })
  const results = told(model) as Record<string, { type: string; value: string }>
  expect(results['use-pick']).toMatchObject({
    type: 'text',
    value: expect.stringContaining('[Truncated: the first 1 KB'),
  })
  expect(results['use-look']).toMatchObject({ type: 'error-text', value: expect.stringContaining('[Truncated') })
  const [pickEnd] = eventsOf(await events(paused.run_id), 'tool_result').filter(({ name }) => name === 'pick')
  expect(pickEnd?.output).toEqual(['x'.repeat(2000)])
})

test('pauses do not lift the limit of steps', async () => {
  const model = scriptedModel(() => calls('pick'))
  const { ask, pick: give } = await serve(agent({ model }), { limits: { run: { steps: 2 } } })
  const paused = await ask()
  expect(await give(paused)).toMatchObject({ status: 'input_required' })
  expect(await give(paused)).toMatchObject({ error: { code: 'run_limit' } })
  expect(model.calls).toHaveLength(2)
})

test('runs with other client tools do not share a cached answer', async () => {
  const model = scriptedModel(({ tools, number }) => `${number} ${tools.join()}`)
  const { ask } = await serve(agent({ model, cache: { ttl: '10m' } }))
  const contents = []
  const look = { ...pick, name: 'look' }
  for (const client_tools of [[], [pick], [pick], [look], [{ ...pick, description: 'Other.' }], [pick, look], []])
    contents.push((await ask({ client_tools })).content)
  expect(contents).toEqual(['1 ', '2 pick', '2 pick', '3 look', '4 pick', '5 pick,look', '1 '])
})
