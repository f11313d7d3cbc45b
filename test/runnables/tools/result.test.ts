import { ToolLoopAgent } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { eventsOf, serveAgents } from '../agent-server.ts'

const circle: Record<string, unknown> = {}
circle.self = circle
const ownCause = new Error('its own cause')
ownCause.cause = ownCause

const inputSchema = z.object({})
const calling = () => scriptedModel({ tool_calls: [{ name: 'odd', input: {} }] }, 'enough')
const withTool = (execute: () => unknown, more = {}) =>
  agent({ model: calling(), tools: { odd: tool({ inputSchema, execute, ...more }) as never } })

async function ask(entity: object, limits = {}) {
  await using server = await serveAgents({ main: entity }, { limits })
  const { status, json, runId } = await server.ask('main', 'go')
  const events = await server.events(runId)
  return { status, json, events, results: eventsOf(events, 'tool_result') }
}

describe('a tool', () => {
  it.each([
    ['a BigInt', () => 1n, "The tool 'odd' returned a value that is not JSON: Do not know how to serialize a BigInt"],
    ['a BigInt inside', async () => ({ deep: [1n] }), "The tool 'odd' returned a value that is not JSON"],
    [
      'a circle',
      () => circle,
      "The tool 'odd' returned a value that is not JSON: Converting circular structure to JSON",
    ],
    [
      'one result after the other, the last of them a BigInt',
      async function* () {
        yield 'one'
        yield 2n
      },
      "The tool 'odd' returned a value that is not JSON",
    ],
  ])('that gives %s tells the model so by its name, and the run goes on', async (_, execute, said) => {
    const { status, results } = await ask(withTool(execute))
    expect(results[0]?.error?.message).toContain(said)
    expect(status).toBe(200)
  })

  it.each([
    ['nothing', undefined],
    ['a BigInt', 7n],
    ['a circle', circle],
    ['an object without a prototype', Object.create(null)],
    ['an error that is its own cause', ownCause],
    ['an error without a message', new Error('')],
  ])('that throws %s fails its call', async (_, thrown) => {
    const { status, results } = await ask(
      withTool(() => {
        throw thrown
      }),
    )
    expect(results[0]?.error?.message).toMatch(
      thrown instanceof Error ? /Error|its own cause/ : /The tool 'odd' failed/,
    )
    expect(status).toBe(200)
  })

  it('that tells the model what is no JSON fails the run with its name', async () => {
    const toModelOutput = () => ({ type: 'json', value: 1n })
    const { status, json } = await ask(withTool(() => 'fine', { toModelOutput }))
    expect(status).toBe(500)
    expect(json.error.message).toContain("The tool 'odd' failed in `toModelOutput`: Do not know how")
  })

  it('of an agent of the AI SDK is named too when its result is no JSON', async () => {
    const hosted = new ToolLoopAgent({
      model: calling(),
      tools: { odd: tool({ inputSchema, execute: async () => 1n as unknown as string }) },
    })
    const { status, json } = await ask(hosted)
    expect(status).toBe(500)
    expect(json.error.message).toContain("The tool 'odd' returned a value that is not JSON")
  })

  it('whose result is over `toolResult.record` fails its call with the name of the limit', async () => {
    const limits = { toolResult: { record: '1KB' } }
    const { status, results } = await ask(
      withTool(() => ({ text: 'x'.repeat(2000) })),
      limits,
    )
    expect(results[0]?.error?.message).toContain(
      "The tool 'odd' returned more than 1 KB, the limit `toolResult.record`",
    )
    expect(results[0]?.error?.message).toContain('`server.limits.toolResult.record`')
    expect(status).toBe(200)
  })

  it('whose result is over `toolResult.prompt` is recorded whole and told in part, with a note', async () => {
    const limits = { toolResult: { prompt: '1KB' } }
    const texts = [
      () => '€'.repeat(1000),
      () => ({ text: 'x'.repeat(3000) }),
      () => Promise.reject(new Error('y'.repeat(3000))),
    ]
    for (const execute of texts) {
      const { results, events } = await ask(withTool(execute), limits)
      const [, second] = eventsOf(events, 'model_call_start')
      const told = JSON.stringify(second?.messages)
      expect(told).toMatch(/\[Truncated: the first 1 KB of 2\.\d+ KB are shown\.\]/)
      expect(told).not.toContain('\uFFFD')
      expect(told.length).toBeLessThan(2500)
      if (results[0]?.error === undefined) expect(JSON.stringify(results[0]?.output).length).toBeGreaterThan(1000)
    }
  })
})

describe('a model that calls tools for ever', () => {
  const forever = () => scriptedModel(() => ({ tool_calls: [{ name: 'odd', input: {} }] }))
  const tools = { odd: tool({ inputSchema, execute: async () => 'more' }) }

  it('ends with the limit `run.steps`', async () => {
    const { status, json, results } = await ask(agent({ model: forever(), tools }), { run: { steps: 3 } })
    expect(status).toBe(500)
    expect(json.error).toMatchObject({ code: 'run_limit', message: expect.stringContaining('`run.steps` of 3') })
    expect(json.error.message).toContain('`server.limits.run.steps`')
    expect(results).toHaveLength(3)
  })

  it('may go on for as long as its agent says in `stopWhen`', async () => {
    const stopWhen = ({ steps }: { steps: readonly unknown[] }) => steps.length === 5
    const { status, results } = await ask(agent({ model: forever(), tools, stopWhen }), { run: { steps: 3 } })
    expect([status, results.length]).toEqual([200, 5])
  })
})

describe('what is held back', () => {
  const endless = async function* () {
    for (;;) yield 'more and more '
  }

  it('for an output guardrail ends with the limit `run.output`', async () => {
    const { json } = await ask(agent({ run: endless, guardrails: { output: () => {} } }), { run: { output: '64KB' } })
    expect(json.error).toMatchObject({ code: 'run_limit', message: expect.stringContaining('`run.output` of 64 KB') })
  })
})

describe('other things that are no JSON', () => {
  it.each([
    [
      'data',
      agent({
        run: async function* () {
          yield { type: 'data', data: 1n } as never
        },
      }),
      'The agent emitted a data that is not JSON: Do not know how',
    ],
    [
      'a tool_call',
      agent({
        run: async function* () {
          yield { type: 'tool_call', call_id: 'c', name: 'look', input: circle } as never
        },
      }),
      "The agent emitted a tool_call of 'look' that is not JSON: Converting circular",
    ],
    [
      'a step',
      workflow({ run: ({ step }) => step('count', () => 1n as never) }),
      "step('count') returned a value that can't be recorded: Do not know how",
    ],
    [
      'a workflow',
      workflow({ run: () => circle }),
      "The workflow returned a value that can't be recorded: Converting circular",
    ],
    [
      'the state of a workflow',
      workflow({
        run: async ({ step, state }) => {
          await step('count', () => {
            state.n = 1n as never
          })
        },
      }),
      "The session's state after step 'count' is not JSON: Do not know how",
    ],
    [
      'the state',
      workflow({
        run: ({ state }) => {
          state.n = 1n as never
        },
      }),
      "The agent stored a value in the session's state that is not JSON: Do not know how",
    ],
  ])('%s fails its run with an error that says which', async (_, entity, said) => {
    const { status, json } = await ask(entity)
    expect(json.error.message).toContain(said)
    expect(status).toBe(500)
  })
})
