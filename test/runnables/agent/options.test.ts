import { Output, ToolLoopAgent } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { eventsOf, serveAgents, typesOf } from '../agent-server.ts'
import { answer, callTool, scripted } from '../fixture.ts'
import { weather } from '../weather.ts'

const words = () => answer('ok')
const models = {
  plain: scripted(),
  first: scripted(words()),
  filtered: scripted(words()),
  manual: scripted(words()),
  tool: scripted(callTool('search_knowledge', { query: 'port' }), answer('8080 [1]')),
  memory: scripted(words(), words(), words()),
  budget: scripted(words(), words(), words()),
  forgetful: scripted(words(), words()),
  summary: scripted(words(), words()),
  unsummarised: scripted(words()),
  settings: scripted(words()),
  choice: scripted(callTool('weather', { city: 'Bern' }), words()),
}
const callbacks: string[] = []
let server: Awaited<ReturnType<typeof serveAgents>>

beforeAll(async () => {
  const summarizer = { name: 'fixed', summarize: async () => 'They talked of one.' }
  const config = { summaryManager: { summarizer, timeoutMs: 1_000 } }
  const agents = {
    plain: agent({ model: models.plain, name: 'Plain', description: 'Says ok.', tools: { weather } }),
    first: agent({ model: models.first, knowledge: true }),
    filtered: agent({ model: models.filtered, knowledge: { limit: 1, filters: { not: { lang: { ne: 'de' } } } } }),
    manual: agent({ model: models.manual, knowledge: { collection: 'manuals' } }),
    tool: agent({ model: models.tool, knowledge: { mode: 'tool', limit: 1 } }),
    quoting: agent({ knowledge: true }),
    memory: agent({ model: models.memory, memory: { runs: 1 } }),
    budget: agent({ model: models.budget, memory: { tokens: 3 } }),
    forgetful: agent({ model: models.forgetful, memory: { runs: 0 } }),
    summary: agent({ model: models.summary }),
    unsummarised: agent({ model: models.unsummarised, memory: { summary: false } }),
    slow: agent({
      run: async ({ signal }) => new Promise<string>((_, reject) => signal.addEventListener('abort', reject)),
      timeout: 30,
    }),
    settings: agent({
      model: models.settings,
      instructions: 'Be brief.',
      temperature: 0.5,
      maxOutputTokens: 7,
      topP: 0.9,
      seed: 3,
      stopSequences: ['END'],
      headers: { 'x-team': 'a' },
      providerOptions: { scripted: { effort: 'low' } },
      onStepStart: () => void callbacks.push('step start'),
      onEnd: () => void callbacks.push('end'),
    }),
    choice: agent({
      model: models.choice,
      tools: { weather, other: weather },
      activeTools: ['weather'],
      toolChoice: 'required',
      stopWhen: ({ steps }) => steps.length === 1,
    }),
    sdk: new ToolLoopAgent({
      model: scripted(callTool('weather', { city: 'Bern' }), answer('21')),
      instructions: 'From the SDK.',
      tools: { weather },
    }),
    sdkData: new ToolLoopAgent({
      model: scripted(answer('{"a":1}')),
      output: Output.object({ schema: z.object({ a: z.number() }) }),
    }),
  }
  server = await serveAgents(agents, config)
  const ingest = (content: string, more: object) =>
    server.call('POST', '/api/v1/knowledge/content', { content, ...more })
  await ingest('The default port is 8080.', { source: 'en.md', metadata: { lang: 'en' } })
  await ingest('Der übliche Port ist 8080.', { source: 'de.md', metadata: { lang: 'de' } })
  await ingest('The port of the manual is 9090.', { source: 'manual.md', collection: 'manuals' })
})
afterAll(() => server.close())

function promptOf(model: ReturnType<typeof scripted>, call = 0): string {
  return JSON.stringify(model.doStreamCalls[call]?.prompt)
}
function told(model: ReturnType<typeof scripted>, call: number): unknown[] {
  return (model.doStreamCalls[call]?.prompt ?? []).map(({ content }) =>
    typeof content === 'string' ? content : content.map((part) => ('text' in part ? part.text : '')).join(''),
  )
}

test('is listed with its name, description, model and tools', async () => {
  const { json } = await server.call('GET', '/api/v1/agents/plain')
  expect(json).toMatchObject({
    kind: 'agent',
    name: 'Plain',
    description: 'Says ok.',
    model: 'scripted/one',
    tools: [{ name: 'weather', description: 'Tells the weather.' }],
    knowledge: false,
  })
})

