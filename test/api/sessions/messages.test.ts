import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { openTestServer, type TestServer } from '../server.ts'

describe('GET /messages', () => {
  let server: TestServer
  beforeEach(async () => {
    const docs = agent({
      async *run() {
        yield 'Requests may have 10 MB.'
      },
    })
    server = await openTestServer({ entities: { docs } })
    for (const [session_id, input] of [
      ['one', 'How large may a request be?'],
      ['two', 'How long may a request take?'],
    ]) {
      await server.call('POST', '/api/v1/sessions', { session_id, user_id: session_id })
      await server.call('POST', '/api/v1/agents/docs/run', { session_id, input })
    }
  })
  afterEach(() => server.close())

  const search = (query: string) => server.call('GET', `/api/v1/messages?${query}`)

  it('finds messages by their words, the newest first, page by page', async () => {
    const all = await search('q=may+request*')
    expect(all.status).toBe(200)
    expect(all.body).toMatchObject({ count: 4, next_cursor: null })
    expect(all.body.messages.map((hit: { session_id: string; role: string }) => [hit.session_id, hit.role])).toEqual([
      ['two', 'assistant'],
      ['two', 'user'],
      ['one', 'assistant'],
      ['one', 'user'],
    ])
    expect(all.body.messages[3]).toEqual({
      session_id: 'one',
      run_id: expect.stringMatching(/^run_/),
      message_id: expect.stringMatching(/^msg_/),
      entity_id: 'docs',
      role: 'user',
      created_at: expect.any(String),
      snippet: 'How large may a request be?',
      marks: [
        { start: 10, end: 13 },
        { start: 16, end: 23 },
      ],
    })
    const first = (await search('q=may+request*&limit=3')).body
    const second = (await search(`q=may+request*&limit=3&cursor=${first.next_cursor}`)).body
    expect([...first.messages, ...second.messages]).toEqual(all.body.messages)
  })

  it('filters as the list of sessions does, and by session', async () => {
    const count = async (filter: string) => (await search(`q=request${filter}`)).body.count
    expect(await count('')).toBe(2)
    expect(await count('&user_id=one')).toBe(1)
    expect(await count('&session_id=two')).toBe(1)
    expect(await count('&session_id=none')).toBe(0)
    expect(await count('&agent_id=docs')).toBe(0)
  })

  it.each([
    ['', 'q'],
    ['q=', 'q'],
    ['q=%3F%21', 'q'],
    ['q=a&limit=0', 'limit'],
    ['q=a&cursor=x', 'cursor'],
    ['q=a&sessionId=x', 'sessionId'],
  ])('refuses %j', async (query, path) => {
    const answer = await search(query)
    expect([answer.status, answer.body.error.code, answer.body.error.details[0].path]).toEqual([
      400,
      'invalid_request',
      path,
    ])
  })
})
