import { InMemorySpanExporter, type ReadableSpan } from '@opentelemetry/sdk-trace'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ServerConfig } from '../../src/config/types.ts'
import { markRunnable, type RunContext } from '../../src/core/runnable.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { team } from '../../src/runnables/team/team.ts'
import { remoteAgent } from '../../src/runnables/tools/remote-agent.ts'
import { tool } from '../../src/runnables/tools/tool.ts'
import { workflow } from '../../src/runnables/workflow/workflow.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { againstConventions, contentAttributes } from '../support/gen-ai-conventions.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

const api = '/api/v1'
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const callerSpan = '00f067aa0ba902b7'
const traceparent = `00-${traceId}-${callerSpan}-01`

let exporter: InMemorySpanExporter
const servers: RunningTestServer[] = []

/** Servers share it, and it keeps what it has when one of them closes it. */
class KeptExporter extends InMemorySpanExporter {
  override async shutdown(): Promise<void> {}
}

beforeEach(() => {
  exporter = new KeptExporter()
})
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function serve(
  entities: Record<string, object>,
  telemetry: Exclude<ServerConfig['telemetry'], false> = {},
  more: ServerConfig = {},
) {
  const config: ServerConfig = { sessionStorage: 'memory', vectorDb: { type: 'memory' }, ...more }
  const server = await startServer({ ...config, telemetry: { exporter, ...telemetry } }, entities)
  servers.push(server)
  const run = async (id: string, input: unknown, more: object = {}, headers: Record<string, string> = {}) =>
    (await server.call('POST', `${api}/agents/${id}/run`, { input, ...more }, headers)).json
  const resume = async (runId: string, body: object) =>
    (await server.call('POST', `${api}/runs/${runId}/resume`, body)).json
  return { ...server, run, resume }
}

/** All spans of the servers, which are closed for it. */
async function spans(): Promise<ReadableSpan[]> {
  for (const server of servers.splice(0)) await server.close()
  return exporter.getFinishedSpans()
}

/** `name` below the name of its parent, in the order of their starts. */
function tree(all: readonly ReadableSpan[]): string[] {
  const byId = new Map(all.map((span) => [span.spanContext().spanId, span]))
  const pathOf = (span: ReadableSpan): string => {
    const parent = byId.get(span.parentSpanContext?.spanId ?? '')
    return parent === undefined ? span.name : `${pathOf(parent)} > ${span.name}`
  }
  return all.map(pathOf).sort()
}

const named = (all: readonly ReadableSpan[], name: string) => {
  const found = all.find((span) => span.name === name)
  if (found === undefined) throw new Error(`no span '${name}' among ${all.map((span) => span.name).join(', ')}`)
  return found
}
const msOf = ([seconds, nanoseconds]: [number, number]) => seconds * 1000 + nanoseconds / 1e6

const weather = tool({
  description: 'Tells the weather.',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, degrees: 21 }),
})
const askWeather = () =>
  scriptedModel(
    {
      tool_calls: [{ name: 'weather', input: { city: 'Bern' } }],
      usage: { input_tokens: 20, output_tokens: 5 },
    },
    { text: 'It has 21 degrees.', usage: { input_tokens: 40, output_tokens: 6 } },
  )

