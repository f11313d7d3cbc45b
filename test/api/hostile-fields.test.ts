import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agent } from '../../src/runnables/agent/agent.ts'
import { type HostileField, hostileFields, hostileJson, hostileTexts, largeTexts } from '../support/hostile/fields.ts'
import { protocolFields } from '../support/hostile/protocol-fields.ts'
import { describePostgres } from '../support/postgres/describe-postgres.ts'
import { type Place, testPostgres } from '../support/postgres/test-postgres.ts'
import { type Answer, type RunningTestServer, startServer } from '../support/server.ts'

/** Gives back what was put in, in every place where an agent can leave something. */
const mirror = agent({
  async *run({ text, parts, state }) {
    state.said = text.slice(0, 1_000)
    yield text
    for (const part of parts) if (part.type === 'data') yield { type: 'data', data: part.data }
    if (text.startsWith('fail ')) throw new Error(text.slice(5))
  },
})

const id = /\b(ses|run|msg|msg_end_run|req|file|own|srv|call)_[0-9a-z]{10,}/g
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g

/** What two servers must have in common. */
function comparable({ status, text }: Answer): unknown {
  return [
    status,
    text
      .replace(id, '$1')
      .replace(time, 'time')
      .replace(/"(cursor|next_cursor)":"[^"]*"/g, '"$1":"…"'),
  ]
}

