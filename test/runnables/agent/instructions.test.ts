import { afterAll, beforeAll, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { Json } from '../../../src/core/json.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { runContext } from '../../../src/runnables/base/run-context.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { serveAgents } from '../agent-server.ts'
import { answer, callTool, scripted } from '../fixture.ts'

const models = {
  personal: scripted(answer('ok'), answer('ok')),
  messages: scripted(answer('ok')),
  nothing: scripted(answer('ok')),
  wrong: scripted(answer('ok')),
  throwing: scripted(answer('ok')),
  paused: scripted(callTool('pay', { sum: 5 }), answer('paid')),
  lead: scripted(answer('ok')),
}
const pay = tool({ inputSchema: z.object({ sum: z.number() }), needsApproval: true, execute: () => 'paid' })
const asked: string[] = []
let server: Awaited<ReturnType<typeof serveAgents>>

beforeAll(async () => {
  const member = agent({ run: () => 'ok' })
  server = await serveAgents({
    personal: agent({
      model: models.personal,
      instructions: async ({ userId, state, metadata, text, parts }) => {
        expectTypeOf(userId).toEqualTypeOf<string | null>()
        expectTypeOf(state).toEqualTypeOf<Record<string, Json>>()
        return `You talk to ${userId} about ${text} (${parts.length} part, ${metadata.team}, ${runContext().entityId}).`
      },
    }),
    messages: agent({
      model: models.messages,
      instructions: () => [
        { role: 'system', content: 'One.' },
        { role: 'system', content: 'Two.' },
      ],
    }),
    nothing: agent({ model: models.nothing, instructions: () => undefined }),
    // @ts-expect-error A number is no text.
    wrong: agent({ model: models.wrong, instructions: () => 7 }),
    throwing: agent({
      model: models.throwing,
      instructions: () => {
        throw new Error('the directory of users did not answer')
      },
    }),
    paused: agent({
      model: models.paused,
      tools: { pay },
      instructions({ runId, resumed }) {
        asked.push(resumed === undefined ? 'first' : 'resumed')
        return `Run ${runId}.`
      },
    }),
    lead: team({
      mode: 'lead',
      model: models.lead,
      members: [member],
      instructions: ({ text }) => `Lead for ${text}.`,
    }),
  })
})
afterAll(() => server.close())

function system(model: ReturnType<typeof scripted>, call = 0): unknown[] {
  const prompt = model.doStreamCalls[call]?.prompt ?? []
  return prompt.flatMap(({ role, content }) => (role === 'system' ? [content] : []))
}

test('a function gets the run and tells the model who asks what', async () => {
  for (const user_id of ['ada', 'bob'])
    await server.call('POST', '/api/v1/agents/personal/run', { input: 'tea', user_id, metadata: { team: 'red' } })
  expect(system(models.personal, 0)).toEqual(['You talk to ada about tea (1 part, red, personal).'])
  expect(system(models.personal, 1)).toEqual(['You talk to bob about tea (1 part, red, personal).'])
  const { json } = await server.call('GET', '/api/v1/agents/personal?include=config')
  expect(json.config).toMatchObject({ instructions: null, hooks: ['instructions'], version: null })
})

test('a function may give messages or nothing, and what the caller adds comes after', async () => {
  await server.call('POST', '/api/v1/agents/messages/run', { input: 'x', instructions: 'Three.' })
  expect(system(models.messages)).toEqual(['One.', 'Two.', 'Three.'])
  await server.ask('nothing', 'x')
  expect(system(models.nothing)).toEqual([])
})

test('what is no text fails the run and says so, an error too, and no model is called', async () => {
  const { json } = await server.call('POST', '/api/v1/agents/wrong/run', { input: 'x' })
  expect(json.error).toMatchObject({ code: 'run_failed', message: expect.stringContaining('neither a text nor') })
  const thrown = await server.call('POST', '/api/v1/agents/throwing/run', { input: 'x' })
  expect(thrown.json.error.message).toMatch(/^The agent threw an error/)
  expect([models.wrong, models.throwing].flatMap(({ doStreamCalls }) => doStreamCalls)).toEqual([])
})

test('a resumed run asks again, and the leader of a team asks as well', async () => {
  const { json } = await server.call('POST', '/api/v1/agents/paused/run', { input: 'pay' })
  await server.call('POST', `/api/v1/runs/${json.run_id}/resume`, { approved: true })
  expect(asked).toEqual(['first', 'resumed'])
  expect([system(models.paused, 0), system(models.paused, 1)]).toEqual([
    [`Run ${json.run_id}.`],
    [`Run ${json.run_id}.`],
  ])
  await server.ask('lead', 'tea')
  expect(system(models.lead)).toEqual(['Lead for tea.'])
})
