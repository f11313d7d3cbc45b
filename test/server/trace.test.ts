import { APICallError, ToolLoopAgent } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ServerConfig } from '../../src/config/types.ts'
import type { RunTrace, TracedCall } from '../../src/core/events/trace.ts'
import { offlineSummarizer } from '../../src/models/summarizer.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { hostAgent } from '../../src/runnables/agent/host.ts'
import { team } from '../../src/runnables/team/team.ts'
import { tool } from '../../src/runnables/tools/tool.ts'
import { answer, callTool } from '../runnables/fixture.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

type Parts = ReturnType<typeof answer>
type CallOptions = Parameters<MockLanguageModelV4['doStream']>[0]

/** What models were given, as JSON, in the order of the calls. */
let heard: { messages: string; tools: string | undefined; temperature: number | undefined }[] = []
const long = 'x'.repeat(500)

/** Calls the tool that its latest message names as `use:<tool>`, else answers at length. */
function listening(reply = (text: string) => answer(`Answer to ${text.slice(-40)}. `, long)) {
  return new MockLanguageModelV4({
    provider: 'scripted',
    modelId: 'listening',
    doStream: async (options: CallOptions) => {
      heard.push({
        messages: JSON.stringify(options.prompt),
        tools: options.tools === undefined ? undefined : JSON.stringify(options.tools),
        temperature: options.temperature,
      })
      const last = options.prompt.at(-1)
      const text =
        last?.role === 'user' ? last.content.map((part) => (part.type === 'text' ? part.text : '')).join('') : ''
      const wanted = /use:(\w+)/.exec(text)?.[1]
      const parts: Parts =
        wanted === undefined
          ? reply(text)
          : callTool(wanted, wanted.startsWith('ask_') ? { task: 'Help.' } : { city: 'Bern' })
      return {
        stream: new ReadableStream({
          start(controller) {
            for (const part of parts) controller.enqueue(part)
            controller.close()
          },
        }),
      }
    },
  })
}

const city = z.object({ city: z.string() })
const weather = tool({
  description: 'Tells the weather.',
  inputSchema: city,
  execute: ({ city }) => ({ city, degrees: 21 }),
})
const breaks = tool({
  inputSchema: city,
  execute: (): string => {
    throw new Error('broken')
  },
})
let failures = 0
const flaky = listening()
const stream = flaky.doStream.bind(flaky)
flaky.doStream = async (options) => {
  if (failures-- <= 0) return stream(options)
  heard.push({ messages: JSON.stringify(options.prompt), tools: undefined, temperature: options.temperature })
  throw new APICallError({
    message: 'busy',
    url: '',
    requestBodyValues: {},
    isRetryable: true,
    responseHeaders: { 'retry-after-ms': '1' },
  })
}

const entities = () => ({
  plain: agent({
    model: listening(),
    instructions: 'Be kind.',
    temperature: 0.25,
    headers: { 'x-secret': 'sk-secret-header' },
    providerOptions: { scripted: { apiKey: 'sk-secret-option', tier: 'fast' } },
    tools: { weather, breaks, wipe: tool({ inputSchema: city, execute: () => 'wiped' }) },
    toolApproval: { wipe: 'user-approval' },
  }),
  whole: agent({ model: listening(), memory: { runs: 1000, summary: false } }),
  thrifty: agent({ model: listening(), memory: { tokens: 400 } }),
  reader: agent({ model: listening(), knowledge: { limit: 3 } }),
  seeker: agent({
    model: listening((text) =>
      text === '' ? answer('found') : callTool('search_knowledge', { query: 'lighthouse keeper' }),
    ),
    knowledge: { mode: 'tool' },
  }),
  stateful: agent({
    model: listening(),
    hooks: {
      modelCall: ({ params, run }, next) => {
        run.state.count = Number(run.state.count ?? 0) + 1
        return next({ ...params, prompt: [{ role: 'system', content: `Call ${run.state.count}.` }, ...params.prompt] })
      },
    },
  }),
  steps: agent({
    model: listening(),
    tools: { weather },
    prepareStep: ({ stepNumber, messages }) => ({ messages: stepNumber === 0 ? messages : messages.slice(-2) }),
  }),
  flaky: agent({ model: flaky }),
  hosted: hostAgent(
    new ToolLoopAgent({ id: 'hosted', model: listening(), instructions: 'Hosted.', tools: { weather } }),
  ),
  desk: team({ members: ['plain', 'whole'], mode: 'lead', model: listening(), instructions: 'Lead.' }),
})

