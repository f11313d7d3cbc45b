import { APICallError } from 'ai'
import { afterEach, expect, test } from 'vitest'
import type { EmittedEvent } from '../../src/core/event.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { team } from '../../src/runnables/team/team.ts'
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts'
import { eventsOf, serveAgents } from '../runnables/agent-server.ts'

/* A cost is whole or it is not known: no run, session or parent of a run costs only what some of its calls reported. */

const nothing = { input_tokens: 0, output_tokens: 0, total_tokens: 0 }
const million = { input_tokens: 1_000_000, output_tokens: 0, total_tokens: 1_000_000 }
const mini = (...script: (string | ScriptedAnswer)[]) =>
  Object.assign(scriptedModel(...script), { provider: 'openai.chat', modelId: 'gpt-4o-mini' })

/** As a provider's package fails; it is tried again after a millisecond. */
function failure(statusCode: number | undefined): APICallError {
  const message = 'It does not work.'
  const about = { message, url: 'http://127.0.0.1/', requestBodyValues: {}, responseHeaders: { 'retry-after-ms': '1' } }
  return new APICallError({ ...about, isRetryable: true, ...(statusCode !== undefined && { statusCode }) })
}

/** Its code makes a call that reports a million tokens, and one that it never ends; `reached` once that is under way. */
function hangingAt(model: string) {
  const reached = Promise.withResolvers<void>()
  const hanging = agent({
    sideEffects: false,
    async *run({ signal }): AsyncGenerator<EmittedEvent> {
      yield { type: 'model_call_start', call_id: 'a', model }
      yield { type: 'model_call_end', call_id: 'a', usage: million, finish_reason: 'stop', duration_ms: 1 }
      yield { type: 'model_call_start', call_id: 'b', model }
      const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      reached.resolve()
      await stopped
    },
  })
  return { hanging, reached: reached.promise }
}

type Server = Awaited<ReturnType<typeof serveAgents>>

/** The run once it is cancelled in the middle of a call, with the head of its session. */
async function cancelled(server: Server, id: string, reached: Promise<void>) {
  const { json: started } = await server.ask(id, 'x', { background: true })
  await reached
  await server.call('POST', `/api/v1/runs/${started.run_id}/cancel`, {})
  const run = (await server.call('GET', `/api/v1/runs/${started.run_id}`)).json
  expect(run.status).toBe('cancelled')
  return { run, head: await headOf(server, run.session_id) }
}

async function headOf(server: Server, sessionId: string) {
  const { sessions } = (await server.call('GET', '/api/v1/sessions?view=head')).json
  return sessions.find(({ session_id: id }: { session_id: string }) => id === sessionId)
}

let server: Server
afterEach(() => server.close())

test('a run without a model of its own is local, and reports no tokens', async () => {
  server = await serveAgents({})
  const { json } = await server.ask('docs', 'What is a wombat?')
  expect(json).toMatchObject({ usage: null, cost: { usd: 0, as_of: null, local: true } })
  expect(json.usage_by_model).toEqual([{ model: 'offline', ...nothing, unreported_calls: 1 }])
  const head = await headOf(server, json.session_id)
  expect(head).toMatchObject({ usage: null, cost: { usd: 0, as_of: null, local: true } })
  const { json: echo } = await server.ask('echo', 'x')
  expect(echo).toMatchObject({ usage: null, cost: null })
  expect(echo).not.toHaveProperty('usage_by_model')
})

test.each([
  ['openai/gpt-4o-mini', null],
  ['ollama/qwen3:8b', { usd: 0, as_of: null, local: true }],
])('a run of %s that is cut off in a call costs %j, with its session', async (model, cost) => {
  const { hanging, reached } = hangingAt(model)
  server = await serveAgents({ hanging })
  const { run, head } = await cancelled(server, 'hanging', reached)
  expect(run.usage).toEqual(million)
  expect(run.usage_by_model).toEqual([{ model, ...million, largest_input_tokens: 1_000_000, unreported_calls: 1 }])
  expect(run.cost).toEqual(cost)
  expect(head).toMatchObject({ usage: million, cost })
})

