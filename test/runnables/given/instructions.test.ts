import { ToolLoopAgent, tool } from 'ai'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { ServerConfig } from '../../../src/config/types.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { type Script, scriptedModel } from '../../../src/testing/scripted-model.ts'
import { serveAgents } from '../agent-server.ts'

const wish = 'Answer in French.'
const ignored = 'x-agentserve-ignored'

/** The system messages of each prompt that the model got. */
function listening(script: Script = () => 'Oui.') {
  const told: string[][] = []
  const model = scriptedModel((call) => {
    told.push(call.prompt.flatMap(({ role, content }) => (role === 'system' ? [content] : [])))
    return script(call)
  })
  return { told, model }
}

async function serve(entities: Record<string, object>, config: ServerConfig = {}) {
  const server = await serveAgents(entities, config)
  onTestFinished(() => server.close())
  return server
}

test("a caller's instructions follow those of the agent, however it gives them", async () => {
  const { told, model } = listening()
  const server = await serve({
    text: agent({ model, instructions: 'Be kind.' }),
    none: agent({ model }),
    message: agent({ model, instructions: { role: 'system', content: 'Be kind.' } }),
    list: agent({ model, instructions: [{ role: 'system', content: 'Be kind.' }] }),
    call: agent({
      model,
      instructions: 'Be kind.',
      prepareCall: (options) => ({ ...options, instructions: `${options.instructions} Be quick.` }),
    }),
    step: agent({ model, instructions: 'Be kind.', prepareStep: () => ({ instructions: 'Be quick.' }) }),
  })
  for (const id of ['text', 'none', 'message', 'list', 'call', 'step']) {
    const { status, headers } = await server.ask(id, 'Hello', { instructions: wish })
    expect([status, headers.get(ignored)]).toEqual([200, null])
  }
  expect(told).toEqual([
    [`Be kind.\n\n${wish}`],
    [wish],
    ['Be kind.', wish],
    ['Be kind.', wish],
    [`Be kind. Be quick.\n\n${wish}`],
    [`Be quick.\n\n${wish}`],
  ])
  await server.ask('text', 'Hello')
  expect(told.at(-1)).toEqual(['Be kind.'])
})

test('code that prepares steps sees what is its own, and the caller has the last word once', async () => {
  const look = tool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'seen' })
  const { told, model } = listening(({ number }) =>
    number < 3 ? { tool_calls: [{ name: 'look', input: {} }] } : 'Oui.',
  )
  const seen: unknown[] = []
  const server = await serve({
    it: agent({
      model,
      instructions: 'Be kind.',
      tools: { look },
      prepareStep({ instructions, stepNumber }) {
        seen.push(instructions)
        return stepNumber === 2 ? {} : { instructions: `${instructions} Step ${stepNumber}.` }
      },
    }),
  })
  await server.ask('it', 'Hello', { instructions: wish })
  expect(seen).toEqual(['Be kind.', 'Be kind. Step 0.', 'Be kind. Step 0. Step 1.'])
  expect(told).toEqual([
    [`Be kind. Step 0.\n\n${wish}`],
    [`Be kind. Step 0. Step 1.\n\n${wish}`],
    [`Be kind. Step 0. Step 1.\n\n${wish}`],
  ])
})

test('a resumed run keeps them', async () => {
  const act = tool({ description: 'Acts.', inputSchema: z.object({}), execute: () => 'done' })
  const { told, model } = listening(({ number }) =>
    number === 1 ? { tool_calls: [{ name: 'act', input: {} }] } : 'Oui.',
  )
  const it = agent({ model, instructions: 'Be kind.', tools: { act }, toolApproval: { act: 'user-approval' } })
  const server = await serve({ it }, { sessionStorage: 'memory' })
  const { json } = await server.ask('it', 'Hello', { instructions: wish })
  expect(json.status).toBe('input_required')
  await server.call('POST', `/api/v1/runs/${json.run_id}/resume`, { approved: true })
  expect(told).toEqual([[`Be kind.\n\n${wish}`], [`Be kind.\n\n${wish}`]])
})