describe('knowledge', () => {
  test('true: the passages that fit are in the prompt, their sources in the answer', async () => {
    const { json, runId } = await server.ask('first', 'Which port is the default?')
    expect(promptOf(models.first)).toContain('The default port is 8080.')
    expect(json.sources.map(({ source }: { source: string }) => source)).toContain('en.md')
    expect(typesOf(await server.events(runId))).toContain('retrieval')
  })

  test('limit, filters and collection say what is searched', async () => {
    const { json } = await server.ask('filtered', 'Port?')
    expect(json.sources).toMatchObject([{ source: 'de.md', index: 1 }])
    expect((await server.ask('manual', 'Port?')).json.sources).toMatchObject([{ source: 'manual.md' }])
    expect(promptOf(models.manual)).not.toContain('8080')
  })

  test('mode tool: the model searches when it wants to', async () => {
    const { json, runId } = await server.ask('tool', 'Which port?')
    expect(json).toMatchObject({ content: '8080 [1]', sources: [{ index: 1 }] })
    expect(promptOf(models.tool)).not.toContain('8080')
    expect(promptOf(models.tool, 1)).toContain('8080')
    expect(eventsOf(await server.events(runId), 'tool_call')).toMatchObject([{ name: 'search_knowledge' }])
  })

  test('without a model the best passage is quoted', async () => {
    expect((await server.ask('quoting', 'What is the default port?')).json.content).toMatch(
      /default port is 8080\.\n\[1\] en\.md:1/,
    )
  })
})

describe('memory', () => {
  async function three(id: string) {
    const { json } = await server.ask(id, 'one')
    const more = { session_id: json.session_id }
    await server.ask(id, 'two', more)
    await server.ask(id, 'three', more)
  }

  test('runs: so many earlier runs are told', async () => {
    await three('memory')
    expect(told(models.memory, 2)).toEqual(['two', 'ok', 'three'])
  })

  test('tokens: as many of the newest runs as fit, each whole', async () => {
    await three('budget')
    expect(told(models.budget, 2)).toEqual(['two', 'ok', 'three'])
  })

  test("the session's summary takes the place of what came before it", async () => {
    const { json } = await server.ask('summary', 'one')
    const more = { session_id: json.session_id }
    await server.call('POST', `/api/v1/sessions/${json.session_id}/summary`)
    await server.ask('summary', 'two', more)
    expect(told(models.summary, 1)[0]).toContain('They talked of one.')
    await server.ask('unsummarised', 'three', more)
    expect(told(models.unsummarised, 0)).toEqual(['one', 'ok', 'two', 'ok', 'three'])
  })

  test('runs 0: nothing is told', async () => {
    const { json } = await server.ask('forgetful', 'one')
    await server.ask('forgetful', 'two', { session_id: json.session_id })
    expect(told(models.forgetful, 1)).toEqual(['two'])
  })
})

test('timeout bounds a background run', async () => {
  const { status, json } = await server.ask('slow', 'x', { background: true })
  expect(status).toBe(202)
  const events = await server.events(json.run_id)
  expect(eventsOf(events, 'run_end')).toMatchObject([{ status: 'cancelled', cancellation_reason: 'timeout' }])
})

test("the AI SDK's settings reach the model, and its callbacks are called", async () => {
  await server.ask('settings', 'Hi')
  const [call] = models.settings.doStreamCalls
  expect(call).toMatchObject({ temperature: 0.5, maxOutputTokens: 7, topP: 0.9, seed: 3, stopSequences: ['END'] })
  expect(call?.headers).toMatchObject({ 'x-team': 'a' })
  expect(call?.providerOptions).toEqual({ scripted: { effort: 'low' } })
  expect(call?.prompt[0]).toMatchObject({ role: 'system', content: 'Be brief.' })
  expect(callbacks).toEqual(['step start', 'end'])
})

test('activeTools, toolChoice and stopWhen say what the loop does', async () => {
  const { json } = await server.ask('choice', 'Bern?')
  expect(json).toMatchObject({ status: 'completed', content: '' })
  expect(models.choice.doStreamCalls).toHaveLength(1)
  expect(models.choice.doStreamCalls[0]).toMatchObject({
    tools: [{ name: 'weather' }],
    toolChoice: { type: 'required' },
  })
})

describe('an agent of the AI SDK', () => {
  test('runs as it is, recorded like every other', async () => {
    const { json, runId } = await server.ask('sdk', 'Bern?')
    expect(json.content).toBe('21')
    const events = await server.events(runId)
    expect(eventsOf(events, 'tool_result')).toMatchObject([{ name: 'weather', output: { degrees: 21 } }])
    expect(eventsOf(events, 'model_call_end')).toHaveLength(2)
  })

  test('gives its structured output as data', async () => {
    expect((await server.ask('sdkData', 'x')).json.messages.at(-1).parts).toEqual([{ type: 'data', data: { a: 1 } }])
  })
})