describe.each<[string, (folder: string) => ServerConfig]>([
  ['memory', () => ({ sessionStorage: 'memory', vectorDb: { type: 'memory' } })],
  ['sqlite', () => ({ vectorDb: { type: 'memory' } })],
])('prompts recorded in %s', (_name, config) => {
  let server: RunningTestServer
  beforeAll(async () => {
    server = await startServer(
      {
        ...config(''),
        summaryManager: { summarizer: offlineSummarizer(), timeoutMs: 30_000 },
        embedding: { provider: 'lexical' },
      } as ServerConfig,
      entities(),
    )
    for (const [source, content] of Object.entries({
      'a.md': '# The lighthouse\n\nThe lighthouse keeper lights the lamp at dusk.\n',
      'b.md': '# The keeper\n\nThe keeper of the lighthouse sleeps by day.\n',
    }))
      await server.call('POST', '/api/v1/knowledge/content', { source, content })
  })
  afterAll(() => server.close())
  beforeEach(() => {
    heard = []
  })

  async function ask(agentId: string, input: string, sessionId?: string) {
    const { json } = await server.call('POST', `/api/v1/agents/${agentId}/run`, { input, session_id: sessionId })
    expect(json.error).toBeUndefined()
    return json as { run_id: string; session_id: string; status: string }
  }

  async function trace(runId: string, query = ''): Promise<RunTrace> {
    const { status, json } = await server.call('GET', `/api/v1/runs/${runId}/trace${query}`)
    expect(status).toBe(200)
    return json
  }

  /** Every call of these runs, and of those inside them, is traced with exactly what its model was given, in the order of the calls. */
  async function expectExact(...runIds: string[]): Promise<TracedCall[]> {
    const calls: TracedCall[] = []
    for (const todo = [...runIds]; ; ) {
      const runId = todo.shift()
      if (runId === undefined) break
      const found = await trace(runId, '?limit=100')
      calls.push(...found.calls)
      for (const call of found.calls) {
        expect(await trace(runId, `?call=${call.call_id}`)).toEqual({ ...found, calls: [call], count: 1 })
      }
      todo.push(...found.child_run_ids)
    }
    calls.sort((a, b) => (a.call_id < b.call_id ? -1 : 1))
    expect(calls.map(({ messages }) => JSON.stringify(messages))).toEqual(heard.map(({ messages }) => messages))
    expect(calls.map(({ tools }) => (tools === null ? undefined : JSON.stringify(tools)))).toEqual(
      heard.map(({ tools }) => tools),
    )
    expect(calls.map(({ settings }) => settings?.temperature)).toEqual(heard.map(({ temperature }) => temperature))
    return calls
  }

  it('come back for each turn of a conversation', async () => {
    const first = await ask('plain', 'Hi')
    const ids = [first.run_id]
    for (let turn = 0; turn < 25; turn++)
      ids.push((await ask('plain', turn % 5 === 0 ? 'Hi' : `Turn ${turn}`, first.session_id)).run_id)
    const calls = await expectExact(...ids)
    expect(calls.at(-1)?.messages).toHaveLength(1 + 2 * 20 + 1)
    expect(calls[0]).toMatchObject({
      model: 'scripted/listening',
      text: `Answer to Hi. ${long}`,
      finish_reason: 'stop',
      usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
      settings: { temperature: 0.25, toolChoice: { type: 'auto' }, providerOptions: { scripted: { tier: 'fast' } } },
    })
  })

  it('come back for each step of a tool loop, with what the tools were given and gave', async () => {
    const { run_id, session_id } = await ask('plain', 'use:weather')
    const failed = await ask('plain', 'use:breaks', session_id)
    const calls = await expectExact(run_id, failed.run_id, (await ask('plain', 'And now?', session_id)).run_id)
    expect(calls[0]?.tool_calls).toMatchObject([
      { name: 'weather', input: { city: 'Bern' }, output: { city: 'Bern', degrees: 21 } },
    ])
    expect(calls[1]?.text).toContain('Answer')
    expect(calls[2]?.tool_calls).toMatchObject([{ name: 'breaks', error: { message: 'broken' } }])
    const { next_cursor, calls: page } = await trace(run_id, '?limit=1')
    expect(page).toEqual([calls[0]])
    expect(await trace(run_id, `?limit=1&cursor=${next_cursor}`)).toMatchObject({
      calls: [calls[1]],
      count: 1,
      next_cursor: null,
    })
  })

  it('come back within a budget of memory, and with a summary that is another one by now', async () => {
    const first = await ask('thrifty', 'One')
    const ids = [first.run_id]
    for (const text of ['Two', 'Three']) ids.push((await ask('thrifty', text, first.session_id)).run_id)
    for (const text of ['Four', 'Five']) {
      expect((await server.call('POST', `/api/v1/sessions/${first.session_id}/summary`)).status).toBe(200)
      ids.push((await ask('thrifty', text, first.session_id)).run_id)
    }
    await server.call('POST', `/api/v1/sessions/${first.session_id}/summary`)
    const calls = await expectExact(...ids)
    expect(JSON.stringify(calls[3]?.messages)).toContain('Summary of the conversation so far')
  })

  it('come back with the passages as they were, and name them with their scores', async () => {
    const reader = await ask('reader', 'What does the lighthouse keeper light?')
    const seeker = await ask('seeker', 'Look it up.')
    await server.call('POST', '/api/v1/knowledge/content', { source: 'b.md', content: 'Nothing is left.' })
    const calls = await expectExact(reader.run_id, seeker.run_id)
    expect(JSON.stringify(calls[0]?.messages)).toContain('sleeps by day')
    const passages = calls[0]?.retrievals[0]?.passages ?? []
    expect(passages.map(({ index }) => index)).toEqual([1, 2])
    expect(passages[0]).toMatchObject({
      source: expect.stringMatching(/^[ab]\.md$/),
      score: expect.any(Number),
      chunk_id: expect.stringMatching(/^chk_/),
      document_id: expect.stringMatching(/^doc_/),
      line_start: 1,
    })
    expect(calls[1]?.tool_calls[0]).toMatchObject({
      name: 'search_knowledge',
      output: expect.stringContaining('lights the lamp'),
    })
    expect(calls[2]?.retrievals).toMatchObject([{ query: 'lighthouse keeper' }])
    expect(calls[1]?.retrievals).toEqual([])
  })

  it('come back as hooks and steps have changed them', async () => {
    const first = await ask('stateful', 'Hi')
    const second = await ask('stateful', 'Again', first.session_id)
    const steps = await ask('steps', 'use:weather')
    const calls = await expectExact(first.run_id, second.run_id, steps.run_id)
    expect(calls[1]?.messages).toMatchObject([{ role: 'system', content: 'Call 2.' }, {}, {}, {}])
    expect(calls[3]?.messages).toHaveLength(2)
  })

  it('come back for attempts that failed, and for agents of the AI SDK', async () => {
    failures = 1
    const calls = await expectExact((await ask('flaky', 'Hi')).run_id, (await ask('hosted', 'use:weather')).run_id)
    expect(calls.map(({ finish_reason }) => finish_reason)).toEqual(['error', 'stop', 'tool-calls', 'stop'])
  })

  it('come back for a run that went on after an approval, and for one that came in between', async () => {
    const first = await ask('plain', 'Hi')
    const paused = await ask('plain', 'use:wipe', first.session_id)
    expect(paused.status).toBe('input_required')
    const between = await ask('plain', 'Meanwhile', first.session_id)
    expect((await server.call('POST', `/api/v1/runs/${paused.run_id}/resume`, { approved: true })).json.status).toBe(
      'completed',
    )
    const after = await ask('plain', 'And after?', first.session_id)
    const calls = await expectExact(first.run_id, paused.run_id, between.run_id, after.run_id)
    expect(calls[1]?.tool_calls).toMatchObject([{ name: 'wipe', output: 'wiped' }])
  })

  it('come back for the runs inside a team', async () => {
    const first = await ask('desk', 'Hi')
    const second = await ask('desk', 'use:ask_plain', first.session_id)
    const { child_run_ids: children } = await trace(second.run_id)
    expect(children).toHaveLength(1)
    const calls = await expectExact(first.run_id, second.run_id)
    expect(calls).toHaveLength(4)
  })

  it('are in the stream that asks for them, from any event on, and in no other', async () => {
    const { run_id: id } = await ask('plain', 'use:weather')
    const read = async (query: string) =>
      [...(await server.call('GET', `/api/v1/runs/${id}/events${query}`)).text.matchAll(/^data: (.+)$/gm)]
        .map(([, data]) => JSON.parse(data ?? ''))
        .filter(({ type }) => type === 'model_call_start')
    const whole = await read('?include=prompts')
    expect(whole.map(({ messages }) => JSON.stringify(messages))).toEqual(heard.map(({ messages }) => messages))
    expect(whole[1].tools).toEqual(whole[0].tools)
    expect(await read(`?include=prompts&after=${whole[0].seq}`)).toEqual([whole[1]])
    for (const event of await read(''))
      expect(Object.keys(event).sort()).toEqual(['at', 'call_id', 'model', 'run_id', 'seq', 'type'])
  })

  it('hold no key', async () => {
    const { run_id: id } = await ask('plain', 'Hi')
    const text = JSON.stringify(await trace(id))
    expect(text).toContain('(left out)')
    expect(text).not.toContain('sk-secret')
  })

  it('are refused for a run that there is not, and for a cursor that there was not', async () => {
    expect(await server.call('GET', '/api/v1/runs/run_none/trace?cursor=x')).toMatchObject({
      status: 404,
      json: { error: { code: 'run_not_found' } },
    })
    const { run_id: id } = await ask('echo', 'Hi')
    expect(await server.call('GET', `/api/v1/runs/${id}/trace?cursor=x`)).toMatchObject({ status: 400 })
    expect(await server.call('GET', `/api/v1/runs/${id}/trace?call=call_none`)).toMatchObject({
      status: 404,
      json: { error: { code: 'call_not_found', message: "The run has no model call 'call_none'." } },
    })
    expect(await server.call('GET', `/api/v1/runs/${id}/trace?call=a&cursor=1`)).toMatchObject({ status: 400 })
    expect(await trace(id)).toMatchObject({ run_id: id, entity_id: 'echo', calls: [], child_run_ids: [] })
  })

  it('take no more room the longer the conversation is', async () => {
    const first = await ask('whole', 'Hi')
    const bytes: number[] = []
    for (let turn = 0; turn < 60; turn++) {
      const { run_id: id } = await ask('whole', `Turn ${String(turn).padStart(3)}`, first.session_id)
      const { services } = server.server as unknown as {
        services: { runs: { events(id: string, after: number): Promise<AsyncIterable<unknown[]>> } }
      }
      let size = 0
      for await (const batch of await services.runs.events(id, 0))
        size += JSON.stringify(batch.filter((event) => (event as { type: string }).type === 'model_call_start')).length
      bytes.push(size)
    }
    expect(JSON.parse(heard.at(-1)?.messages ?? '[]')).toHaveLength(121)
    expect(Math.min(...bytes)).toBeGreaterThan(100)
    expect(Math.max(...bytes)).toBeLessThan(500)
    expect(Math.max(...bytes) - Math.min(...bytes)).toBeLessThan(10)
  })
})