test('own code and workflows read them; what has no use for them says so', async () => {
  const { told, model } = listening()
  const member = agent({ name: 'member', run: ({ instructions }) => `member: ${instructions}` })
  const server = await serve({
    own: agent({ run: ({ instructions }) => `own: ${instructions}` }),
    flow: workflow({ run: ({ instructions }) => `flow: ${instructions}` }),
    offline: agent({}),
    hosted: new ToolLoopAgent({ model, instructions: 'Be kind.' }),
    listed: team({ mode: 'parallel', members: [member] }),
    combined: team({ mode: 'parallel', members: [member], model, instructions: 'Combine.' }),
  })
  const outcome = async (id: string) => {
    const { json, headers, runId } = await server.ask(id, 'Hello', { instructions: wish })
    const exported = await server.call('GET', `/api/v1/sessions/${json.session_id}/export?events=false`)
    expect(exported.text.includes(wish), `${id}, ${runId}`).toBe(headers.get(ignored) === null)
    return [headers.get(ignored), json.content]
  }
  expect(await outcome('own')).toEqual([null, `own: ${wish}`])
  expect(await outcome('flow')).toEqual([null, `flow: ${wish}`])
  expect((await outcome('offline'))[0]).toBe('instructions')
  expect((await outcome('hosted'))[0]).toBe('instructions')
  expect(await outcome('listed')).toEqual(['instructions', 'member:\nmember: undefined'])
  expect((await outcome('combined'))[0]).toBeNull()
  expect(told).toEqual([['Be kind.'], [`Combine.\n\n${wish}`]])
})

test('those of a key of a user are ignored unless the config says otherwise, and not recorded', async () => {
  const keys = ['key-of-operator', { key: 'key-of-ann', userId: 'ann' }]
  const own = agent({ run: ({ instructions }) => `${instructions}` })
  const answers = async (config: ServerConfig, key: string, more: object = {}) => {
    const server = await serve({ own }, { ...config, auth: { keys } })
    const answer = await server.call(
      'POST',
      '/api/v1/agents/own/run',
      { input: 'x', instructions: wish, ...more },
      { authorization: `Bearer ${key}`, 'idempotency-key': 'one' },
    )
    return [answer.json?.content, answer.headers.get(ignored)]
  }
  expect(await answers({}, 'key-of-operator')).toEqual([wish, null])
  expect(await answers({}, 'key-of-operator', { user_id: 'ann' })).toEqual([wish, null])
  expect(await answers({}, 'key-of-ann')).toEqual(['undefined', 'instructions'])
  expect(await answers({}, 'key-of-ann', { user_id: 'ann' })).toEqual(['undefined', 'instructions'])
  expect(await answers({ clientInstructions: 'append' }, 'key-of-ann')).toEqual([wish, null])
  expect(await answers({ clientInstructions: 'ignore' }, 'key-of-operator')).toEqual(['undefined', 'instructions'])
})

test('the header comes with streams, background runs and retries too', async () => {
  const server = await serve({ own: agent({ run: () => 'ok' }) }, { clientInstructions: 'ignore' })
  const body = { input: 'x', instructions: wish }
  for (const [path, more] of [
    ['run', {}],
    ['run', { background: true }],
    ['run', { stream: true }],
    ['run/stream', {}],
  ] as const) {
    const send = () =>
      server.call(
        'POST',
        `/api/v1/agents/own/${path}`,
        { ...body, ...more },
        { 'idempotency-key': `${path}${JSON.stringify(more)}` },
      )
    expect((await send()).headers.get(ignored)).toBe('instructions')
    expect((await send()).headers.get(ignored)).toBe('instructions')
  }
})

test.each([
  ['', 'instructions must not be empty'],
  ['x'.repeat(65_537), 'instructions must have at most 65536 characters'],
  [7, 'instructions must be a string'],
  [[{ role: 'system', content: 'x' }], 'instructions must be a string'],
])('refuses wrong instructions, number %#', async (instructions, words) => {
  const server = await serve({ own: agent({ run: () => 'ok' }) })
  const { status, json } = await server.ask('own', 'x', { instructions })
  expect([status, json.error.message]).toEqual([400, expect.stringContaining(words)])
})
