import { tool } from 'ai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { eventsOf, serveAgents } from '../agent-server.ts'
import { answer, callTool, scripted } from '../fixture.ts'

const pick = {
  name: 'pick',
  description: 'Lets the user pick a color.',
  parameters: { type: 'object', properties: { of: { type: 'array' } } },
}

let server: Awaited<ReturnType<typeof serveAgents>>
const model = scripted(callTool('pick', { of: ['red', 'blue'] }), answer('You picked red.'))
beforeAll(async () => {
  server = await serveAgents({ plain: agent({ model }) })
})
afterAll(() => server.close())

test('the run pauses at a call of a client tool and goes on with its output', async () => {
  const paused = (await server.ask('plain', 'Hi', { client_tools: [pick] })).json
  expect(paused).toMatchObject({ status: 'input_required' })
  const events = await server.events(paused.run_id)
  expect(eventsOf(events, 'tool_call')).toMatchObject([{ call_id: 'use-pick', name: 'pick' }])
  expect(eventsOf(events, 'input_required')).toMatchObject([
    { call_id: 'use-pick', kind: 'tool', tool: 'pick', data: { of: ['red', 'blue'] } },
  ])
  expect(model.doStreamCalls[0]?.tools).toMatchObject([
    { type: 'function', name: 'pick', description: pick.description },
  ])
  const { json } = await server.call('POST', `/api/v1/runs/${paused.run_id}/resume`, {
    answers: { 'use-pick': { output: { color: 'red' } } },
  })
  expect(json).toMatchObject({ status: 'completed', content: 'You picked red.' })
})
