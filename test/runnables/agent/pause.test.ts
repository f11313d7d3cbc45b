import { Output } from 'ai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { serveAgents } from '../agent-server.ts'
import { answer, callTool, scripted } from '../fixture.ts'
import { weather } from '../weather.ts'

/** Says something, then calls the tool that waits for approval. */
const asking = [...answer('Let me look.').slice(0, -1), ...callTool('weather', { city: 'Bern' }).slice(1)]
const seen: unknown[] = []
beforeEach(() => {
  seen.length = 0
})
const waiting = { tools: { weather }, toolApproval: { weather: 'user-approval' as const } }

let server: Awaited<ReturnType<typeof serveAgents>>
beforeAll(async () => {
  server = await serveAgents({
    guarded: agent({
      ...waiting,
      model: scripted(asking, answer('21 degrees')),
      guardrails: {
        input: () => void seen.push('input'),
        output: ({ text }) => void seen.push(text),
      },
    }),
    refused: agent({
      ...waiting,
      model: scripted(asking),
      guardrails: { output: ({ text }) => (text.includes('look') ? { refuse: 'No looking.' } : undefined) },
    }),
    hooked: agent({
      ...waiting,
      model: scripted(asking, answer('21 degrees')),
      hooks: {
        run: async (_call, next) => void seen.push((await next()).text),
        toolCall: ({ name }, next) => next().finally(() => seen.push(name)),
      },
    }),
    structured: agent({
      ...waiting,
      model: scripted(asking, answer('{"degrees":21}')),
      output: Output.object({ schema: z.object({ degrees: z.number() }) }),
    }),
  })
})
afterAll(() => server.close())

async function askAndApprove(id: string) {
  const paused = (await server.ask(id, 'Bern?')).json
  expect(paused).toMatchObject({ status: 'input_required', content: 'Let me look.' })
  const { json } = await server.call('POST', `/api/v1/runs/${paused.run_id}/resume`, { approved: true })
  return json
}

test('a pause comes after what was said before it was checked; what goes on is not let in again', async () => {
  expect((await askAndApprove('guarded')).content).toBe('Let me look.21 degrees')
  expect(seen).toEqual(['input', 'Let me look.', '21 degrees'])
})

test('a run whose words are refused does not pause', async () => {
  expect((await server.ask('refused', 'Bern?')).json).toMatchObject({ status: 'completed', content: 'No looking.' })
})

test('hooks go round each stretch of a run that pauses, and round the tool once it is allowed', async () => {
  await askAndApprove('hooked')
  expect(seen).toEqual(['Let me look.', 'weather', '21 degrees'])
})

test('structured output comes with the stretch that gives it', async () => {
  expect((await askAndApprove('structured')).messages.at(-1).parts).toEqual([
    { type: 'text', text: 'Let me look.' },
    { type: 'data', data: { degrees: 21 } },
  ])
})
