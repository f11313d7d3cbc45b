import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../src/runnables/agent/agent.ts'
import { tool } from '../../src/runnables/tools/tool.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

const tests = '/api/v1/dev/tests'
const usage = { input_tokens: 30, output_tokens: 4, total_tokens: 34 }
let server: RunningTestServer
let executed = 0
let answer = 'Here.'
let next: (() => string) | undefined
const gate = { opened: Promise.resolve() as Promise<unknown>, reached: Promise.withResolvers<void>(), aborted: 0 }

beforeEach(async () => {
  answer = 'Here.'
  next = undefined
  const lookUp = tool({
    inputSchema: z.object({ word: z.string() }),
    execute: async ({ word }) => {
      executed++
      return `meaning of ${word}`
    },
  })
  const model = scriptedModel({ tool_calls: [{ name: 'lookUp', input: { word: 'sea' } }] }, { text: 'Wide.', usage })
  const asks = agent({
    async *run() {
      yield { type: 'input_required', call_id: 'may', prompt: 'May I?' }
    },
  })
  const own = agent({ run: async () => next?.() ?? answer })
  const gated = agent({
    async *run({ signal }) {
      gate.reached.resolve()
      const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve))
      await Promise.race([gate.opened, stopped])
      if (signal.aborted) gate.aborted++
      yield 'Through.'
    },
  })
  const words = agent({ model, tools: { lookUp } })
  server = await startServer({}, { words, asks, own, gated }, { withTests: true })
})
afterEach(() => server.close())

async function converse(id: string, ...inputs: unknown[]): Promise<string> {
  let session_id: string | undefined
  for (const input of inputs) {
    const { json } = await server.call('POST', `/api/v1/agents/${id}/run`, { input, ...(session_id && { session_id }) })
    session_id = json.session_id
  }
  return session_id as string
}

const save = async (session_id: string, name: unknown) => server.call('POST', tests, { session_id, name })

async function play(body: unknown = {}) {
  const { status, text } = await server.call('POST', `${tests}/run`, body)
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string))
  return { status, text, events }
}

describe('GET /sessions/{id}/test', () => {
  test('is the file that save-test writes: hashes and answers, no prompts', async () => {
    const session = await converse('words', 'What is the sea?')
    const { status, headers, json, text } = await server.call('GET', `/api/v1/sessions/${session}/test`)
    expect(status).toBe(200)
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${session}.session.json"`)
    expect(json).toMatchObject({ agentserve: 'session-test/1', entity: 'words', tools: 'recorded' })
    expect(json.turns[0].model_calls).toHaveLength(2)
    expect(json.turns[0].expect.tool_calls).toEqual([
      { name: 'lookUp', input: { word: 'sea' }, output: 'meaning of sea' },
    ])
    expect(text).not.toContain('"messages"')
  })

  test('has the turns of the conversation, without those that were replaced', async () => {
    const session = await converse('own', 'one', 'two')
    const { json } = await server.call('GET', `/api/v1/sessions/${session}/runs`)
    const replaces = json.runs[0].run_id
    await server.call('POST', '/api/v1/agents/own/run', { input: 'three', session_id: session, replaces })
    const { turns } = (await server.call('GET', `/api/v1/sessions/${session}/test`)).json
    expect(turns.map(({ input }: { input: { text: string }[] }) => input[0]?.text)).toEqual(['one', 'three'])
  })

  test('says why a session can not be played', async () => {
    const file = { parts: [{ type: 'file', media_type: 'text/plain', data: btoa('words') }] }
    for (const [session, words] of [
      [await converse('asks', 'now?'), 'is input_required'],
      [await converse('own', file), 'has a file in its input'],
    ] as const) {
      const { status, json } = await server.call('GET', `/api/v1/sessions/${session}/test`)
      expect([status, json.error.code]).toEqual([400, 'invalid_request'])
      expect(json.error.message).toContain(words)
    }
    expect((await server.call('GET', '/api/v1/sessions/nobody/test')).status).toBe(404)
  })
})

