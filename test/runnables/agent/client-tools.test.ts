import { join } from 'node:path'
import { Output } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { eventsOf, typesOf } from '../agent-server.ts'
import { calls, pick, serveClientTools as serve, told } from '../client-tools.ts'
import { weather } from '../weather.ts'

test('the run pauses at a call of a client tool, and continues with the output', async () => {
  const model = scriptedModel(calls('pick'), 'You picked red.')
  const { ask, pick: give, events } = await serve(agent({ model, tools: { weather } }))
  const paused = await ask()
  expect(paused).toMatchObject({ status: 'input_required', content: '' })
  expect(model.doStreamCalls[0]?.tools).toMatchObject([
    { name: 'weather' },
    { type: 'function', name: 'pick', description: pick.description, inputSchema: pick.parameters },
  ])
  expect(await give(paused, { color: 'red' })).toMatchObject({ status: 'completed', content: 'You picked red.' })
  expect(told(model)).toEqual({ 'use-pick': { type: 'json', value: { color: 'red' } } })
  const recorded = await events(paused.run_id)
  expect(typesOf(recorded)).toEqual([
    ...['run_start', 'model_call_start', 'tool_call', 'model_call_end', 'input_required'],
    ...['run_resumed', 'tool_result', 'model_call_start', 'text_delta', 'text_delta', 'text_delta'],
    ...['model_call_end', 'run_end'],
  ])
  expect(eventsOf(recorded, 'input_required')).toMatchObject([
    { call_id: 'use-pick', kind: 'tool', tool: 'pick', data: { of: ['red'] } },
  ])
  expect(eventsOf(recorded, 'tool_result')).toMatchObject([
    { call_id: 'use-pick', name: 'pick', output: { color: 'red' }, duration_ms: expect.any(Number) },
  ])
})

test('an output that names a file which the session does not have is told as such', async () => {
  const model = scriptedModel(calls('pick'), calls('look'), 'Done.')
  const { ask, resume, pick: give } = await serve(agent({ model }))
  const paused = await ask({ client_tools: [pick, { ...pick, name: 'look' }] })
  const again = await give(paused, { type: 'file', media_type: 'image/png', file_id: 'file_gone' })
  expect(again).toMatchObject({ status: 'input_required' })
  expect(await resume(again, { 'use-look': { output: 'seen' } })).toMatchObject({
    status: 'completed',
    content: 'Done.',
  })
})

test('an error of the client is told to the model as an error', async () => {
  const model = scriptedModel(calls('pick'), 'Sorry.')
  const { ask, resume, events } = await serve(agent({ model }))
  const paused = await ask()
  await resume(paused, { 'use-pick': { error: 'The window was closed.' } })
  expect(told(model)).toEqual({ 'use-pick': { type: 'error-text', value: 'The window was closed.' } })
  expect(eventsOf(await events(paused.run_id), 'tool_result')).toMatchObject([
    { error: { message: 'The window was closed.' } },
  ])
})

test('one step may execute a tool, ask for an approval and hand over calls', async () => {
  const model = scriptedModel(calls('weather', 'wipe', 'pick', 'look'), 'Done.')
  const wiped: unknown[] = []
  const wipe = tool({ inputSchema: z.object({}), execute: () => wiped.push('disk') })
  const { ask, resume, waiting } = await serve(
    agent({ model, tools: { weather, wipe }, toolApproval: { wipe: 'user-approval' } }),
  )
  const paused = await ask({ client_tools: [pick, { ...pick, name: 'look' }] })
  expect(await waiting(paused)).toEqual(['approval use-wipe', 'tool use-pick', 'tool use-look'])
  expect(wiped).toEqual([])
  const picked = { 'use-pick': { output: 'red' }, 'use-wipe': { approved: true } }
  expect(await resume(paused, picked)).toMatchObject({ error: { code: 'invalid_request' } })
  expect(await resume(paused, { ...picked, 'use-look': { output: 7 } })).toMatchObject({ content: 'Done.' })
  expect(wiped).toEqual(['disk'])
  expect(told(model)).toEqual({
    'use-weather': { type: 'json', value: { city: 'Bern', degrees: 21 } },
    'use-pick': { type: 'text', value: 'red' },
    'use-look': { type: 'json', value: 7 },
    'use-wipe': { type: 'json', value: 1 },
  })
})

