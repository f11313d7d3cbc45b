import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

/* Who may see prompts: the table of docs/security.md, asked of every route that could show one. */

const secret = 'the-instructions-that-nobody-else-sees'
const columns = ['open', 'user', 'seer', 'clerk', 'operator'] as const
type Column = (typeof columns)[number]

const guide = readFileSync(join(import.meta.dirname, '../../../docs/security.md'), 'utf8')
const rows = guide
  .split('\n')
  .filter((line) => line.startsWith('| prompts: '))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, name = '', ...cells]) => [name.replace('prompts: ', ''), cells.slice(0, columns.length)] as const)

interface Made {
  run: string
  session: string
}
interface Ask {
  (method: string, path: string, body?: unknown): Promise<{ status: number; text: string }>
  /** Reads a stream until it has this text. */
  until(path: string, text: string): Promise<{ status: number; text: string }>
}

const input = { input: 'hello' }
/** By the name in the table. */
const places: Record<string, (ask: Ask, made: Made) => Promise<{ status: number; text: string }>> = {
  '`include=prompts` of a started run': (ask) => ask('POST', '/agents/one/run/stream?include=prompts', input),
  '`include=prompts` of `GET /runs/{id}/events`': (ask, { run }) => ask('GET', `/runs/${run}/events?include=prompts`),
  '`include=prompts` of `GET /live`': (ask, { run }) => ask.until(`/live?include=prompts&follow=${run}`, '"run_end"'),
  '`GET /runs/{id}/trace`': (ask, { run }) => ask('GET', `/runs/${run}/trace`),
  '`GET /runs/{id}/text`': (ask, { run }) => ask('GET', `/runs/${run}/text`),
  '`GET /sessions/{id}/export`': (ask, { session }) => ask('GET', `/sessions/${session}/export`),
  '`include=config` of `GET /agents/{id}`': (ask) => ask('GET', '/agents/one?include=config'),
  '`GET /users/{user_id}/export`': (ask) => ask('GET', '/users/ann/export'),
  'everything else about a run': async (ask, { run, session }) => {
    const paths = [
      ...[`/runs/${run}`, `/runs/${run}/events`, '/runs', '/runs?again=true', '/sessions', '/sessions?view=head'],
      ...[`/sessions/${session}`, `/sessions/${session}/runs`, `/sessions/${session}/history?stream_events=true`],
      ...[`/sessions/${session}/test`, '/agents', '/agents/one', '/me', '/messages?q=hello'],
    ]
    const answers = await Promise.all(paths.map((path) => ask('GET', path)))
    const streamed = await ask('POST', '/agents/one/run/stream', input)
    const completion = { model: 'one', messages: [{ role: 'user', content: 'hello' }], stream: true }
    const completed = await ask('POST', '/../../v1/chat/completions', completion)
    expect(completed.text).toContain('[DONE]')
    return { status: 200, text: [...answers, streamed, completed].map(({ text }) => text).join('\n') }
  },
}

async function readUntil(url: string, headers: Record<string, string>, last: string) {
  const controller = new AbortController()
  const { status, body } = await fetch(url, { headers, signal: controller.signal })
  let text = ''
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece
    if (text.includes(last)) break
  }
  controller.abort()
  return { status, text }
}

describe('the table of who sees prompts', () => {
  let servers: Record<'open' | 'keyed', RunningTestServer>
  beforeAll(async () => {
    const one = () => agent({ instructions: secret, model: scriptedModel(() => 'Hi.') })
    const keys = [
      'the-key-of-operator',
      { key: 'the-key-of-user', userId: 'ann' },
      { key: 'the-key-of-seer', userId: 'ann', scopes: ['run', 'sessions', 'prompts'] },
      { key: 'the-key-of-clerk', scopes: ['run', 'sessions', 'knowledge:read', 'admin'] },
    ]
    servers = {
      open: await startServer({}, { one: one() }),
      keyed: await startServer({ auth: { keys }, studio: { again: true } } as never, { one: one() }),
    }
  })
  afterAll(() => Promise.all(Object.values(servers).map((server) => server.close())))

  test('names every place that is asked here, and no other', () => {
    expect(rows.map(([name]) => name)).toEqual(Object.keys(places))
  })

  test.each(columns)('is what the server does: %s', async (column: Column) => {
    const server = column === 'open' ? servers.open : servers.keyed
    const as = (key: string): Ask => {
      const headers: Record<string, string> = column === 'open' ? {} : { authorization: `Bearer the-key-of-${key}` }
      const call = (method: string, path: string, body?: unknown) =>
        server.call(method, `/api/v1${path}`, body, headers)
      return Object.assign(call, {
        until: (path: string, text: string) => readUntil(`${server.url}/api/v1${path}`, headers, text),
      })
    }
    const { json } = await server.call(
      'POST',
      '/api/v1/agents/one/run',
      { ...input, user_id: 'ann' },
      column === 'open' ? {} : { authorization: 'Bearer the-key-of-user' },
    )
    const made = { run: json.run_id, session: json.session_id }
    const place = columns.indexOf(column)
    for (const [name, cells] of rows) {
      const { status, text } = (await places[name]?.(as(column), made)) ?? { status: 0, text: '' }
      const seen = text.includes(secret) ? 'yes' : status === 403 ? 'refused' : 'left out'
      expect([name, column, seen]).toEqual([name, column, cells[place]])
    }
  })

  test('counts what an operator changed of a repeated run as a prompt', async () => {
    const ask = (key: string, method: string, path: string, body?: unknown) =>
      servers.keyed.call(method, `/api/v1${path}`, body, { authorization: `Bearer the-key-of-${key}` })
    const { json: first } = await ask('user', 'POST', '/agents/one/run', input)
    const edit = { instructions: 'an instruction of the operator' }
    const { json } = await ask('operator', 'POST', `/runs/${first.run_id}/again`, {
      edit,
      after: 'live',
      keep: 'replace',
    })
    await ask('operator', 'GET', `/runs/${json.runs[0].run_id}/events`)
    const exported = async (key: string) => (await ask(key, 'GET', `/sessions/${first.session_id}/export`)).text
    const user = await exported('user')
    expect(user).toContain(json.runs[0].run_id)
    expect(user).not.toContain(edit.instructions)
    expect(await exported('seer')).toContain(edit.instructions)
    expect((await ask('clerk', 'GET', '/users/ann/export')).text).not.toContain(edit.instructions)
  })
})