describe('the tests of a project', () => {
  test('are saved, listed and played with recorded answers and tools', async () => {
    const session = await converse('words', 'What is the sea?')
    const before = executed
    const saved = await save(session, 'sea')
    expect([saved.status, saved.json]).toEqual([201, { name: 'test/sea', entity: 'words', turns: 1, problem: null }])
    expect(JSON.parse(await readFile(join(server.folder, 'test/sea.session.json'), 'utf8')).entity).toBe('words')
    expect((await server.call('GET', tests)).json.tests).toEqual([saved.json])
    const { events } = await play()
    expect(events).toEqual([
      expect.objectContaining({ type: 'result', name: 'test/sea', passed: true, differences: [], problem: null }),
      { type: 'end', passed: 1, failed: 0 },
    ])
    expect(events[0].usage.total_tokens).toBeGreaterThanOrEqual(34)
    expect(executed).toBe(before)
  })

  test('fail with the difference when the agent answers otherwise', async () => {
    await save(await converse('own', 'where?'), 'where')
    answer = 'There.'
    const { events } = await play({ names: ['test/where'] })
    expect(events[0]).toMatchObject({
      passed: false,
      differences: [{ turn: 1, what: 'content', expected: 'Here.', actual: 'There.' }],
    })
    expect(events[1]).toEqual({ type: 'end', passed: 0, failed: 1 })
  })

  test('are played several times, and one that passes some of them is flaky', async () => {
    await save(await converse('own', 'where?'), 'where')
    let asked = 0
    next = () => (++asked === 2 ? 'There.' : 'Here.')
    const { events } = await play({ times: 3, update: true })
    expect(events[0]).toMatchObject({ passed: false, flaky: true, passes: 2, times: 3, updated: false })
    expect(events[0].differences).toHaveLength(1)
    for (const times of [0, 11, 1.5, '2']) expect([times, (await play({ times })).status]).toEqual([times, 400])
  })

  test('take the answers of now when they are told to', async () => {
    await save(await converse('own', 'where?'), 'where')
    answer = 'There.'
    const { events } = await play({ update: true })
    expect(events[0]).toMatchObject({ passed: false, updated: true })
    expect((await play()).events[0]).toMatchObject({ passed: true, updated: false })
    expect((await play({ update: true, mode: 'scores' })).status).toBe(400)
  })

  test('are scored by the scorers of the config and of the file', async () => {
    await save(await converse('own', 'where?'), 'where')
    const file = join(server.folder, 'test/where.session.json')
    const saved = JSON.parse(await readFile(file, 'utf8'))
    await writeFile(file, JSON.stringify({ ...saved, scorers: { place: { contains: ['here', 'there'] } } }))
    const { events } = await play({ mode: 'scores' })
    expect(events[0]).toMatchObject({ passed: false, problem: null, score: 0.5, score_by_scorer: { place: 0.5 } })
    expect(events[0].scores).toEqual([
      { turn: 1, scorer: 'place', score: 0.5, passed: false, reason: "does not contain 'there'" },
    ])
  })

  test('are kept run by run, newest first', async () => {
    expect((await server.call('GET', `${tests}/runs`)).json).toEqual({ runs: [] })
    await save(await converse('own', 'where?'), 'where')
    await play()
    answer = 'There.'
    await play()
    const { runs } = (await server.call('GET', `${tests}/runs`)).json
    expect(
      runs.map(({ mode, results }: { mode: string; results: { passed: boolean }[] }) => [mode, results[0]?.passed]),
    ).toEqual([
      ['replay', false],
      ['replay', true],
    ])
  })

  test('are never written over, and their name is no path', async () => {
    const session = await converse('own', 'where?')
    expect((await save(session, 'one')).status).toBe(201)
    const text = await readFile(join(server.folder, 'test/one.session.json'), 'utf8')
    answer = 'There.'
    const again = await save(await converse('own', 'where?'), 'one')
    expect([again.status, again.json.error.code]).toEqual([409, 'conflict'])
    expect(await readFile(join(server.folder, 'test/one.session.json'), 'utf8')).toBe(text)
    const all = await readdir(server.folder)
    for (const name of [
      'con',
      'Nul.x',
      'lpt1',
      '../out',
      'a/b',
      'a\\b',
      '/tmp/x',
      '.hidden',
      '..',
      '',
      'a\n',
      'a\0',
      'x'.repeat(101),
      7,
      null,
    ]) {
      expect([name, (await save(session, name)).status]).toEqual([name, 400])
    }
    expect((await readdir(join(server.folder, 'test'))).sort()).toEqual(['one.session.json'])
    expect(await readdir(server.folder)).toEqual(all)
  })

  test('a link that waits under the name is not followed', async () => {
    await mkdir(join(server.folder, 'test'))
    await symlink(join(server.folder, 'elsewhere'), join(server.folder, 'test/link.session.json'))
    expect((await save(await converse('own', 'where?'), 'link')).status).toBe(409)
    expect(await readdir(server.folder)).not.toContain('elsewhere')
  })

  test('files that are none are listed and played with what is wrong', async () => {
    await mkdir(join(server.folder, 'deep'))
    await writeFile(join(server.folder, 'deep/broken.session.json'), '{"agentserve": ')
    await writeFile(join(server.folder, 'other.session.json'), '{"turns": 1}')
    const { json } = await server.call('GET', tests)
    expect(json.tests.map(({ name }: { name: string }) => name)).toEqual(['deep/broken', 'other'])
    for (const { entity, problem } of json.tests) expect([entity, typeof problem]).toEqual([null, 'string'])
    const { events } = await play()
    expect(events.map(({ type, passed }) => [type, passed])).toEqual([
      ['result', false],
      ['result', false],
      ['end', 0],
    ])
    const problems = events.flatMap((event) => event.problem ?? [])
    expect(problems.sort()).toEqual(json.tests.map((one: { problem: string }) => one.problem).sort())
  })

  test('an unknown name is refused before anything runs', async () => {
    for (const names of [['test/none'], ['../../etc/passwd'], 'all', [1]]) {
      const { status, text } = await play({ names })
      expect([names, status]).toEqual([names, 400])
      expect(text).toContain('names')
    }
  })

  test('run one at a time; a client that leaves ends them', async () => {
    await save(await converse('gated', 'go'), 'gated')
    gate.opened = new Promise(() => {})
    gate.reached = Promise.withResolvers()
    gate.aborted = 0
    const leaving = new AbortController()
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}', signal: leaving.signal }
    const first = fetch(`${server.url}${tests}/run`, init).catch(() => 'left')
    await gate.reached.promise
    const second = await play()
    expect([second.status, JSON.parse(second.text).error.code]).toEqual([409, 'conflict'])
    leaving.abort()
    expect(await first).toBe('left')
    gate.opened = Promise.resolve()
    await expect.poll(async () => (await play()).status, { timeout: 20_000 }).toBe(200)
    expect(gate.aborted).toBe(1)
  })
})

describe('outside dev', () => {
  let other: RunningTestServer
  beforeAll(async () => {
    other = await startServer()
  })
  afterAll(() => other.close())

  test.each([
    ['GET', tests],
    ['POST', tests],
    ['POST', `${tests}/run`],
  ])('%s %s is not there, nor in the document', async (method, path) => {
    expect((await other.call(method, path, method === 'GET' ? undefined : {})).status).toBe(404)
    expect((await other.call('GET', '/openapi.json')).json.paths).not.toHaveProperty([path])
  })

  test('a session can be had as a test all the same', async () => {
    const { json } = await other.call('POST', '/api/v1/agents/echo/run', { input: 'hello' })
    expect((await other.call('GET', `/api/v1/sessions/${json.session_id}/test`)).json.entity).toBe('echo')
  })
})
