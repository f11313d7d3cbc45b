import { ToolLoopAgent } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { RunEvent, ToolProgress } from '../../../src/core/event.ts'
import type { StreamPart } from '../../../src/runnables/again/answer-stream.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { CallProgress } from '../../../src/runnables/tools/progress.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { eventsOf, serveAgents, typesOf } from '../agent-server.ts'
import { answer, callTool, scripted } from '../fixture.ts'

const inputSchema = z.object({})
const steps = tool({
  inputSchema,
  async *execute() {
    yield { done: 1 }
    yield { done: 2 }
    yield { done: 'all' }
  },
})
const model = () => scripted(callTool('steps', {}), answer('ok'))

async function eventsOfRun(entity: object): Promise<{ streamed: RunEvent[]; recorded: RunEvent[] }> {
  await using server = await serveAgents({ main: entity })
  const { streamed, runId } = await server.ask('main', 'Go', { stream: true })
  return { streamed, recorded: await server.events(runId) }
}

test.each([
  ['an agent', () => agent({ model: model(), tools: { steps } })],
  ['an agent with a time limit', () => agent({ model: model(), tools: { steps }, timeout: { toolMs: 60_000 } })],
  [
    'an agent with a hook',
    () => agent({ model: model(), tools: { steps }, hooks: { toolCall: (_call, next) => next() } }),
  ],
  ['a hosted agent of the AI SDK', () => new ToolLoopAgent({ model: model(), tools: { steps } })],
])('what a tool yields is its progress and the last its result: %s', async (_, entity) => {
  const { streamed, recorded } = await eventsOfRun(entity())
  for (const events of [streamed, recorded]) {
    const [first] = eventsOf(events, 'tool_progress')
    expect(first).toMatchObject({ call_id: 'use-steps', name: 'steps', output: { done: 1 } })
    expect(eventsOf(events, 'tool_result')).toMatchObject([{ call_id: 'use-steps', output: { done: 'all' } }])
    const types = typesOf(events)
    expect(types.indexOf('tool_call')).toBeLessThan(types.indexOf('tool_progress'))
    expect(types.lastIndexOf('tool_progress')).toBeLessThan(types.indexOf('tool_result'))
  }
})

test('a tool that gives one value, and one that goes on after its time, tell nothing of it', async () => {
  const once = tool({
    inputSchema,
    async *execute() {
      yield 'whole'
    },
  })
  const { recorded } = await eventsOfRun(
    agent({ model: scripted(callTool('once', {}), answer('ok')), tools: { once } }),
  )
  expect(typesOf(recorded)).not.toContain('tool_progress')
  expect(eventsOf(recorded, 'tool_result')).toMatchObject([{ output: 'whole' }])
  const late = Promise.withResolvers<void>()
  const goesOn = tool({
    inputSchema,
    async *execute() {
      await late.promise
      yield 'too'
      yield 'late'
    },
  })
  const stopped = await eventsOfRun(
    agent({
      model: scripted(callTool('goesOn', {}), answer('ok')),
      tools: { goesOn },
      timeout: { toolMs: 20 },
      hooks: {
        modelCall(_call, next) {
          late.resolve()
          return next()
        },
      },
    }),
  )
  expect(eventsOf(stopped.recorded, 'tool_result')).toHaveLength(1)
})

test('a call tells at most ten times per second, the newest, and no more than its result may have', () => {
  const told: ToolProgress[] = []
  const progress = new CallProgress({ call_id: 'c', name: 't' }, { bytes: 20, tell: (event) => told.push(event) })
  for (let n = 0; n < 1_000; n++) progress.offer(`step ${n}`)
  expect(told.map(({ output }) => output)).toEqual(['step 0'])
  progress.stop()
  progress.offer('after the end')
  const large = new CallProgress({ call_id: 'c', name: 't' }, { bytes: 20, tell: (event) => told.push(event) })
  large.offer('x'.repeat(100))
  large.offer('y')
  const odd = new CallProgress({ call_id: 'c', name: 't' }, { bytes: 20, tell: (event) => told.push(event) })
  odd.offer(1n)
  large.stop()
  odd.stop()
  expect(told).toHaveLength(1)
})