describe('the spans of a run', () => {
  it('are those of the conventions: the agent, its model calls, its tool and its retrieval', async () => {
    const helper = agent({ model: askWeather(), tools: { weather }, knowledge: { mode: 'first' } })
    const { call, run } = await serve({ helper })
    await call('POST', `${api}/knowledge/content`, { content: 'Bern lies on the Aare.' })
    const done = await run('helper', 'How warm is it in Bern?')
    const all = await spans()
    expect(tree(all)).toEqual([
      'invoke_agent helper',
      'invoke_agent helper > chat scripted',
      'invoke_agent helper > chat scripted',
      'invoke_agent helper > execute_tool weather',
      expect.stringMatching(/^invoke_agent helper > retrieval/),
    ])
    expect(againstConventions(all)).toEqual([])
    expect(named(all, 'invoke_agent helper').attributes).toMatchObject({
      'gen_ai.conversation.id': done.session_id,
      'gen_ai.agent.name': 'helper',
      'gen_ai.usage.input_tokens': 60,
      'gen_ai.usage.output_tokens': 11,
      'agentserve.run.id': done.run_id,
      'agentserve.run.status': 'completed',
    })
    expect(named(all, 'chat scripted').attributes).toMatchObject({
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'scripted',
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.response.finish_reasons': ['tool-calls'],
    })
  })

  it('have the times of the record and lie within the run', async () => {
    const helper = agent({ model: askWeather(), tools: { weather } })
    const { server, run } = await serve({ helper })
    const { run_id } = await run('helper', 'How warm is it in Bern?')
    const record = await server.services.runs.get(run_id)
    const all = await spans()
    const whole = named(all, 'invoke_agent helper')
    expect(new Date(msOf(whole.startTime)).toISOString()).toBe(record.started_at)
    expect(new Date(msOf(whole.endTime)).toISOString()).toBe(record.completed_at)
    for (const span of all) {
      expect(msOf(span.startTime)).toBeGreaterThanOrEqual(msOf(whole.startTime))
      expect(msOf(span.endTime)).toBeLessThanOrEqual(msOf(whole.endTime))
      expect(msOf(span.endTime)).toBeGreaterThanOrEqual(msOf(span.startTime))
      expect(msOf(span.duration)).toBeCloseTo(msOf(span.endTime) - msOf(span.startTime), 3)
    }
  })

  it('say nothing of what was said, unless it is asked for', async () => {
    const secret = 'the-secret-words'
    const broken = tool({
      inputSchema: z.object({ text: z.string() }),
      execute: ({ text }): string => {
        throw new Error(`no ${text}`)
      },
    })
    const teller = agent({
      instructions: secret,
      model: scriptedModel({ tool_calls: [{ name: 'broken', input: { text: secret } }] }, secret),
      tools: { broken },
      knowledge: { mode: 'first' },
    })
    const fails = agent({
      run: ({ text }) => {
        throw new Error(text)
      },
    })
    const steps = workflow({ run: ({ step, text }) => step('fails', () => Promise.reject(new Error(text))) })
    const { run } = await serve({ teller, fails, steps })
    await run('teller', secret, { metadata: { secret } })
    await run('fails', secret)
    await run('steps', secret)
    const all = await spans()
    expect(all.map(({ name }) => name)).toContain('execute_tool broken')
    const { attributes, status } = named(all, 'execute_tool broken')
    expect([attributes['error.type'], status.code]).toEqual(['tool_error', 2])
    expect(named(all, 'invoke_agent fails').attributes['error.type']).toBe('run_failed')
    expect(named(all, 'step fails').attributes['error.type']).toBe('step_failed')
    for (const { attributes } of all) for (const one of contentAttributes) expect(attributes).not.toHaveProperty([one])
    const told = all.map(({ name, attributes, status, events, links }) => [name, attributes, status, events, links])
    expect(JSON.stringify(told)).not.toContain(secret)
    expect(againstConventions(all)).toEqual([])
  })

  it('tell questions, answers and what tools got and gave with `messages`, but no prompt', async () => {
    const helper = agent({
      instructions: 'Be brief.',
      model: askWeather(),
      tools: { weather },
      knowledge: { mode: 'first' },
    })
    const { run } = await serve({ helper }, { content: 'messages' })
    await run('helper', 'How warm is it in Bern?')
    const all = await spans()
    const whole = named(all, 'invoke_agent helper').attributes
    expect(JSON.parse(String(whole['gen_ai.input.messages']))).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'How warm is it in Bern?' }] },
    ])
    expect(JSON.parse(String(whole['gen_ai.output.messages']))).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'It has 21 degrees.' }] },
    ])
    const used = named(all, 'execute_tool weather').attributes
    expect(used['gen_ai.tool.call.arguments']).toBe('{"city":"Bern"}')
    expect(used['gen_ai.tool.call.result']).toBe('{"city":"Bern","degrees":21}')
    const [first, second] = all.filter(({ name }) => name === 'chat scripted').map(({ attributes }) => attributes)
    expect(JSON.parse(String(first?.['gen_ai.output.messages']))).toMatchObject([
      { role: 'assistant', finish_reason: 'tool-calls', parts: [{ type: 'tool_call', name: 'weather' }] },
    ])
    expect(JSON.parse(String(second?.['gen_ai.output.messages']))).toMatchObject([
      { parts: [{ type: 'text', content: 'It has 21 degrees.' }], finish_reason: 'stop' },
    ])
    for (const { attributes } of all) expect(attributes).not.toHaveProperty('gen_ai.system_instructions')
    expect(JSON.stringify(all.map(({ attributes }) => attributes))).not.toContain('Be brief')
    expect(againstConventions(all)).toEqual([])
  })

  it('tell the exact prompts, tools and settings with `prompts`', async () => {
    const model = askWeather()
    const helper = agent({ instructions: 'Be brief.', model, tools: { weather }, temperature: 0.5 })
    const { run } = await serve({ helper }, { content: 'prompts' })
    await run('helper', 'How warm is it in Bern?')
    const all = await spans()
    const [first, second] = all.filter(({ name }) => name === 'chat scripted').map(({ attributes }) => attributes)
    expect(JSON.parse(String(first?.['gen_ai.system_instructions']))).toEqual([{ type: 'text', content: 'Be brief.' }])
    expect(first?.['gen_ai.request.temperature']).toBe(0.5)
    expect(JSON.parse(String(first?.['gen_ai.tool.definitions']))).toMatchObject([
      { type: 'function', name: 'weather', description: 'Tells the weather.', parameters: { type: 'object' } },
    ])
    expect(JSON.parse(String(second?.['gen_ai.input.messages']))).toMatchObject([
      { role: 'user', parts: [{ type: 'text', content: 'How warm is it in Bern?' }] },
      { role: 'assistant', parts: [{ type: 'tool_call', name: 'weather', arguments: { city: 'Bern' } }] },
      { role: 'tool', parts: [{ type: 'tool_call_response' }] },
    ])
    expect(againstConventions(all)).toEqual([])
  })

  it('cut long contents to JSON that can be read', async () => {
    const long = '"ä'.repeat(40_000)
    const echoes = agent({ sideEffects: false, run: ({ text }) => text })
    const { run } = await serve({ echoes }, { content: 'messages' })
    await run('echoes', long)
    const { attributes } = named(await spans(), 'invoke_agent echoes')
    for (const name of ['gen_ai.input.messages', 'gen_ai.output.messages']) {
      const text = String(attributes[name])
      expect(text.length).toBeLessThanOrEqual(16_384)
      expect(JSON.parse(text)[0].parts[0].content).toMatch(/^("ä)+"?…$/)
    }
  })

  it('hide an input that a guardrail has refused', async () => {
    const guarded = agent({
      model: scriptedModel('Never.'),
      guardrails: { input: ({ text }) => (text.includes('forbidden') ? { refuse: 'Not that.' } : undefined) },
    })
    const { run } = await serve({ guarded }, { content: 'prompts' })
    await run('guarded', 'forbidden words')
    const all = await spans()
    expect(all.map(({ name }) => name)).toContain('invoke_agent guarded')
    expect(JSON.stringify(all.map(({ attributes }) => attributes))).not.toContain('forbidden')
  })

  it('show a model that was given up, and the one that took its place', async () => {
    const failing = scriptedModel({ error: Object.assign(new Error('503'), { statusCode: 503 }) })
    const helper = agent({ model: [failing, scriptedModel('Here.')] })
    const { run } = await serve({ helper })
    await run('helper', 'Hi')
    const chats = (await spans()).filter(({ name }) => name.startsWith('chat '))
    expect(chats.map(({ status, attributes }) => [status.code, attributes['error.type'] !== undefined])).toEqual([
      [2, true],
      [0, false],
    ])
  })
})

