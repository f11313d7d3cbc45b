import { expect, test } from 'vitest'
import type { ModelUsage, Usage } from '../../src/core/run.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { team } from '../../src/runnables/team/team.ts'
import { asTool } from '../../src/runnables/tools/as-tool.ts'
import { workflow } from '../../src/runnables/workflow/workflow.ts'
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts'
import { eventsOf, serveAgents } from './agent-server.ts'
import { weather } from './weather.ts'

/** A model of this name whose calls use 1 in and 2 out, then 2 and 2, and so on. */
function model(modelId: string, ...answers: (string | ScriptedAnswer)[]) {
  const script = answers.map((answer, place) => ({
    ...(typeof answer === 'string' ? { text: answer } : answer),
    usage: { input_tokens: place + 1, output_tokens: 2 },
  }))
  return Object.assign(scriptedModel(...script), { provider: 'test.chat', modelId })
}

const entry = (
  name: string,
  input_tokens: number,
  output_tokens: number,
  largest_input_tokens: number,
): ModelUsage => ({
  model: `test/${name}`,
  input_tokens,
  output_tokens,
  total_tokens: input_tokens + output_tokens,
  largest_input_tokens,
})

function expectRun(run: { usage: Usage; usage_by_model: ModelUsage[] }, expected: ModelUsage[]): void {
  expect(run.usage_by_model).toEqual(expected)
  const total = expected.reduce((sum, one) => sum + one.total_tokens, 0)
  expect(run.usage.total_tokens).toBe(total)
}

test('a run has what it used by model, with the agent that it asked as a tool, before and after a pause', async () => {
  const child = agent({ model: model('child', 'Deep.'), description: 'Knows.' })
  const calls = (name: string, input: object) => ({ tool_calls: [{ name, input: input as never, call_id: name }] })
  const main = agent({
    model: model('main', calls('child', { question: 'How?' }), calls('weather', { city: 'Bern' }), 'Done.'),
    tools: { child: asTool('child'), weather },
    toolApproval: { weather: 'user-approval' },
  })
  await using server = await serveAgents({ main, child })
  const { json: paused } = await server.ask('main', 'Go')
  expect(paused.status).toBe('input_required')
  expectRun(paused, [entry('main', 3, 4, 2), entry('child', 1, 2, 1)].toReversed())
  const { json } = await server.call('POST', `/api/v1/runs/${paused.run_id}/resume`, { approved: true })
  expect(json.content).toBe('Done.')
  const read = (await server.call('GET', `/api/v1/runs/${paused.run_id}`)).json
  for (const run of [json, read]) {
    expect([...run.usage_by_model].sort((one, other) => (one.model < other.model ? -1 : 1))).toEqual([
      entry('child', 1, 2, 1),
      entry('main', 6, 6, 3),
    ])
    expect(run.usage).toEqual({ input_tokens: 7, output_tokens: 8, total_tokens: 15 })
  }
  const [step] = eventsOf(await server.events(paused.run_id), 'step_end')
  expect(step?.usage_by_model).toEqual([entry('child', 1, 2, 1)])
})

test('a team and a workflow have what their members and children used', async () => {
  const first = agent({ model: model('first', 'One.', 'Two.') })
  const second = agent({ model: model('second', 'Three.', 'Four.') })
  const both = team({ mode: 'sequence', members: ['first', 'second'] })
  const asks = workflow({
    async run({ ask }) {
      await ask('first', 'a')
      return (await ask('second', 'b')).text
    },
  })
  await using server = await serveAgents({ first, second, both, asks })
  const together = (await server.ask('both', 'Go')).json
  expectRun(together, [entry('first', 1, 2, 1), entry('second', 1, 2, 1)])
  const asked = (await server.ask('asks', 'Go')).json
  expectRun(asked, [entry('first', 2, 2, 2), entry('second', 2, 2, 2)])
})

test('a run without a model call has nothing by model', async () => {
  await using server = await serveAgents({ main: agent({ run: () => 'Hi' }) })
  const { json } = await server.ask('main', 'Go')
  expect(json).toMatchObject({ usage: null })
  expect(json).not.toHaveProperty('usage_by_model')
})