test('a slow tool is followed while it works, also by a reader who comes back', async () => {
  const told = Promise.withResolvers<void>()
  const slow = tool({
    inputSchema,
    async *execute() {
      yield 'half'
      await told.promise
      yield 'whole'
    },
  })
  await using server = await serveAgents({
    main: agent({ model: scripted(callTool('slow', {}), answer('ok')), tools: { slow } }),
  })
  const { json } = await server.ask('main', 'Go', { background: true })
  const response = await fetch(`${server.url}/api/v1/runs/${json.run_id}/events`)
  let text = ''
  for await (const piece of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += piece
    if (text.includes('"half"')) told.resolve()
  }
  expect(text.indexOf('"tool_progress"')).toBeLessThan(text.indexOf('"tool_result"'))
})

/** A call whose input is streamed in these pieces. */
function streamedCall(name: string, pieces: readonly string[], input = pieces.join('')): StreamPart[] {
  const whole = callTool(name, {})
  const id = `use-${name}`
  return whole.flatMap((part): StreamPart[] =>
    part.type !== 'tool-call'
      ? [part]
      : [
          { type: 'tool-input-start', id, toolName: name },
          ...pieces.map((delta): StreamPart => ({ type: 'tool-input-delta', id, delta })),
          { type: 'tool-input-end', id },
          { ...part, input },
        ],
  )
}
const wide = z.object({ text: z.string() })
const write = tool({ inputSchema: wide, execute: ({ text }) => text.length })
const joined = (events: RunEvent[]) =>
  eventsOf(events, 'tool_input_delta')
    .map(({ text }) => text)
    .join('')

test('an input is streamed while it is written, in few events, and is then whole in the call', async () => {
  const whole = JSON.stringify({ text: 'a word or two '.repeat(700) })
  const { streamed, recorded } = await eventsOfRun(
    agent({ model: scripted(streamedCall('write', [...whole]), answer('ok')), tools: { write } }),
  )
  expect(typesOf(streamed)).toEqual(typesOf(recorded))
  for (const events of [streamed, recorded]) {
    expect(joined(events)).toBe(whole)
    const deltas = eventsOf(events, 'tool_input_delta')
    expect(deltas[0]).toMatchObject({ call_id: 'use-write', name: 'write' })
    expect(typesOf(events).lastIndexOf('tool_input_delta')).toBeLessThan(typesOf(events).indexOf('tool_call'))
    // One for each tenth of a second, not one for each of 10,000 pieces.
    expect(JSON.stringify(deltas).length).toBeLessThan(2 * whole.length)
  }
})

test('an input that is no JSON, and one of a client tool, are streamed too', async () => {
  const broken = await eventsOfRun(
    agent({ model: scripted(streamedCall('write', ['{"te', 'xt": ']), answer('Sorry')), tools: { write } }),
  )
  expect(joined(broken.recorded)).toBe('{"text": ')
  expect(eventsOf(broken.recorded, 'tool_result')[0]?.error?.message).toContain('write')
  await using server = await serveAgents({
    main: agent({ model: scripted(streamedCall('pick', ['{"of":', '["red"]}'])) }),
  })
  const client_tools = [{ name: 'pick', parameters: { type: 'object' } }]
  const { streamed } = await server.ask('main', 'Go', { stream: true, client_tools })
  expect(joined(streamed)).toBe('{"of":["red"]}')
  expect(typesOf(streamed)).toContain('input_required')
})

test('what a model wrote of an input before it broke off is kept', async () => {
  const half = streamedCall('write', ['{"text": "on', 'ce']).slice(0, 4)
  half.push({ type: 'error', error: new Error('The connection broke.') })
  const { recorded } = await eventsOfRun(agent({ model: scripted(half), tools: { write }, maxRetries: 0 }))
  expect(joined(recorded)).toBe('{"text": "once')
  expect(typesOf(recorded).slice(-2)).toEqual(['model_call_end', 'run_error'])
})
