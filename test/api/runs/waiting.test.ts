import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../../src/core/json.ts'
import type { Waiting } from '../../../src/core/run.ts'
import { partsOf } from '../../../src/runnables/again/answer-stream.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { eventsOf, serveAgents } from '../../runnables/agent-server.ts'
import { answer, scripted } from '../../runnables/fixture.ts'
import { weather } from '../../runnables/weather.ts'
import { runnable } from '../../support/services.ts'

const publisher = (name: string) =>
  workflow({ name, run: async ({ approve }) => `${name}: ${JSON.stringify(await approve('publish', { by: name }))}` })

const schema = { type: 'object', properties: { day: { type: 'string', minLength: 3 } }, required: ['day'] }
const large = 'x'.repeat(70_000)

let server: Awaited<ReturnType<typeof serveAgents>>
beforeAll(async () => {
  const city = (call_id: string, name: string) => ({ call_id, name: 'weather', input: { city: name } })
  server = await serveAgents({
    careful: agent({
      model: scripted(partsOf({ tool_calls: [city('c1', 'Bern'), city('c2', 'Rome')] }), answer('Done.')),
      tools: { weather },
      toolApproval: { weather: 'user-approval' },
    }),
    both: team({ mode: 'parallel', members: [publisher('one'), team({ name: 'two', members: [publisher('leaf')] })] }),
    asking: runnable(async function* (_input, { resumed }) {
      if (resumed === undefined) yield { type: 'input_required', prompt: 'When?', schema, data: large }
      else yield JSON.stringify(resumed.input)
    }),
  })
})
afterAll(() => server.close())

const resume = (runId: string | undefined, body: object) => server.call('POST', `/api/v1/runs/${runId}/resume`, body)

describe('what a run waits for', () => {
  test('is in its answer and wherever runs are read, until it is answered', async () => {
    const { json, runId } = await server.ask('careful', 'Warm?')
    const waiting: Waiting[] = ['Bern', 'Rome'].map((city, place) => ({
      call_id: `c${place + 1}`,
      kind: 'approval',
      tool: 'weather',
      prompt: "Allow the tool 'weather' to run?",
      data: { city },
    }))
    expect(json).toMatchObject({ status: 'input_required', waiting })
    const session = `/api/v1/sessions/${json.session_id}`
    const everywhere = async () => {
      const get = async (path: string) => (await server.call('GET', path)).json
      return [
        (await get(`/api/v1/runs/${runId}`)).waiting,
        (await get(`/api/v1/runs?session_id=${json.session_id}`)).runs[0].waiting,
        (await get(`${session}/runs`)).runs[0].waiting,
        (await get(session)).runs[0].waiting,
        (await get(`${session}/history`)).runs[0].waiting,
      ]
    }
    expect(await everywhere()).toEqual(Array(5).fill(waiting))
    expect(eventsOf(await server.events(runId), 'input_required')).toMatchObject(waiting)

    const answers = { c1: { approved: true }, c2: { approved: false, reason: 'Rome is known.' } }
    const ended = (await resume(runId, { answers })).json
    expect(ended).toMatchObject({ status: 'completed', content: 'Done.', waiting: [] })
    expect(await everywhere()).toEqual(Array(5).fill([]))
    const prompts = eventsOf(await server.events(runId), 'model_call_start').map(({ messages }) =>
      JSON.stringify(messages),
    )
    expect(prompts.at(-1)?.match(/Rome is known\./g)).toHaveLength(1)
    expect((await resume(runId, { answers })).json).toEqual(ended)
    expect((await resume(runId, { approved: true })).status).toBe(409)
  })

  test('leaves out data that is too large, which the event has', async () => {
    const { json, runId } = await server.ask('asking', 'x')
    expect(json.waiting).toEqual([{ kind: 'input', prompt: 'When?', schema }])
    expect(eventsOf(await server.events(runId), 'input_required')).toMatchObject([{ data: large, kind: 'input' }])
  })
})

test.each([
  ['input', { input: { day: 'Mo' } }, ['input.day']],
  ['input', { input: {} }, ['input.day']],
  ['input', { answers: { a: { input: 1 } } }, ['answers.a']],
  ['form', { answers: [] }, ['answers']],
  ['form', { answers: { a: 5 } }, ['answers.a']],
  ['form', { answers: { a: { approved: 'yes' } } }, ['answers.a.approved']],
  ['form', { answers: { a: { reason: 5 } } }, ['answers.a.reason']],
])('refuses a wrong %s: %j', async (_what, body, paths) => {
  const { runId } = await server.ask('asking', 'x')
  const refused = await resume(runId, body)
  expect([refused.status, refused.json.error.code]).toEqual([400, 'invalid_request'])
  expect(refused.json.error.details.map(({ path }: { path: string }) => path)).toEqual(paths)
  expect((await resume(runId, { input: { day: 'Monday' } })).json.content).toBe('{"day":"Monday"}')
})

test('the error for very many wrong answers, or a very long id, stays short', async () => {
  const { runId } = await server.ask('asking', 'x')
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`call-${n}`, { approved: true }]))
  const long = 'x'.repeat(100_000)
  for (const answers of [many, { [long]: { approved: true } }, { [long]: { approved: 'x' } }]) {
    const { status, text, json } = await resume(runId, { answers })
    expect([status, json.error.code]).toEqual([400, 'invalid_request'])
    expect(text.length).toBeLessThan(20_000)
  }
  const { status, text } = await server.call('POST', '/api/v1/agents/asking/run', {
    input: 'x',
    history: Array(50_000).fill(5),
  })
  expect([status, text.length < 20_000]).toEqual([400, true])
})

test('a copy of a team that waits is answered by the new ids of its members', async () => {
  const { json, runId } = await server.ask('both', 'Go')
  const fork = (await server.call('POST', `/api/v1/sessions/${json.session_id}/fork`, {})).json
  const copied = await server.call('GET', `/api/v1/sessions/${json.session_id}/export`)
  const line = copied.text.split('\n').find((text) => text.includes(`"run_id":"${runId}"`))
  expect(JSON.parse(line ?? '{}').run.waiting).toEqual(json.waiting)
  const copy = (await server.call('GET', `/api/v1/runs/${fork.runs[0].run_id}`)).json
  expect(copy.waiting).toHaveLength(2)
  const ids = copy.waiting.map(({ call_id }: Waiting) => call_id)
  expect(ids.join()).not.toMatch(
    new RegExp(json.waiting.flatMap(({ call_id }: Waiting) => call_id?.match(/run_\w+/g)).join('|')),
  )
  const answers = Object.fromEntries(
    copy.waiting.map(({ call_id, data }: Waiting) => [call_id, { approved: true, input: (data as { by: Json }).by }]),
  )
  const ended = (await resume(copy.run_id, { answers })).json
  expect(ended).toMatchObject({ status: 'completed', content: 'one:\none: "one"\n\ntwo:\nleaf: "leaf"' })
  const again = (await server.call('POST', `/api/v1/sessions/${fork.session_id}/fork`, {})).json
  const recorded = eventsOf(await server.events(again.runs[0].run_id), 'run_resumed')[0]?.answers
  expect(Object.keys(recorded ?? {})).toHaveLength(2)
  for (const id of Object.keys(recorded ?? {})) expect(ids).not.toContain(id)
  expect((await server.call('GET', `/api/v1/runs/${runId}`)).json.waiting).toEqual(json.waiting)
})
