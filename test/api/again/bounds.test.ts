import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test, vi } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { mcp } from '../../../src/runnables/mcp/mcp.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { asTool } from '../../../src/runnables/tools/as-tool.ts'
import { remoteAgent } from '../../../src/runnables/tools/remote-agent.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { openEndpoint, streamWords } from '../../models/endpoint.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { bodiesOf, office, serveAgain } from './fixture.ts'

test('a run under way can not be repeated, and can once it has ended', async () => {
  const end = Promise.withResolvers<void>()
  const slow = agent({
    async *run() {
      await end.promise
      yield 'done'
    },
  })
  await using server = await serveAgain({ slow })
  const { runId } = await server.ask('slow', 'x', { background: true })
  expect(await server.again(runId, { after: 'live' })).toMatchObject({
    status: 409,
    json: { error: { run_id: runId } },
  })
  end.resolve()
  await server.ended(runId ?? '')
  expect((await server.again(runId, { after: 'live' })).status).toBe(202)
})

test('without `server.studio.again`, and for a key of a user, it is refused', async () => {
  await using closed = await serveAgain({ office: office().entity }, { studio: {} })
  const { runId } = await closed.ask('office', 'When?')
  expect(await closed.again(runId)).toMatchObject({ status: 403, json: { error: { code: 'forbidden' } } })
  const keys = [
    'key-of-operator',
    { key: 'key-of-ann-1', userId: 'ann', scopes: ['run', 'sessions', 'prompts'] as const },
  ]
  await using keyed = await serveAgain({ office: office().entity }, { auth: { keys: keys as never } })
  const ann = { authorization: 'Bearer key-of-ann-1' }
  const own = (await keyed.call('POST', '/api/v1/agents/office/run', { input: 'When?' }, ann)).json.run_id
  expect((await keyed.again(own, {}, ann)).status).toBe(403)
  expect((await keyed.again(own, {}, { authorization: 'Bearer key-of-operator' })).status).toBe(202)
})

test('the response cache neither answers it nor is filled by it', async () => {
  const model = scriptedModel(({ number }) => `answer ${number}`)
  await using server = await serveAgain({ quick: agent({ model, cache: { ttl: '1h' } }) })
  const { runId, json } = await server.ask('quick', 'Hello?')
  const { id } = await server.again(runId)
  expect((await server.ended(id)).run).toMatchObject({ content: 'answer 2', cache_hit: false })
  const { id: other } = await server.again(runId, { edit: { input: 'And you?' } })
  expect((await server.ended(other)).run.content).toBe('answer 3')
  expect((await server.ask('quick', 'Hello?')).json).toMatchObject({ content: json.content, cache_hit: true })
  expect((await server.ask('quick', 'And you?')).json).toMatchObject({ content: 'answer 4', cache_hit: false })
})

test('two requests at once make two runs with the same record before them', async () => {
  const { entity, made } = office()
  await using server = await serveAgain({ office: entity })
  const { runId } = await server.ask('office', 'When?')
  const from = (await server.events(runId)).findLast(({ type }) => type === 'model_call_start')?.seq ?? 0
  made.length = 0
  const both = await Promise.all([server.again(runId, { from }), server.again(runId, { from })])
  const [one, two] = await Promise.all(both.map(({ id }) => server.ended(id)))
  expect(one?.run.run_id).not.toBe(two?.run.run_id)
  const parts = (all = one) => bodiesOf(all?.events.filter(({ seq }) => seq < from) ?? [])
  expect(parts(two)).toEqual(parts(one))
  expect([one?.run.status, two?.run.status, made]).toEqual(['completed', 'completed', []])
})

test('another model of the config answers what is made anew, and only that', async () => {
  await using endpoint = await openEndpoint((response) => streamWords(response, 'the other one'))
  vi.stubEnv('OLLAMA_HOST', endpoint.origin.slice('http://'.length))
  onTestFinished(() => void vi.unstubAllEnvs())
  const { entity, model } = office()
  await using server = await serveAgain({ office: entity })
  const { runId } = await server.ask('office', 'When?')
  const from = (await server.events(runId)).findLast(({ type }) => type === 'model_call_start')?.seq
  const { id } = await server.again(runId, { from, edit: { model: 'ollama/tiny' } })
  const { run, events } = await server.ended(id)
  expect(run).toMatchObject({ status: 'completed', content: expect.stringContaining('the other one') })
  const asked = events.flatMap((event) => (event.type === 'model_call_start' ? [event.model] : []))
  expect(asked).toEqual(['scripted/scripted', 'scripted/scripted', 'ollama/tiny'])
  expect(run.usage_by_model).toMatchObject([{ model: 'ollama/tiny' }])
  expect([endpoint.requests.length, model.calls.length]).toEqual([1, 3])
  expect((await server.again(runId, { edit: { model: 'nobody/small' } })).status).toBe(400)
})