test('a team whose member is cut off does not cost what the others reported', async () => {
  const first = agent({ model: mini({ text: 'One.', usage: { input_tokens: 10, output_tokens: 1 } }) })
  const members = ['first', 'hanging']
  const { hanging, reached } = hangingAt('ollama/a')
  server = await serveAgents({ first, hanging, both: team({ mode: 'sequence', members }) })
  const { run, head } = await cancelled(server, 'both', reached)
  expect(run.usage).toMatchObject({ input_tokens: 10 })
  expect(run.usage_by_model).toContainEqual({ model: null, ...nothing, unreported_calls: 1 })
  expect(run.cost).toBeNull()
  expect(head.cost).toBeNull()
})

test.each([
  [401, true],
  [429, true],
  [500, true],
  [408, false],
  [504, false],
  [undefined, false],
])('a call that fails with status %s before its retry is refused: %s', async (status, isRefused) => {
  const model = mini(
    { error: failure(status) },
    { text: 'Done.', usage: { input_tokens: 1_000_000, output_tokens: 0 } },
  )
  server = await serveAgents({ asked: agent({ model }) })
  const { json } = await server.ask('asked', 'x')
  expect(json.content).toBe('Done.')
  const [failed, done] = eventsOf(await server.events(json.run_id), 'model_call_end')
  expect(failed).toMatchObject({ finish_reason: 'error', usage: null, cost: null })
  expect(failed?.refused).toBe(isRefused || undefined)
  expect(done).not.toHaveProperty('refused')
  expect(json.cost).toEqual(isRefused ? { usd: 0.15, as_of: expect.any(String) } : null)
  expect(json.usage_by_model[0].unreported_calls).toBe(isRefused ? undefined : 1)
})

test('a turn that is refused leaves its session the cost of the others; one that breaks off does not', async () => {
  const usage = { input_tokens: 1_000_000, output_tokens: 0 }
  const model = mini(
    { text: 'Done.', usage },
    { error: new APICallError({ ...failure(401), message: 'No.', isRetryable: false, statusCode: 401 }) },
    { error: new Error('The line is dead.') },
  )
  server = await serveAgents({ asked: agent({ model }) })
  const { json } = await server.ask('asked', 'x')
  const more = { session_id: json.session_id }
  const { runId } = await server.ask('asked', 'y', more)
  const { json: refused } = await server.call('GET', `/api/v1/runs/${runId}`)
  expect(refused).toMatchObject({ status: 'failed', usage: null, cost: null })
  expect(refused).not.toHaveProperty('usage_by_model')
  expect((await headOf(server, json.session_id)).cost).toMatchObject({ usd: 0.15 })
  await server.ask('asked', 'z', more)
  expect(await headOf(server, json.session_id)).toMatchObject({ usage: million, cost: null })
})

test('a user sees what the own runs and sessions cost, and of those of others nothing', async () => {
  const usage = { input_tokens: 1_000_000, output_tokens: 0 }
  const model = mini({ text: 'One.', usage }, { text: 'Two.', usage })
  const keys = ['ann', 'bob'].map((userId) => ({ key: `the-key-of-${userId}`, userId }))
  server = await serveAgents({ asked: agent({ model }) }, { auth: { keys } })
  const as = (name: string) => ({ authorization: `Bearer the-key-of-${name}` })
  const ask = async (name: string) =>
    (await server.call('POST', '/api/v1/agents/asked/run', { input: 'x' }, as(name))).json
  const runs = { ann: await ask('ann'), bob: await ask('bob') }
  for (const name of ['ann', 'bob'] as const) {
    const read = async (path: string) => server.call('GET', `/api/v1${path}`, undefined, as(name))
    const { run_id: id, session_id: session } = runs[name]
    expect(runs[name].cost).toMatchObject({ usd: 0.15 })
    expect((await read(`/runs/${id}`)).json.cost).toMatchObject({ usd: 0.15 })
    expect((await read(`/runs/${id}/events`)).text).toContain('"cost":{"usd":0.15')
    const listed = (await read('/runs')).json.runs
    expect(listed).toMatchObject([{ run_id: id, cost: { usd: 0.15 } }])
    const heads = (await read('/sessions?view=head')).json.sessions
    expect(heads).toMatchObject([{ session_id: session, cost: { usd: 0.15 } }])
    const other = runs[name === 'ann' ? 'bob' : 'ann']
    for (const path of [`/runs/${other.run_id}`, `/runs/${other.run_id}/events`, `/sessions/${other.session_id}`]) {
      const answer = await read(path)
      expect(answer.status).toBe(404)
      expect(answer.text).not.toContain('cost')
    }
  }
})
