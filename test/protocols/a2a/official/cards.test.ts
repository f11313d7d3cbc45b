import { AgentCard } from '@a2a-js/sdk'
import { afterEach, expect, test } from 'vitest'
import type { ServerConfig } from '../../../../src/config/types.ts'
import { agent } from '../../../../src/runnables/agent/agent.ts'
import { officialClient, officialWays, said } from '../../../support/official-clients.ts'
import { type RunningTestServer, startServer } from '../../../support/server.ts'

let server: RunningTestServer
afterEach(() => server.close())

const path = '/api/v1/a2a/agents/travel/.well-known/agent-card.json'

async function started(config: ServerConfig = {}) {
  const travel = agent({
    name: 'Travel desk',
    description: 'Books trains.',
    async *run({ text }) {
      yield text
    },
  })
  server = await startServer(config, { travel })
  return (at = path, headers: Record<string, string> = {}) => server.call('GET', at, undefined, headers)
}

test('a card is that of its version, and without one of both, with addresses of the request', async () => {
  const get = await started()
  const url = `${server.url}/api/v1/a2a/agents/travel`
  const both = await get()
  expect(both.json).toMatchObject({
    name: 'Travel desk',
    description: 'Books trains.',
    capabilities: { streaming: true, pushNotifications: false },
    skills: [{ id: 'travel', name: 'Travel desk', description: 'Books trains.', tags: ['agent'] }],
    url,
    protocolVersion: '0.3.0',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }, { url }, { url }],
  })
  expect(both.headers.get('vary')).toBe('A2A-Version')
  const [v1, v03] = [(await get(path, { 'A2A-Version': '1.0' })).json, (await get(path, { 'A2A-Version': '0.3' })).json]
  expect(v1).not.toHaveProperty('url')
  expect(v1).not.toHaveProperty('protocolVersion')
  expect(v03).not.toHaveProperty('supportedInterfaces')
  expect({ ...v1, ...v03 }).toEqual(both.json)
  // Whatever a reader of 1.0 does not know is not in the card of 1.0.
  expect(AgentCard.toJSON(AgentCard.fromJSON(v1))).toEqual(v1)
  for (const same of ['/api/v1/a2a/agents/travel', '/api/v1/a2a/agents/travel/', path.replace('agent-card', 'agent')])
    expect((await get(same)).json).toEqual(both.json)
  expect((await get(path.replace('travel', 'none'))).json.error.code).toBe('agent_not_found')
})

test('a card that a client knows is not sent again', async () => {
  const get = await started()
  const etag = (await get()).headers.get('etag') ?? ''
  expect(etag).toMatch(/^"[\w-]+"$/)
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const answer = await get(path, { 'If-None-Match': known })
    expect([answer.status, answer.text, answer.headers.get('etag')]).toEqual([304, '', etag])
  }
  expect((await get(path, { 'If-None-Match': etag, 'A2A-Version': '1.0' })).status).toBe(200)
})

test('at the origin is the card of the default agent; without one, 404 and where the others are', async () => {
  const get = await started()
  const none = await get('/.well-known/agent-card.json')
  expect([none.status, none.json.error.code]).toEqual([404, 'agent_not_found'])
  const list = (await get('/api/v1/a2a/agents')).json
  expect(none.json.agents).toEqual(list.agents)
  expect(list.agents.find(({ id }: { id: string }) => id === 'travel')).toEqual({
    id: 'travel',
    url: `${server.url}/api/v1/a2a/agents/travel/`,
    card: server.url + path,
  })
  await server.close()
  const chosen = await started({ a2a: { defaultAgent: 'travel' } })
  for (const name of ['agent-card.json', 'agent.json'])
    expect((await chosen(`/.well-known/${name}`)).json).toEqual((await chosen()).json)
})

test('publicUrl stands in all addresses, and what a client sends in none', async () => {
  const get = await started({ a2a: { prefix: '/talk', publicUrl: 'https://agents.example.org/base/' } })
  const forged = { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https' }
  const at = path.replace('/api/v1/a2a', '/talk')
  expect((await get(at, forged)).json.url).toBe('https://agents.example.org/base/talk/agents/travel')
  await server.close()
  const plain = await started()
  expect((await plain(path, forged)).json.url).toBe(`${server.url}/api/v1/a2a/agents/travel`)
  await server.close()
  const behind = await started({ trustProxy: 'loopback' })
  expect((await behind(path, forged)).json.url).toBe(`${server.url.replace('http', 'https')}/api/v1/a2a/agents/travel`)
})

test('a card says which keys it takes and needs one itself, unless it is public', async () => {
  const auth = { keys: ['the-key'] }
  const get = await started({ auth })
  expect((await get()).status).toBe(401)
  const key = { authorization: 'Bearer the-key' }
  const v1 = (await get(path, { ...key, 'A2A-Version': '1.0' })).json
  const { securityRequirements } = AgentCard.fromJSON(v1)
  expect(securityRequirements.map(({ schemes }) => Object.keys(schemes))).toEqual([['bearer'], ['apiKey']])
  expect(v1.securitySchemes.bearer).toEqual({ httpAuthSecurityScheme: { scheme: 'Bearer' } })
  const v03 = (await get(path, { ...key, 'A2A-Version': '0.3' })).json
  expect(v03.securitySchemes.apiKey).toEqual({ type: 'apiKey', in: 'header', name: 'X-API-Key' })
  expect(v03.security).toEqual([{ bearer: [] }, { apiKey: [] }])
  for (const way of officialWays) {
    const client = await officialClient(way, `${server.url}/api/v1/a2a/agents/travel/`, { 'x-api-key': 'the-key' })
    expect(await client.sendMessage(said('hello'))).toMatchObject({ artifacts: [{}] })
  }
  await server.close()
  const open = await started({ auth, a2a: { publicCard: true } })
  expect((await open()).json.security).toEqual([{ bearer: [] }, { apiKey: [] }])
  expect((await open('/api/v1/a2a/agents')).status).toBe(401)
})