describe('the spans of runs inside a run', () => {
  it('hang below the step of their parent, in one trace', async () => {
    const member = (name: string) => agent({ model: scriptedModel(`I am ${name}.`) })
    const pair = team({ members: ['one', 'two'], mode: 'parallel' })
    const asks = workflow({
      async run({ step, ask }) {
        const count = await step('count', () => step('inner', () => 2))
        return `${count} ${(await ask('pair', 'Who are you?')).text}`
      },
    })
    const { run } = await serve({ one: member('one'), two: member('two'), pair, asks })
    await run('asks', 'Go')
    const all = await spans()
    expect(tree(all)).toEqual([
      'invoke_workflow asks',
      'invoke_workflow asks > step count',
      'invoke_workflow asks > step count > step inner',
      'invoke_workflow asks > step pair',
      'invoke_workflow asks > step pair > invoke_workflow pair',
      'invoke_workflow asks > step pair > invoke_workflow pair > step one',
      'invoke_workflow asks > step pair > invoke_workflow pair > step one > invoke_agent one',
      'invoke_workflow asks > step pair > invoke_workflow pair > step one > invoke_agent one > chat scripted',
      'invoke_workflow asks > step pair > invoke_workflow pair > step two',
      'invoke_workflow asks > step pair > invoke_workflow pair > step two > invoke_agent two',
      'invoke_workflow asks > step pair > invoke_workflow pair > step two > invoke_agent two > chat scripted',
    ])
    expect(new Set(all.map((span) => span.spanContext().traceId)).size).toBe(1)
    expect(new Set(all.map((span) => span.spanContext().spanId)).size).toBe(all.length)
    expect(againstConventions(all)).toEqual([])
  })

  it('hang below the resumed parent when both were resumed', async () => {
    const careful = agent({
      model: scriptedModel({ tool_calls: [{ name: 'send', input: {} }] }, 'Sent.'),
      tools: { send: tool({ inputSchema: z.object({}), needsApproval: true, execute: () => 'ok' }) },
    })
    const asks = workflow({ run: async ({ ask }) => (await ask('careful', 'Send it.')).text })
    const { run, resume } = await serve({ careful, asks })
    const paused = await run('asks', 'Go', {}, { traceparent })
    expect(paused.status).toBe('input_required')
    expect((await resume(paused.run_id, { approved: true })).content).toBe('Sent.')
    const all = await spans()
    expect(tree(all)).toEqual([
      'invoke_workflow asks',
      'invoke_workflow asks',
      'invoke_workflow asks > step careful',
      'invoke_workflow asks > step careful',
      'invoke_workflow asks > step careful > invoke_agent careful',
      'invoke_workflow asks > step careful > invoke_agent careful',
      'invoke_workflow asks > step careful > invoke_agent careful > chat scripted',
      'invoke_workflow asks > step careful > invoke_agent careful > chat scripted',
      'invoke_workflow asks > step careful > invoke_agent careful > execute_tool send',
    ])
    expect(new Set(all.map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]))
    const [paused1, resumed] = all.filter(({ name }) => name === 'invoke_workflow asks')
    expect(paused1?.attributes['agentserve.run.status']).toBe('input_required')
    expect(resumed?.links.map(({ context }) => context.spanId)).toEqual([paused1?.spanContext().spanId])
    for (const one of [paused1, resumed])
      expect(one?.parentSpanContext).toMatchObject({ spanId: callerSpan, isRemote: true })
    expect(all.every(({ status }) => status.code === 0)).toBe(true)
    expect(againstConventions(all)).toEqual([])
  })
})

