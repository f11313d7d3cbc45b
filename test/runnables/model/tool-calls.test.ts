import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { eventsOf, serveAgents } from '../agent-server.ts'
import { answer, callTool, scripted } from '../fixture.ts'
import { weather } from '../weather.ts'

let heeded: unknown
const deaf = tool({ inputSchema: z.object({}), execute: () => new Promise<string>(() => {}) })
const heeding = tool({
  inputSchema: z.object({}),
  execute: (_input, { abortSignal }) =>
    new Promise<string>((_resolve, reject) => {
      abortSignal?.addEventListener('abort', () => {
        heeded = abortSignal.reason
        reject(abortSignal.reason)
      })
    }),
})
const progress = tool({
  inputSchema: z.object({}),
  async *execute() {
    yield 'half'
    yield 'whole'
  },
})
const twice = [
  { type: 'stream-start' as const, warnings: [] },
  ...['Bern', 'Basel'].map((city) => ({
    type: 'tool-call' as const,
    toolCallId: city,
    toolName: 'weather',
    input: JSON.stringify({ city }),
  })),
  ...callTool('weather', {}).slice(-1),
]
const limited = { toolMs: 20 }

let server: Awaited<ReturnType<typeof serveAgents>>
beforeAll(async () => {
  server = await serveAgents({
    deaf: agent({ model: scripted(callTool('deaf', {}), answer('Sorry')), tools: { deaf }, timeout: limited }),
    heeding: agent({ model: scripted(callTool('heeding', {}), answer('Sorry')), tools: { heeding }, timeout: limited }),
    one: agent({
      model: scripted(callTool('deaf', {}), answer('Sorry')),
      tools: { deaf, weather },
      timeout: { toolMs: 3_600_000, tools: { deafMs: 20 } },
    }),
    quick: agent({
      model: scripted(callTool('weather', { city: 'Bern' }), answer('21')),
      tools: { weather },
      timeout: { toolMs: 3_600_000 },
    }),
    progress: agent({
      model: scripted(callTool('progress', {}), answer('ok')),
      tools: { progress },
      timeout: { toolMs: 3_600_000 },
    }),
    wrongInput: agent({ model: scripted(callTool('weather', { town: 1 }), answer('Sorry')), tools: { weather } }),
    unknown: agent({ model: scripted(callTool('sunset', {}), answer('Sorry')), tools: { weather } }),
    parallel: agent({ model: scripted(twice, answer('Both')), tools: { weather } }),
  })
})
afterAll(() => server.close())

async function resultsOf(id: string) {
  const { json, runId } = await server.ask(id, 'x')
  const events = await server.events(runId)
  return {
    content: json.content,
    calls: eventsOf(events, 'tool_call'),
    results: eventsOf(events, 'tool_result'),
    events,
  }
}

test.each(['deaf', 'heeding', 'one'])(
  'a call that takes too long (%s) is an error for the model and in the record',
  async (id) => {
    const { content, results } = await resultsOf(id)
    expect(content).toBe('Sorry')
    expect(results).toMatchObject([{ error: { message: expect.stringMatching(/exceeded its limit of 20 ms/) } }])
  },
)

test('a tool that heeds its signal is told', () => {
  expect(heeded).toMatchObject({ message: expect.stringContaining('20 ms') })
})

test('a call within its limit gives its result, of a generator the last', async () => {
  expect((await resultsOf('quick')).results).toMatchObject([{ output: { city: 'Bern', degrees: 21 } }])
  expect((await resultsOf('progress')).results).toMatchObject([{ output: 'whole' }])
})

test('a call with wrong input, or of a tool that is not there, is an error for the model and in the record', async () => {
  const wrong = await resultsOf('wrongInput')
  expect(wrong.content).toBe('Sorry')
  expect(wrong.calls).toMatchObject([{ name: 'weather', input: { town: 1 } }])
  expect(wrong.results).toMatchObject([{ name: 'weather', error: { message: expect.stringContaining('city') } }])
  const unknown = await resultsOf('unknown')
  expect(unknown.content).toBe('Sorry')
  expect(unknown.results).toMatchObject([{ name: 'sunset', error: { message: expect.stringContaining('sunset') } }])
})

test('calls at the same time are events of their own', async () => {
  const { calls, results } = await resultsOf('parallel')
  expect(calls.map(({ call_id, input }) => [call_id, input])).toEqual([
    ['Bern', { city: 'Bern' }],
    ['Basel', { city: 'Basel' }],
  ])
  expect(results.map(({ call_id, output }) => [call_id, output])).toEqual([
    ['Bern', { city: 'Bern', degrees: 21 }],
    ['Basel', { city: 'Basel', degrees: 21 }],
  ])
})