describePostgres('what is put into every field that is stored', () => {
  let place: Place
  let [sqlite, postgres] = [] as unknown as [RunningTestServer, RunningTestServer]

  beforeAll(async () => {
    const { url, newSchema } = await testPostgres()
    place = newSchema()
    sqlite = await startServer({}, { mirror })
    postgres = await startServer({ sessionStorage: { type: 'postgres', url, schema: place.name } }, { mirror })
    for (const { call } of [sqlite, postgres]) {
      await call('POST', '/api/v1/sessions', { session_id: 'known' })
      await call('POST', '/api/v1/agents/mirror/run', { input: 'hi', session_id: 'known' })
    }
  })
  afterAll(async () => {
    await Promise.all([sqlite, postgres].map((server) => server?.close()))
    await place?.drop()
  })

  async function put({ call }: RunningTestServer, field: HostileField, value: string, fresh: string): Promise<Answer> {
    const { method, path, body, headers } = field.request(value, fresh)
    let answer = await call(method, path, body, headers)
    const again = async () => {
      answer = await call(method, path, body, headers)
      return answer.status
    }
    // The index of searches may be behind.
    if (method === 'GET' && answer.status === 503) await expect.poll(again).not.toBe(503)
    return answer
  }

  /** With another at the same time, which must not notice. */
  async function putBeside(server: RunningTestServer, ...given: [HostileField, string, string]): Promise<Answer> {
    const ordinary = server.call('POST', '/api/v1/agents/mirror/run', { input: 'ordinary' })
    const answer = await put(server, ...given)
    expect((await ordinary).status).toBe(200)
    return answer
  }

  /** Everything that can be read of what an answer names. */
  async function read({ call }: RunningTestServer, { json, headers }: Answer): Promise<unknown[]> {
    const task = json?.result?.task ?? json?.task
    const runId = json?.run_id ?? json?.error?.run_id ?? task?.taskId ?? task?.id ?? headers.get('x-run-id')
    const sessionId = json?.session_id
    const paths = [
      ...(typeof runId === 'string' ? [`/runs/${runId}`] : []),
      // With all its runs, their messages and events.
      ...(typeof sessionId === 'string' ? [`/sessions/${encodeURIComponent(sessionId)}/export`] : []),
    ]
    return Promise.all(paths.map(async (path) => comparable(await call('GET', `/api/v1${path}`))))
  }

  async function holds(field: HostileField, name: string, value: string): Promise<void> {
    const fresh = `${field.name} ${name}`.replaceAll(/\W/g, '-')
    const two = await putBeside(postgres, field, value, fresh)
    expect(two.status, `${name}: ${two.text.slice(0, 500)}`).toBeLessThan(500)
    // What a column of Postgres can't hold; JSON can.
    const isOdd = /\\u(?:0000|d[89a-f])/.test(JSON.stringify(value))
    if (isOdd && two.status === 400 && / (?:NUL|U\+0000|half of a character)/.test(two.text)) return
    const one = await put(sqlite, field, value, fresh)
    const isList = value.trim?.() === '' && field.takes === 'addresses'
    if (isList) expect(two.status, name).toBe(one.status)
    else expect(comparable(two), name).toEqual(comparable(one))
    if (!isList) expect(await read(postgres, two), name).toEqual(await read(sqlite, one))
  }

  const of = (...takes: HostileField['takes'][]) =>
    [...hostileFields, ...protocolFields].filter((field) => takes.includes(field.takes))

  describe.each(of('addresses', 'bodies'))('$name', (field) => {
    test('is refused, or kept as SQLite keeps it, whatever the text', { timeout: 60_000 }, async () => {
      const texts = Object.entries(hostileTexts)
      // Nothing of an address is stored.
      const some = field.takes === 'addresses' ? texts.filter((_, place) => place % 2 === 0) : texts
      for (const [name, text] of some) await holds(field, name, text)
    })
  })

  describe.each(of('headers'))('$name', (field) => {
    test('is refused, or kept as SQLite keeps it, whatever the text', { timeout: 60_000 }, async () => {
      const texts = Object.entries(hostileTexts).filter(([, text]) => /^[\x20-\x7e]*$/.test(text))
      for (const [name, text] of texts) await holds(field, name, text)
    })
  })

  describe.each(of('json'))('$name', (field) => {
    test('is refused, or kept as SQLite keeps it, whatever the value', { timeout: 60_000 }, async () => {
      for (const [name, value] of Object.entries(hostileJson)) await holds(field, name, value as string)
    })
  })

  const texts = protocolFields.filter(({ name }) => name.startsWith('the text'))
  const kept = hostileFields.filter(({ name }) => /input|metadata|state|history|name|text|id/.test(name))
  const large = [...kept, ...texts].filter(({ takes }) => takes === 'bodies')
  describe.each(large)('$name', (field) => {
    test('is refused, or kept as SQLite keeps it, however large', { timeout: 60_000 }, async () => {
      for (const [name, text] of Object.entries(largeTexts)) await holds(field, name, text)
    })
  })

  test('makes two tasks of two message ids that a database would take for the same', async () => {
    for (const { call } of [sqlite, postgres]) {
      const tasks = ['\ud800', '\ud801', '\ufffd'].map(async (messageId) => {
        const parts = [{ type: 'text', content: 'hi' }]
        const message = { messageId, role: 'user', agentId: 'mirror', contextId: 'halves', parts }
        const body = { jsonrpc: '2.0', method: 'sendMessage', id: '1', params: { message } }
        return (await call('POST', '/api/v1/a2a/sendMessage', body)).json.result.task.taskId
      })
      expect(new Set(await Promise.all(tasks)).size).toBe(3)
    }
  })

  test('is kept when it is the reason of a failure or of a cancellation', { timeout: 60_000 }, async () => {
    const field: HostileField = {
      name: 'failure',
      takes: 'bodies',
      request: (text) => ({ method: 'POST', path: '/api/v1/agents/mirror/run', body: { input: `fail ${text}` } }),
    }
    for (const [name, text] of Object.entries(hostileTexts)) {
      const [one, two] = [await put(sqlite, field, text, ''), await putBeside(postgres, field, text, '')]
      expect(comparable(two), name).toEqual(comparable(one))
      expect(await read(postgres, two), name).toEqual(await read(sqlite, one))
    }
  })

  test('is found again by its words, or not, as SQLite finds it', { timeout: 60_000 }, async () => {
    const all = { ...hostileTexts, ...largeTexts }
    for (const { call } of [sqlite, postgres])
      for (const [name, text] of Object.entries(all))
        await call('POST', '/api/v1/agents/mirror/run', { input: `needle ${text} ${name}`, user_id: 'seeker' })
    for (const words of ['needle', 'quotes', 'w5k', 'xxxxx*', '"', 'before after', 'ordinary']) {
      const path = `/api/v1/messages?limit=100&user_id=seeker&q=${encodeURIComponent(words)}`
      // While the index is built, it says so.
      for (const { call } of [sqlite, postgres])
        await expect.poll(async () => (await call('GET', path)).status, { timeout: 30_000 }).not.toBe(503)
      const [one, two] = [await sqlite.call('GET', path), await postgres.call('GET', path)]
      expect(comparable(two), words).toEqual(comparable(one))
    }
  })
})
