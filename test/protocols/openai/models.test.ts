import { expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { agent, createServer } from '../../../src/index.ts'

async function inject(method: string, url: string, headers: Record<string, string> = {}) {
  const server = createServer({ logger: silentLogger, auth: { keys: ['a'.repeat(32)] } })
  server.registerAgent('docs', agent({ run: async () => 'hi' }))
  server.registerAgent('team/one', agent({ run: async () => 'hi' }))
  const authorization = `Bearer ${'a'.repeat(32)}`
  const answer = await server.inject({ method, url, headers: { authorization, ...headers } })
  const given = {
    status: answer.status,
    json: (await answer.json()) as { data?: unknown; id?: string; error?: { code: string } },
  }
  await server.close()
  return given
}

test('lists agents as models, and gets one by an id with a slash', async () => {
  const { status, json } = await inject('GET', '/v1/models')
  expect(status).toBe(200)
  expect(json).toMatchObject({ object: 'list', data: [{ id: 'docs', object: 'model', owned_by: 'agentserve' }, {}] })
  expect((await inject('GET', '/v1/models/team/one')).json.id).toBe('team/one')
  expect((await inject('GET', '/v1/models/team%2Fone')).json.id).toBe('team/one')
})

test.each([
  ['GET', '/v1/models/other', 404, { type: 'invalid_request_error', param: 'model', code: 'model_not_found' }],
  ['GET', '/v1/embeddings', 404, { type: 'invalid_request_error', param: null, code: 'route_not_found' }],
  ['POST', '/v1/embeddings', 404, { type: 'invalid_request_error', param: null, code: 'route_not_found' }],
])('%s %s is %i in the shape of OpenAI', async (method, url, expected, error) => {
  const { status, json } = await inject(method, url)
  expect(status).toBe(expected)
  expect(json).toEqual({ error: { message: expect.any(String), ...error } })
})

test('a wrong key is refused in the shape of OpenAI', async () => {
  const { status, json } = await inject('GET', '/v1/models', { authorization: 'Bearer wrong' })
  expect([status, json.error?.code]).toEqual([401, 'invalid_api_key'])
})