describe('the trace of a request', () => {
  it('is that of its traceparent, by every way in', async () => {
    const { call, run } = await serve({})
    await run('echo', 'Hi', {}, { traceparent })
    const message = { messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }
    const rpc = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }
    expect((await call('POST', `${api}/a2a/agents/echo`, rpc, { traceparent })).status).toBe(200)
    const completion = { model: 'echo', messages: [{ role: 'user', content: 'Hi' }] }
    expect((await call('POST', '/v1/chat/completions', completion, { traceparent })).status).toBe(200)
    const all = await spans()
    expect(all.map(({ name }) => name)).toEqual(Array(3).fill('invoke_agent echo'))
    for (const span of all) {
      expect(span.spanContext().traceId).toBe(traceId)
      expect(span.parentSpanContext).toMatchObject({ spanId: callerSpan, isRemote: true })
    }
  })

  it.each([
    ['nothing', undefined],
    ['a header that is not valid', `00-${'0'.repeat(32)}-${callerSpan}-01`],
  ])('is one of its own with %s', async (_, header) => {
    const { run } = await serve({})
    await run('echo', 'Hi', {}, header === undefined ? {} : { traceparent: header })
    await run('echo', 'Hi')
    const all = await spans()
    expect(new Set(all.map((span) => span.spanContext().traceId)).size).toBe(2)
    for (const span of all) expect(span.parentSpanContext).toBeUndefined()
  })

  it('is not exported when its caller does not', async () => {
    const { run } = await serve({})
    await run('echo', 'Hi', {}, { traceparent: `00-${traceId}-${callerSpan}-00` })
    expect(await spans()).toEqual([])
  })

  it('goes on in a remote agent, whose spans hang below those of the run', async () => {
    const there = await serve({ far: agent({ model: scriptedModel('From afar.') }) })
    const near = remoteAgent({ url: `${there.url}${api}/a2a/agents/far` })
    const asking = agent({
      async *run({ ask }) {
        yield (await ask('near', 'Hello?')).text
      },
    })
    const here = await serve({ near, asking })
    const { run_id, content } = await here.run('asking', 'Hi', {}, { traceparent })
    expect(content).toBe('From afar.')
    const all = await spans()
    const ids = new Map(all.map((span) => [span.spanContext().spanId, span]))
    const far = named(all, 'invoke_agent far')
    expect(ids.get(far.parentSpanContext?.spanId ?? '')?.name).toBe('invoke_agent near')
    expect(far.spanContext().traceId).toBe(traceId)
    expect(named(all, 'invoke_agent asking').attributes['agentserve.run.id']).toBe(run_id)
  })

  it('is no part of what the run works with, nor of its answer', async () => {
    const contexts: RunContext[] = []
    const { call, run } = await serve({ looks: looking(contexts) })
    const { run_id } = await run('looks', 'Hi', {}, { traceparent })
    expect(contexts.map(({ given, metadata }) => [given, metadata])).toEqual([[undefined, {}]])
    expect(contexts[0]?.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`))
    const { text } = await call('GET', `${api}/runs/${run_id}`)
    expect(text).not.toContain(traceId)
  })

  it('is recorded, and stays with a copy of the session', async () => {
    const { call, run } = await serve({})
    const { session_id } = await run('echo', 'Hi', {}, { traceparent })
    const { text } = await call('GET', `${api}/sessions/${session_id}/export`)
    expect(text).toContain(`"traceparent":"${traceparent}"`)
    const imported = await call('POST', `${api}/sessions/import?new_ids=true`, text, {
      'content-type': 'application/x-ndjson',
    })
    expect(imported.status).toBe(201)
    const copy = await call('GET', `${api}/sessions/${imported.json.session_id}/export`)
    expect(copy.text).toContain(`"traceparent":"${traceparent}"`)
  })
})

/** Keeps the context of each run. */
function looking(contexts: RunContext[]) {
  return markRunnable({
    kind: 'agent',
    tools: [],
    knowledge: false,
    sideEffects: true,
    async *run(_input: unknown, context: RunContext) {
      contexts.push(context)
      yield 'ok'
    },
  })
}

it('without telemetry no header is recorded, and none is sent', async () => {
  const contexts: RunContext[] = []
  const server = await startServer({ sessionStorage: 'memory', telemetry: false }, { looks: looking(contexts) })
  servers.push(server)
  const { json } = await server.call('POST', `${api}/agents/looks/run`, { input: 'Hi' }, { traceparent })
  expect([json.content, contexts[0]?.traceparent]).toEqual(['ok', undefined])
  const exported = await server.call('GET', `${api}/sessions/${json.session_id}/export`)
  expect([exported.status, exported.text.includes(traceId)]).toEqual([200, false])
})