test('a tool of an MCP server is not called without an approval', async () => {
  await using folder = await temporaryFolder()
  const calls = join(folder.path, 'calls.txt')
  const fixture = join(import.meta.dirname, '../../fixtures/mcp-server.ts')
  const calc = mcp({ command: process.execPath, args: [fixture], env: { CALLS: calls } })
  const model = scriptedModel(({ prompt }) =>
    prompt.at(-1)?.role === 'tool'
      ? 'three'
      : { tool_calls: [{ name: 'calc_add', input: { a: 1, b: 2 }, call_id: 'c1' }] },
  )
  await using server = await serveAgain({ sums: agent({ model, tools: { calc } }) })
  const { runId, json } = await server.ask('sums', 'add')
  expect(json.status).toBe('completed')
  const count = () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n').length : 0)
  expect(count()).toBe(1)
  const { id } = await server.again(runId)
  expect((await server.ended(id)).run.waiting).toMatchObject([{ kind: 'approval', tool: 'calc_add' }])
  const kept = await server.again(runId, { after: 'recorded' })
  expect((await server.ended(kept.id)).run).toMatchObject({ status: 'completed', content: 'three' })
  expect(count()).toBe(1)
  await server.resume(id, { approved: true })
  expect((await server.ended(id)).run.content).toBe('three')
  expect(count()).toBe(2)
})

test('what lies before a retrieval, and the search that is made anew, are as recorded', async () => {
  await using server = await serveAgain({ office: office().entity })
  const content = 'The office opens at nine.\n\nRefunds take five days.'
  await server.call('POST', '/api/v1/knowledge/content', { content, source: 'hours.md' })
  const { runId } = await server.ask('office', 'When does the office open?')
  const events = await server.events(runId)
  const from = events.find(({ type }) => type === 'retrieval')?.seq ?? 0
  const { id } = await server.again(runId, { from, after: 'recorded' })
  const { events: now } = await server.ended(id)
  const first = (all: typeof events) => all.findIndex(({ type }) => type === 'model_call_start')
  expect(events.filter(({ type }) => type === 'retrieval')).toHaveLength(1)
  const steady = (all: typeof events) =>
    bodiesOf(all.slice(0, first(all) + 1)).map((event) => ({ ...event, duration_ms: 0, call_id: '' }))
  expect(steady(now)).toEqual(steady(events))
})

test('the rows of the session in SQLite are the same before and after tries', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'agentserve.db')
  await using server = await serveAgain({ office: office().entity }, { sessionStorage: { type: 'sqlite', path } })
  const { runId, json } = await server.ask('office', 'When?')
  await server.ask('office', 'And then?', { session_id: json.session_id })
  const rows = () => {
    const db = new DatabaseSync(path, { readOnly: true })
    try {
      const all = (table: string, where = '') => db.prepare(`SELECT * FROM ${table} ${where}`).all()
      const turns = `WHERE begun ->> '$.again_of.keep' IS NOT 'no' ORDER BY run_number`
      return [all('sessions'), all('session_usage'), all('session_owners'), all('summaries'), all('runs', turns)]
    } finally {
      db.close()
    }
  }
  const before = rows()
  const { runs } = await server.again(runId, { times: 2 })
  for (const { run_id } of runs) await server.ended(run_id)
  await server.resume(runs[0]?.run_id ?? '', { approved: true })
  await server.call('POST', `/api/v1/runs/${runs[1]?.run_id}/cancel`)
  const { id } = await server.again(runId, { after: 'recorded' })
  await server.ended(id)
  expect(rows()).toEqual(before)
})