test('an approval that is denied beside a client tool is told to the model', async () => {
  const model = scriptedModel(calls('weather', 'pick'), 'Done.')
  const { ask, resume } = await serve(agent({ model, tools: { weather }, toolApproval: { weather: 'user-approval' } }))
  await resume(await ask(), { 'use-pick': { output: 'red' }, 'use-weather': { approved: false, reason: 'No.' } })
  expect(told(model)).toMatchObject({
    'use-pick': { type: 'text', value: 'red' },
    'use-weather': { type: 'execution-denied', reason: 'No.' },
  })
})

test('a run may pause several times, also with call ids that repeat', async () => {
  const model = scriptedModel(calls('pick'), calls('pick'), 'Red, then blue.')
  const { ask, pick: give, waiting, events } = await serve(agent({ model }))
  const paused = await ask()
  expect(await give(paused, 'red')).toMatchObject({ status: 'input_required' })
  expect(await waiting(paused)).toEqual(['tool use-pick'])
  expect(await give(paused, 'blue')).toMatchObject({ status: 'completed', content: 'Red, then blue.' })
  const results = eventsOf(await events(paused.run_id), 'tool_result')
  expect(results.map(({ output }) => output)).toEqual(['red', 'blue'])
  const prompt = model.calls.at(-1)?.prompt.map(({ role }) => role)
  expect(prompt).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool'])
})

test('client tools are offered beside the active tools of an agent', async () => {
  const model = scriptedModel('Hello.')
  const { ask } = await serve(agent({ model, tools: { weather, hidden: weather }, activeTools: ['weather'] }))
  await ask()
  expect(model.calls[0]?.tools).toEqual(['weather', 'pick'])
})

test('a call of a tool that does not exist goes back to the model', async () => {
  const broken = { tool_calls: [{ name: 'nope', call_id: 'use-nope' }] }
  const model = scriptedModel(broken, calls('pick'), 'Done.')
  const { ask, pick: give } = await serve(agent({ model }))
  expect(await give(await ask())).toMatchObject({ content: 'Done.' })
  expect(told(model)).toMatchObject({ 'use-nope': { type: 'error-text' }, 'use-pick': { value: 'red' } })
})

test('an answer that was cut off does not wait for its calls', async () => {
  const { ask } = await serve(agent({ model: scriptedModel({ ...calls('pick'), finish_reason: 'length' }) }))
  expect(await ask()).toMatchObject({ status: 'completed' })
})

test('names that objects have are names of client tools too', async () => {
  for (const name of ['constructor', '__proto__', 'toString']) {
    const model = scriptedModel(calls(name), 'Done.')
    const { ask, resume } = await serve(agent({ model }))
    const paused = await ask({ client_tools: [{ ...pick, name }] })
    expect(paused).toMatchObject({ status: 'input_required' })
    expect(await resume(paused, { [`use-${name}`]: { output: 1 } })).toMatchObject({ content: 'Done.' })
  }
})

test('structured output comes after the output of a client tool, whatever the model says of its end', async () => {
  const model = scriptedModel({ text: 'Let me ask.', ...calls('pick'), finish_reason: 'stop' }, '{"color":"red"}')
  const { ask, pick: give } = await serve(
    agent({ model, output: Output.object({ schema: z.object({ color: z.string() }) }) }),
  )
  const { messages } = await give(await ask())
  expect(messages.at(-1).parts).toEqual([
    { type: 'text', text: 'Let me ask.' },
    { type: 'data', data: { color: 'red' } },
  ])
})

test('a restarted server resumes with the same client tools', async () => {
  const model = scriptedModel(calls('pick'), calls('pick'), 'Done.')
  await using folder = await temporaryFolder()
  const config = { sessionStorage: { type: 'sqlite', path: join(folder.path, 'agentserve.db') } }
  const first = await serve(agent({ model }), config)
  const paused = await first.ask()
  await first.server.shutdown({ deadline: 1000 })
  await using second = await serve(agent({ model }), config)
  expect(await second.pick(paused)).toMatchObject({ status: 'input_required' })
  expect(await second.pick(paused)).toMatchObject({ content: 'Done.' })
  expect(model.calls.map(({ tools }) => tools)).toEqual([['pick'], ['pick'], ['pick']])
})
