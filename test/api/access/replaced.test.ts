import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServerConfig } from '../../../src/config/types.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { startServer } from '../../support/server.ts'
import { type As, api, type People, toMessage, withPeople } from './people.ts'

/* A session of ann that an operator gave to bob, who then replaced a turn of hers. */

const ways: [string, ServerConfig][] = [
  ['SQLite', {}],
  ['memory', { sessionStorage: 'memory' }],
]

describe.each(ways)('replaced turns of a session that changed hands, with %s', (_way, config) => {
  let people: People
  beforeAll(async () => {
    people = await withPeople(['ann', 'bob'], config)
  })
  afterAll(() => people.server.close())

  const marks = ({ json }: { json: { runs: { run_id: string; replaced_by: string | null }[] } }) =>
    json.runs.map(({ run_id, replaced_by }) => [run_id, replaced_by])

  test('the former user sees the turns as they were, and neither restores nor replaces one', async () => {
    const [ann, bob] = [people.as('ann'), people.as('bob')]
    const session = (await ann('POST', `${api}/sessions`, {})).json.session_id
    const say = async (as: As, input: string, more: object = {}) =>
      (await as('POST', `${api}/agents/echo/run`, { input, session_id: session, ...more })).json.run_id as string
    const first = await say(ann, 'early one')
    const wrong = await say(ann, 'early wrong')
    const second = await say(ann, 'early two', { replaces: wrong })
    await people.operator('POST', `${api}/sessions/${session}/reuse`, { user_id: 'bob' })
    const his = await say(bob, 'hidden words', { replaces: second })
    const seen = [
      [first, null],
      [second, null],
    ]
    expect(marks(await ann('GET', `${api}/sessions/${session}/history`))).toEqual(seen)
    expect(marks(await ann('GET', `${api}/sessions/${session}/history?replaced=true`))).toEqual([
      [first, null],
      [wrong, second],
      [second, null],
    ])
    expect((await ann('GET', `${api}/runs/${second}`)).json.replaced_by).toBeNull()
    expect((await ann('GET', `${api}/runs/${wrong}`)).json.replaced_by).toBe(second)
    const found = (await ann('GET', `${api}/messages?q=early&session_id=${session}`)).json.messages
    const shown = found.map((hit: { run_id: string; replaced?: true }) => [hit.run_id, hit.replaced])
    expect(new Map(shown)).toEqual(
      new Map([
        [second, undefined],
        [wrong, true],
        [first, undefined],
      ]),
    )
    const paths = ['', '/runs', '/history', '/history?replaced=true', '/export'].map(
      (path) => `/sessions/${session}${path}`,
    )
    for (const path of [...paths, '/runs', '/sessions', `/runs/${second}`, '/messages?q=early', '/messages?q=hidden']) {
      const { text } = await ann('GET', api + path)
      expect([path, text.includes(his), text.includes('hidden words')]).toEqual([path, false, false])
    }
    for (const run of [wrong, second, his]) {
      const { status, json } = await ann('POST', `${api}/runs/${run}/restore`)
      expect([status, json.error.code]).toEqual([404, 'run_not_found'])
      const body = { input: 'x', session_id: session, replaces: run }
      expect((await ann('POST', `${api}/agents/echo/run`, body)).json.error.code).toBe('session_not_found')
    }
    expect(marks(await bob('GET', `${api}/sessions/${session}/history`))).toEqual([
      [first, null],
      [his, null],
    ])
    expect((await bob('DELETE', `${api}/sessions/${session}/shared/user/ann`)).status).toBe(204)
    for (const path of [`/runs/${second}`, '/runs', `/runs?session_id=${session}`]) {
      const { status, text } = await ann('GET', api + path)
      expect([path, status, text.includes(second), text.includes(his)]).toEqual([path, 200, true, false])
    }
    expect((await bob('POST', `${api}/runs/${second}/restore`)).status).toBe(200)
    expect(marks(await bob('GET', `${api}/sessions/${session}/history`))).toEqual(seen)
  })

  test('a summary never holds the text of a turn that was replaced while it was written', async () => {
    const begun = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    let asked = 0
    const summarizer = {
      name: 'test',
      async summarize(messages: readonly { content: string }[]) {
        asked++
        begun.resolve()
        await go.promise
        return messages.map(({ content }) => content).join(' ')
      },
    }
    const server = await startServer({ ...config, summaryManager: { summarizer, timeoutMs: 30_000 } })
    try {
      const post = (path: string, body: object = {}) => server.call('POST', `${api}${path}`, body)
      const session = (await post('/sessions')).json.session_id
      const say = async (input: string, more: object = {}) =>
        (await post('/agents/echo/run', { input, session_id: session, ...more })).json.run_id
      await say('heron')
      const wrong = await say('bittern')
      expect((await post(`/sessions/${session}/summary?async=true`)).status).toBe(202)
      await begun.promise
      await say('ibis', { replaces: wrong })
      const waiting = post(`/sessions/${session}/summary`)
      go.resolve()
      const made = (await waiting).json.summary
      expect(made).toMatchObject({ content: 'heron heron ibis ibis', run_count: 2 })
      expect((await server.call('GET', `${api}/sessions/${session}/summary`)).json.summary.content).toBe(made.content)
      expect(asked).toBeGreaterThan(1)
      const last = (await server.call('GET', `${api}/sessions/${session}/history`)).json.runs[1].run_id
      await say('stork', { replaces: last })
      const { text } = await server.call('GET', `${api}/sessions/${session}/summary`)
      expect(text).not.toMatch(/ibis|bittern/)
    } finally {
      await server.close()
    }
  })

  test("a run has its session's user, over A2A and with the key of a user or of nobody", async () => {
    const users: (string | null)[] = []
    const echo = agent({
      async *run({ userId }) {
        users.push(userId)
        yield 'x'
      },
    })
    const keys = ['key-of-operator', { key: 'key-of-ann', userId: 'ann', scopes: ['run', 'sessions'] as const }]
    const server = await startServer(
      { ...config, auth: { keys: keys as NonNullable<ServerConfig['auth']>['keys'] } },
      { teller: echo },
    )
    try {
      const as = (who: string, path: string, body: object) =>
        server.call('POST', api + path, body, { authorization: `Bearer key-of-${who}` })
      const session = (await as('operator', '/sessions', { user_id: 'ann' })).json.session_id
      const message = toMessage('sendMessage', { messageId: 'm', contextId: session })
      Object.assign(message.params.message, { agentId: 'teller' })
      const sent = await as('operator', '/a2a/sendMessage', message)
      expect(sent.json.error).toBeUndefined()
      for (const who of ['operator', 'ann']) {
        const run = await as(who, '/agents/teller/run', { input: 'x', session_id: session })
        expect([run.status, run.json.error]).toEqual([200, undefined])
      }
      await as('operator', '/agents/teller/run', { input: 'x', session_id: session, user_id: 'cid' })
      await as('ann', '/agents/teller/run', { input: 'x' })
      await as('operator', '/agents/teller/run', { input: 'x' })
      expect(users).toEqual(['ann', 'ann', 'ann', 'cid', 'ann', null])
    } finally {
      await server.close()
    }
  })
})