test('what was changed is not shown to a key without `prompts`', async () => {
  const keys = ['key-of-operator', { key: 'key-of-clerk-1', scopes: ['run', 'sessions'] as const }]
  const plain = agent({ model: scriptedModel(() => 'Hello.'), instructions: 'plain' })
  await using server = await serveAgain({ plain }, { auth: { keys: keys as never } })
  const operator = { authorization: 'Bearer key-of-operator' }
  const { json } = await server.call('POST', '/api/v1/agents/plain/run', { input: 'Hi' }, operator)
  const edit = { instructions: 'the-secret-edit' }
  const { id, runs } = await server.again(json.run_id, { edit, keep: 'fork' }, operator)
  await server.call('GET', `/api/v1/runs/${id}/events`, undefined, operator)
  const read = (path: string, key: string) =>
    server.call('GET', `/api/v1/${path}`, undefined, { authorization: `Bearer ${key}` })
  expect((await read(`runs/${id}/trace`, 'key-of-operator')).text).toContain('the-secret-edit')
  const session = runs[0]?.session_id
  const paths = [
    `runs/${id}`,
    `runs/${id}/events`,
    `runs/${id}/events?include=prompts`,
    `runs/${id}/trace`,
    `runs/${id}/text`,
  ]
  const others = ['runs?again=true', `sessions/${session}`, `sessions/${session}/history`, `sessions/${session}/export`]
  for (const path of [...paths, ...others]) {
    const { text } = await read(path, 'key-of-clerk-1')
    expect([path, text]).toEqual([path, expect.not.stringContaining('the-secret-edit')])
  }
})

test.each(['lead', 'route', 'parallel'] as const)(
  'a team in the mode %s asks before it acts, from each of its steps',
  async (mode) => {
    const lead = scriptedModel(({ prompt }) =>
      prompt.at(-1)?.role === 'tool'
        ? 'the lead says so'
        : { tool_calls: [{ name: 'ask_office', input: { task: 'When?' }, call_id: 'a1' }] },
    )
    const { entity, made } = office()
    const desk = team({ members: ['office'], mode, ...(mode === 'parallel' ? {} : { model: lead }) })
    await using server = await serveAgain({ office: entity, desk: desk as never })
    const { runId, json } = await server.ask('desk', 'When?')
    expect(json.status).toBe('completed')
    const events = await server.events(runId)
    made.length = 0
    const outcomes: string[] = []
    for (const { seq, type } of events.filter((one) =>
      ['model_call_start', 'tool_call', 'step_start'].includes(one.type),
    )) {
      const { id, status, text } = await server.again(runId, { from: seq })
      expect(status, text).toBe(202)
      const { run } = await server.ended(id)
      expect([type, run.status, made]).toEqual([type, expect.stringMatching(/input_required|completed/), []])
      outcomes.push(run.status)
    }
    expect(outcomes).toContain('input_required')
  },
)

test('a remote agent is not asked again without an approval: alone, as a tool and in a team', async () => {
  let asked = 0
  const far = agent({
    async *run() {
      asked++
      yield 'from afar'
    },
  })
  await using there = await serveAgain({ far })
  const remote = remoteAgent({ url: there.url, agentId: 'far' })
  const model = scriptedModel(({ prompt }) =>
    prompt.at(-1)?.role === 'tool'
      ? 'It said so.'
      : { tool_calls: [{ name: 'call', input: { question: 'well?' }, call_id: 'c1' }] },
  )
  const desk = agent({ model, tools: { call: asTool(remote, { description: 'Far away.' }) } })
  await using server = await serveAgain({ remote, desk, pair: team({ members: [remote], mode: 'sequence' }) })
  const first = { remote: '', desk: '', pair: '' }
  for (const id of ['remote', 'desk', 'pair'] as const) {
    const { runId, json } = await server.ask(id, 'well?')
    expect([id, json.status]).toEqual([id, 'completed'])
    first[id] = runId ?? ''
  }
  expect(asked).toBe(3)
  expect((await server.again(first.remote)).status).toBe(400)
  for (const id of ['desk', 'pair'] as const) {
    for (const after of ['ask', 'recorded']) {
      const { id: tried } = await server.again(first[id], { after })
      expect((await server.ended(tried)).run.waiting).toMatchObject([{ kind: 'approval' }])
    }
  }
  expect(asked).toBe(3)
})
