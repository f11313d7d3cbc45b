import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { echo } from '../../support/services.ts'
import { openTestServer, type TestServer } from '../server.ts'

let server: TestServer
beforeEach(async () => {
  server = await openTestServer({ entities: { echo } })
})
afterEach(() => server.close())

const sessions = '/api/v1/sessions'

describe('POST /sessions', () => {
  it('creates a session from nothing', async () => {
    const { status, headers, body } = await server.call('POST', sessions)
    expect(status).toBe(201)
    expect(headers.location).toBe(`${sessions}/${body.session_id}`)
    expect(body).toMatchObject({ agent_id: null, name: null, metadata: null, state: null, run_count: 0, runs: [] })
    expect(body.shared_with).toEqual({ agent_ids: [], team_ids: [], workflow_ids: [], user_ids: [] })
    expect((await server.call('GET', `${sessions}/${body.session_id}`)).body).toEqual(body)
  })

  it('keeps what it is given, and refuses a taken id', async () => {
    const given = {
      session_id: 'mine',
      agent_id: 'nobody',
      user_id: 'u',
      name: 'n',
      metadata: { a: 1 },
      state: { b: [] },
    }
    expect((await server.call('POST', sessions, given)).body).toMatchObject(given)
    const again = await server.call('POST', sessions, given)
    expect([again.status, again.body.error.code]).toEqual([409, 'conflict'])
  })

  it('answers a repeated Idempotency-Key with the first session, and refuses it for another body', async () => {
    const headers = { 'idempotency-key': 'k' }
    const first = await server.call('POST', sessions, { name: 'n' }, headers)
    const second = await server.call('POST', sessions, { name: 'n' }, headers)
    expect(second).toMatchObject({ status: 201, body: first.body })
    const other = await server.call('POST', sessions, { name: 'm' }, headers)
    expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_mismatch'])
    expect((await server.call('GET', sessions)).body.count).toBe(1)
  })

  it.each(['', ' ', 'a b', 'ä', 'x'.repeat(256)])('refuses the Idempotency-Key %j', async (key) => {
    const { status, body } = await server.call('POST', sessions, {}, { 'idempotency-key': key })
    expect([status, body.error.details[0].path]).toEqual([400, 'Idempotency-Key'])
    expect((await server.call('GET', sessions)).body.count).toBe(0)
  })

  it.each([
    ['malformed JSON', '{', 400, 'application/json'],
    ['a list', '[]', 400, 'application/json'],
    ['plain text', 'hello', 415, 'text/plain'],
    ['__proto__', '{"metadata":{"__proto__":{}}}', 400, 'application/json'],
  ])('refuses %s', async (_, body, status, type) => {
    expect((await server.call('POST', sessions, body, { 'content-type': type })).status).toBe(status)
  })
})

describe('one session', () => {
  it('is changed field by field, under its ETag', async () => {
    const made = await server.call('POST', sessions, {
      session_id: 's',
      name: 'n',
      metadata: { a: 1 },
      state: { b: 1 },
    })
    const changed = await server.call('PUT', `${sessions}/s`, { metadata: { c: 2 }, state: null })
    expect(changed.body).toMatchObject({ name: 'n', metadata: { c: 2 }, state: null })
    expect(changed.headers.etag).not.toBe(made.headers.etag)
    const stale = { 'if-match': made.headers.etag ?? '' }
    expect((await server.call('PUT', `${sessions}/s`, { name: 'x' }, stale)).status).toBe(412)
    const fresh = { 'if-match': `"999", ${changed.headers.etag}` }
    expect((await server.call('PUT', `${sessions}/s`, { name: 'x' }, fresh)).body.name).toBe('x')
    expect((await server.call('PUT', `${sessions}/s`, {}, { 'if-match': '*' })).status).toBe(200)
    expect((await server.call('PUT', `${sessions}/s`, {}, { 'if-match': 'W/"1"' })).status).toBe(412)
    expect((await server.call('PUT', `${sessions}/s`, {}, { 'if-match': 'nonsense' })).status).toBe(400)
  })

  it('is 304 while it is still the same', async () => {
    await server.call('POST', sessions, { session_id: 's' })
    const { headers } = await server.call('GET', `${sessions}/s`)
    const same = await server.call('GET', `${sessions}/s`, undefined, { 'if-none-match': headers.etag ?? '' })
    expect([same.status, same.body]).toEqual([304, ''])
    expect((await server.call('GET', `${sessions}/s`, undefined, { 'if-none-match': '"0x"' })).status).toBe(200)
  })

  it('needs a body to change', async () => {
    await server.call('POST', sessions, { session_id: 's' })
    expect((await server.call('PUT', `${sessions}/s`)).status).toBe(400)
    const wrong = await server.call('PUT', `${sessions}/s`, { name: 1 })
    expect(wrong.body.error.details).toEqual([{ path: 'name', message: 'must be a string' }])
  })

  it('is gone after DELETE', async () => {
    await server.call('POST', sessions, { session_id: 's' })
    expect(await server.call('DELETE', `${sessions}/s`)).toMatchObject({
      status: 200,
      body: { session_id: 's', deleted: true },
    })
    expect((await server.call('DELETE', `${sessions}/s`)).body.error.code).toBe('session_not_found')
  })

  it('is shared, and found under every owner', async () => {
    await server.call('POST', sessions, { session_id: 's', agent_id: 'a' })
    const { status, body } = await server.call('POST', `${sessions}/s/reuse`, { agent_id: 'b', user_id: 'u' })
    expect([status, body.agent_id, body.user_id, body.shared_with.agent_ids]).toEqual([200, 'b', 'u', ['a']])
    for (const query of ['agent_id=a', 'agent_id=b', 'user_id=u']) {
      expect((await server.call('GET', `${sessions}?${query}`)).body.count).toBe(1)
    }
    expect((await server.call('GET', `${sessions}?user_id=x`)).body.count).toBe(0)
    for (const nobody of [{}, { agent_id: null }, undefined]) {
      expect((await server.call('POST', `${sessions}/s/reuse`, nobody)).status).toBe(400)
    }
  })

  it('that does not exist is 404 before the body is 400', async () => {
    for (const [method, path] of [
      ['PUT', ''],
      ['POST', '/reuse'],
      ['POST', '/summary?async=maybe'],
      ['GET', '/history?num_messages=0'],
      ['GET', '/runs?limit=0'],
      ['GET', ''],
      ['DELETE', ''],
    ] as const) {
      const { status, body } = await server.call(method, `${sessions}/none${path}`, method === 'GET' ? undefined : '[')
      expect([path, status, body.error.code]).toEqual([path, 404, 'session_not_found'])
    }
  })
})

describe('GET /sessions', () => {
  it('pages without a gap or a repeat', async () => {
    for (let index = 0; index < 5; index++) await server.call('POST', sessions, { session_id: `s${index}` })
    const seen: string[] = []
    let cursor = ''
    for (let page = 0; page < 3; page++) {
      const { body } = await server.call('GET', `${sessions}?limit=2${cursor}`)
      expect(body.count).toBe(body.sessions.length)
      seen.push(...body.sessions.map((session: { session_id: string }) => session.session_id))
      cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`
      expect(body.next_cursor === null).toBe(page === 2)
    }
    expect(seen.toSorted()).toEqual(['s0', 's1', 's2', 's3', 's4'])
  })

  it.each(['limit=0', 'limit=101', 'limit=x', 'cursor=nonsense', 'agentId=a'])('refuses %s', async (query) => {
    const { status, body } = await server.call('GET', `${sessions}?${query}`)
    expect([status, body.error.code]).toEqual([400, 'invalid_request'])
  })
})
