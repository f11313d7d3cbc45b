import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServerConfig } from '../../../src/config/types.ts'
import type { ServerMode } from '../../../src/wire/me.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'
import { openTestServer } from '../server.ts'

/* What `GET /me` says that a caller can, asked of the routes themselves. */

const keys: Record<string, object> = {
  operator: {},
  ann: { userId: 'ann' },
  seer: { userId: 'bob', scopes: ['run', 'sessions', 'prompts'] },
  writer: { scopes: ['knowledge:write'] },
  everything: { scopes: ['run', 'sessions', 'prompts', 'knowledge:read', 'knowledge:write', 'metrics', 'admin'] },
  nothing: { scopes: [] },
}

describe('with keys', () => {
  let server: RunningTestServer
  beforeAll(async () => {
    const list = Object.entries(keys).map(([id, key]) => ({ id, key: `the-key-of-${id}`, ...key }))
    server = await startServer({ auth: { keys: list } } as ServerConfig)
  })
  afterAll(() => server.close())

  const ask = (id: string, method: string, path: string, body?: unknown) =>
    server.call(method, `/api/v1${path}`, body, { authorization: `Bearer the-key-of-${id}` })

  test.each(Object.keys(keys))('what %s can is what the routes let it do', async (id) => {
    const { status, json } = await ask(id, 'GET', '/me')
    expect([status, json.key_id, json.mode]).toEqual([200, id, 'embedded'])
    expect(json).not.toHaveProperty('root')
    const { can } = json
    const { run_id } = (await ask('operator', 'POST', '/agents/docs/run', { input: 'x' })).json
    const forbidden = async (answer: ReturnType<typeof ask>, word: string) => {
      const { status, json: refused } = await answer
      return status === 403 && refused.error.message.includes(word)
    }
    const refused = {
      knowledge: await forbidden(ask(id, 'POST', '/knowledge/content', { content: 'x' }), "'knowledge:write'"),
      prompts:
        (await forbidden(ask(id, 'GET', `/runs/${run_id}/trace`), "'prompts'")) ||
        !(json.scopes.includes('prompts') as boolean),
    }
    expect([can.knowledge, can.prompts]).toEqual([!refused.knowledge, !refused.prompts])
    expect([can.config, can.again, can.tests]).toEqual([id === 'operator', false, false])
  })

  test('tells the user and the scopes of a key, and nothing without one', async () => {
    expect((await ask('ann', 'GET', '/me')).json).toMatchObject({
      user_id: 'ann',
      scopes: ['run', 'sessions', 'knowledge:read'],
    })
    expect((await ask('operator', 'GET', '/me')).json).toMatchObject({ user_id: null })
    expect((await server.call('GET', '/api/v1/me')).status).toBe(401)
  })
})

test('without keys every caller can all of it, and has no id', async () => {
  const server = await startServer({ studio: { again: true } })
  try {
    const { json } = await server.call('GET', '/api/v1/me')
    expect(json).toMatchObject({ user_id: null, mode: 'embedded' })
    expect(json.can).toEqual({ again: true, tests: false, config: true, knowledge: true, prompts: true })
    expect(json).not.toHaveProperty('key_id')
    expect((await server.call('GET', '/api/v1/me')).json.server_id).toBe(json.server_id)
    expect(json.server_id).toMatch(/^srv_/)
  } finally {
    await server.close()
  }
})

test('documents can be changed only where there are routes for it', async () => {
  const read = { search: true, config: true, content: false, documents: false }
  for (const config of [{ knowledgeApi: read }, { vectorDb: undefined }]) {
    const server = await startServer(config)
    try {
      expect((await server.call('GET', '/api/v1/me')).json.can.knowledge).toBe(false)
      expect((await server.call('POST', '/api/v1/knowledge/content', { content: 'x' })).status).toBe(404)
    } finally {
      await server.close()
    }
  }
})

const never = () => {
  throw new Error('nothing is called')
}
const projectTests = { list: never, save: never, run: never, runs: never }

test.each<[ServerMode, boolean]>([
  ['dev', true],
  ['start', false],
])('in %s the folder of the project is told or not, and tests can be run or not', async (mode, is) => {
  const server = await openTestServer({ settings: { mode, root: '/home/ann/project', ...(is && { projectTests }) } })
  try {
    const { body } = await server.call('GET', '/api/v1/me')
    expect([body.mode, body.can.tests, 'root' in body]).toEqual([mode, is, is])
  } finally {
    await server.close()
  }
})
