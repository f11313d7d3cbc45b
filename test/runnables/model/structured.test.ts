import { Output } from 'ai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { eventsOf, serveAgents, typesOf } from '../agent-server.ts'
import { answer, callTool, scripted } from '../fixture.ts'
import { weather } from '../weather.ts'

const output = Output.object({ schema: z.object({ city: z.string(), degrees: z.number() }) })
const told = { city: 'Bern', degrees: 21 }
const words = () => answer('{"city":"Be', 'rn","degr', 'ees":21}')

const later = scripted(words(), answer('Yes'))
let server: Awaited<ReturnType<typeof serveAgents>>
beforeAll(async () => {
  server = await serveAgents({
    object: agent({ model: scripted(words(), words(), words()), output }),
    looped: agent({
      model: scripted(
        [...answer('Let me look.').slice(0, -1), ...callTool('weather', { city: 'Bern' }).slice(1)],
        words(),
      ),
      tools: { weather },
      output,
    }),
    choice: agent({ model: scripted(answer('{"result":"yes"}')), output: Output.choice({ options: ['yes', 'no'] }) }),
    list: agent({ model: scripted(answer('{"elements":[1,2]}')), output: Output.array({ element: z.number() }) }),
    misfit: agent({ model: scripted(answer('{"city":', '"Bern"}')), output }),
    broken: agent({ model: scripted(answer('{"city":"Be')), output }),
    text: agent({ model: scripted(answer('plain')), output: Output.text() }),
    later: agent({ model: later, output }),
    own: agent({
      *run() {
        yield 'Here: '
        yield { type: 'data', data: [1] }
        yield 'Done.'
      },
    }),
  })
})
afterAll(() => server.close())

test('the answer is one data part, in the answer, the stream and the record', async () => {
  const plain = await server.ask('object', 'Bern?')
  expect(plain.json).toMatchObject({ status: 'completed', content: JSON.stringify(told) })
  expect(plain.json.messages.at(-1)).toMatchObject({
    role: 'assistant',
    content: JSON.stringify(told),
    parts: [{ type: 'data', data: told }],
  })
  const { streamed } = await server.ask('object', 'Bern?', { stream: true })
  const recorded = ['run_start', 'model_call_start', 'model_call_end', 'data', 'run_end']
  expect(typesOf(streamed).filter((type) => type !== 'data_delta')).toEqual(recorded)
  expect(eventsOf(streamed, 'data')[0]?.data).toEqual(told)
  expect(typesOf(await server.events(plain.runId))).toEqual(recorded)
})

test('it is a data part over A2A, and JSON in its stream, marked when the caller asks for it', async () => {
  const message = { messageId: 'm1', role: 'user', agentId: 'object', parts: [{ type: 'text', content: 'Bern?' }] }
  const rpc = { jsonrpc: '2.0', method: 'sendMessage', id: '1', params: { message } }
  const sent = await server.call('POST', '/api/v1/a2a/sendMessage', rpc)
  expect(sent.json.result.task).toMatchObject({
    status: 'completed',
    messages: [{ role: 'assistant', parts: [{ type: 'data', data: JSON.stringify(told) }] }],
  })
  const streamed = await server.call('POST', '/api/v1/a2a/streamMessage', {
    ...rpc,
    method: 'streamMessage',
    params: { message: { ...message, agentId: 'list', messageId: 'm2' } },
  })
  expect(streamed.text.match(/^data: .*content.*$/gm)).toEqual(['data: {"type":"content","content":"[1,2]"}'])
  const marked = await server.call('POST', '/api/v1/a2a/streamMessage', {
    ...rpc,
    method: 'streamMessage',
    params: { message: { ...message, agentId: 'list', messageId: 'm2' }, markData: true },
  })
  expect(marked.text).toContain('data: {"type":"content","content":"[1,2]","part":"data"}\n\n')
})

test('what the model says before it calls tools stays text', async () => {
  const { json } = await server.ask('looped', 'Bern?')
  expect(json.messages.at(-1).parts).toEqual([
    { type: 'text', text: 'Let me look.' },
    { type: 'data', data: told },
  ])
})

test('every kind of output arrives as what it is', async () => {
  expect((await server.ask('choice', 'x')).json.messages.at(-1).parts).toEqual([{ type: 'data', data: 'yes' }])
  expect((await server.ask('text', 'x')).json.messages.at(-1).parts).toEqual([{ type: 'text', text: 'plain' }])
  expect((await server.ask('own', 'x')).json).toMatchObject({ content: 'Here: Done.' })
  const { json } = await server.ask('own', 'x')
  expect(json.messages.at(-1).parts).toEqual([
    { type: 'text', text: 'Here: ' },
    { type: 'data', data: [1] },
    { type: 'text', text: 'Done.' },
  ])
})

test('an answer that does not fit fails the run, says why, and is kept as text', async () => {
  const { status, json, runId } = await server.ask('misfit', 'x')
  expect(status).toBe(500)
  expect(json.error).toMatchObject({ code: 'run_failed', message: expect.stringMatching(/does not match .*degrees/s) })
  const record = (await server.call('GET', `/api/v1/runs/${runId}`)).json
  expect(record.messages.at(-1).content).toBe('{"city":"Bern"}')
  expect((await server.ask('broken', 'x')).json.error.message).toMatch(/does not match/)
})

test('the model sees in the next run what it gave', async () => {
  const { json } = await server.ask('later', 'Bern?')
  await server.ask('later', 'Sure?', { session_id: json.session_id })
  expect(JSON.stringify(later.doStreamCalls[1]?.prompt)).toContain(JSON.stringify(JSON.stringify(told)))
})
