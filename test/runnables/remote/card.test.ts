import { afterEach, describe, expect, it } from 'vitest'
import type { AppError } from '../../../src/core/error.ts'
import { type RemoteAgentSettings, remoteAgent } from '../../../src/runnables/tools/remote-agent.ts'
import { cardOf, oldCardOf, openScriptedPeer, type RpcScript } from '../../support/a2a-peer.ts'
import { answer, openScriptedServer, type Script } from '../../support/scripted-server.ts'
import { collect } from '../fixture.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function openServer(script: Script) {
  const server = await openScriptedServer(script)
  closing.push(() => server.close())
  return server
}

async function openPeer(script: RpcScript, card: (url: string) => unknown) {
  const peer = await openScriptedPeer(script, card)
  closing.push(() => peer.close())
  return peer
}

const reply = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'here' }] } }
const oldReply = { kind: 'message', messageId: 'm', role: 'agent', parts: [{ kind: 'text', text: 'here' }] }

/** A server with a card at this path, whose agent answers at `/rpc`. */
async function openCardAt(path: string, make = (url: string): object => cardOf(url, { capabilities: {} })) {
  const server = await openServer(({ url, method, headers }, response) => {
    if (method === 'GET')
      return answer(response, url === path ? 200 : 404, url === path ? make(`http://${headers.host}`) : {})
    answer(response, 200, { jsonrpc: '2.0', id: 1, result: headers['a2a-version'] === '0.3' ? oldReply : reply })
  })
  return { ...server, gets: () => server.seen.filter(({ method }) => method === 'GET').map(({ url }) => url) }
}

const wellKnown = '/.well-known/agent-card.json'
const errorOf = async (settings: RemoteAgentSettings) => {
  const { error } = await collect(remoteAgent(settings), 'go')
  expect(error).toMatchObject({ code: 'run_failed' })
  return (error as AppError).message.replace(/127\.0\.0\.1:\d+/g, 'HOST').replace('The remote agent at HOST: ', '')
}

describe('the card of a remote agent', () => {
  it.each([
    ['at the origin', wellKnown, '', 1],
    ['at its older name', '/.well-known/agent.json', '', 2],
    ['below a base with a slash', `/agents/x${wellKnown}`, '/agents/x/', 1],
    ['below a base without a slash', `/agents/x${wellKnown}`, '/agents/x', 1],
    ['at its own address', '/agents/x', '/agents/x', 2],
    ['at an address that ends in .json', '/cards/x.json', '/cards/x.json', 1],
    ['at the origin, for the address of its interface', wellKnown, '/rpc', 4],
  ])('is found %s', async (_name, path, base, requests) => {
    const server = await openCardAt(path)
    expect((await collect(remoteAgent({ url: server.url + base }), 'go')).text).toBe('here')
    expect(server.gets()).toHaveLength(requests)
  })

  it('is read from `card` and nowhere else', async () => {
    const server = await openCardAt('/my/card')
    expect((await collect(remoteAgent({ card: `${server.url}/my/card` }), 'go')).text).toBe('here')
    expect(await errorOf({ card: `${server.url}/other?key=a-secret` })).toBe(
      'no agent card was found at http://HOST/other',
    )
    expect(server.gets()).toEqual(['/my/card', '/other?key=a-secret'])
  })

  it('of the origin does not stand for another agent there', async () => {
    const server = await openCardAt(wellKnown)
    expect(await errorOf({ url: `${server.url}/agents/x` })).toContain('no agent card was found at ')
  })

  it('is fetched once for runs at the same time, and anew when the agent has moved', async () => {
    let path = 'old'
    const server = await openServer(({ method, url, headers }, response) => {
      const origin = `http://${headers.host}/${path}`
      if (method === 'GET') return answer(response, 200, cardOf(origin, { capabilities: {} }))
      answer(response, url === `/${path}/rpc` ? 200 : 404, { jsonrpc: '2.0', id: 1, result: reply })
    })
    const far = remoteAgent({ url: server.url })
    const runs = await Promise.all([1, 2, 3].map(() => collect(far, 'go')))
    expect(runs.map(({ text }) => text)).toEqual(['here', 'here', 'here'])
    expect(server.seen.filter(({ method }) => method === 'GET')).toHaveLength(1)
    path = 'new'
    expect((await collect(far, 'go')).text).toBe('here')
    expect(server.seen.filter(({ method }) => method === 'GET')).toHaveLength(2)
  })

  it('offers several interfaces: the newest is used, and the next where its version is refused', async () => {
    const interfaces = (url: string) => [
      { url: `${url}/grpc`, protocolBinding: 'GRPC', protocolVersion: '1.0' },
      { url: `${url}/old`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url: '/new', protocolBinding: 'jsonrpc', protocolVersion: '1.0.1' },
      { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ]
    const refusal = { error: { code: -32009, message: 'no' } }
    const server = await openServer(({ method, url, headers }, response) => {
      if (method === 'GET')
        return answer(response, 200, { supportedInterfaces: interfaces(`http://${headers.host}`), capabilities: {} })
      answer(response, 200, {
        jsonrpc: '2.0',
        id: 1,
        ...(url === '/new' ? refusal : {}),
        ...(url === '/rest/message:send' && reply),
      })
    })
    expect((await collect(remoteAgent({ url: server.url }), 'go')).text).toBe('here')
    expect(server.seen.map(({ url }) => url)).toEqual([wellKnown, '/new', wellKnown, '/rest/message:send'])
  })

  it.each<[string, (url: string) => object]>([
    ['top-level fields of 0.3', (url) => oldCardOf(url, { capabilities: {} })],
    [
      'an additional interface of 0.3',
      (url) => ({
        url: `${url}/grpc`,
        preferredTransport: 'GRPC',
        protocolVersion: '0.3.0',
        additionalInterfaces: [{ url: `${url}/rpc`, transport: 'JSONRPC' }],
      }),
    ],
  ])('may have %s', async (_name, make) => {
    const server = await openCardAt(wellKnown, make)
    expect((await collect(remoteAgent({ url: server.url }), 'go')).text).toBe('here')
    expect(server.seen.at(-1)).toMatchObject({ url: '/rpc', headers: { 'a2a-version': '0.3' } })
  })

  it('whose stream is refused is asked without one', async () => {
    const peer = await openPeer((call, give) => {
      if (call.method === 'SendStreamingMessage') give.error(-32004, 'no streams')
      else give.result(reply)
    }, cardOf)
    expect((await collect(remoteAgent({ url: peer.url }), 'go')).text).toBe('here')
    expect(peer.calls.map(({ method }) => method)).toEqual(['SendStreamingMessage', 'SendMessage'])
  })
})

describe('a card that leads astray', () => {
  it('gets neither our key nor our words for another origin, unless we name that', async () => {
    const apiKey = 'a-secret-key-123'
    const other = await openServer((_request, response) =>
      answer(response, 200, { jsonrpc: '2.0', id: 1, result: reply }),
    )
    const { url } = await openCardAt(wellKnown, () => cardOf(other.url, { capabilities: {} }))
    expect(await errorOf({ url, apiKey })).toMatch(
      /points to http:\/\/HOST, another origin than its own\. Add that to `origins`/,
    )
    expect(other.seen).toEqual([])
    expect((await collect(remoteAgent({ url, apiKey, origins: [other.url] }), 'go')).text).toBe('here')
    expect(other.seen[0]?.headers.authorization).toBe(`Bearer ${apiKey}`)
  })

  it('or an agent that redirects is not followed to another origin', async () => {
    const other = await openServer((_request, response) => answer(response, 200, {}))
    const away = await openServer((_request, response) => answer(response, 302, {}, { location: `${other.url}/x` }))
    expect(await errorOf({ url: away.url, apiKey: 'a-secret-key-123' })).toMatch(
      /redirects to http:\/\/HOST, which is not followed/,
    )
    expect(other.seen).toEqual([])
    const inside = await openServer(({ method, url, headers }, response) => {
      if (method === 'POST') return answer(response, 307, {}, { location: other.url })
      if (url === '/card') return answer(response, 200, cardOf(`http://${headers.host}`))
      answer(response, 308, {}, { location: '/card' })
    })
    expect(await errorOf({ url: inside.url })).toContain('which is not followed')
    expect(other.seen).toEqual([])
  })

  it.each<[string, unknown, string]>([
    ['another kind of JSON', '[1]', 'no agent card was found'],
    ['a page', '<html>', 'no agent card was found'],
    ['interfaces that are no list', { supportedInterfaces: { url: 'x' } }, 'no agent card was found'],
    ['interfaces of wrong types', { supportedInterfaces: [7, null, { url: 7, protocolBinding: [] }] }, 'its card at'],
    ['another scheme', cardOf('file:///etc'), 'at an address that is not http or https'],
    ['a user in its address', cardOf('http://user:word@127.0.0.1'), 'at an address that is not http or https'],
    [
      'an unknown version',
      { supportedInterfaces: [{ url: '/', protocolBinding: 'JSONRPC', protocolVersion: '7.0' }] },
      'JSONRPC 7.0',
    ],
    ['10 MB', { ...cardOf('http://x'), more: 'x'.repeat(10_000_000) }, 'it sent an answer of more than 256 KB'],
    ['depth', `${'['.repeat(100_000)}`, 'no agent card was found'],
  ])('because it is %s, fails the run', async (_name, card, words) => {
    const server = await openServer(({ url }, response) => {
      if (url === wellKnown) answer(response, 200, card)
      else answer(response, 404, {})
    })
    expect(await errorOf({ url: server.url })).toContain(words)
  })

  it.each<[number, Record<string, string>, Partial<RemoteAgentSettings>, string]>([
    [
      401,
      { 'www-authenticate': 'Bearer realm="x"' },
      {},
      'it wants a key: set `apiKey` or `headers` (it asks for Bearer realm="x"): no',
    ],
    [401, {}, { apiKey: 'wrong-key' }, 'it refused the `apiKey` or the `headers`: no'],
    [403, {}, { headers: { 'x-key': 'wrong-key' } }, 'it does not allow this with the key that it was sent: no'],
    [500, {}, {}, 'it answered 500: no'],
  ])('because of a status %i, fails the run (%j)', async (status, headers, settings, words) => {
    const server = await openServer((_request, response) =>
      answer(response, status, { error: { message: 'no' } }, headers),
    )
    expect(await errorOf({ url: server.url, ...settings })).toBe(words)
  })
})

describe('the settings of a remote agent by card', () => {
  it.each([
    [{}, '`url` is missing; give the address of the server, or `card`'],
    [{ url: 'http://a', card: 'http://a' }, '`card` takes the place of `url`'],
    [{ card: 'http://a', agentId: 'a' }, '`agentId` is not needed'],
    [{ card: 'http://me:word@a' }, '`card` must not have a user or a password'],
    [{ card: 'http://a', a2aPrefix: '/x' }, '`a2aPrefix` is only for a server with `agentId`'],
    [
      { url: 'http://a', agentId: 'a', origins: ['http://b'] },
      '`origins` is only for an agent that is found by its card',
    ],
    [{ url: 'http://a', origins: ['b'] }, '`origins.0` must be an http or https address'],
  ])('refuse %j', (settings, words) => {
    expect(() => remoteAgent(settings)).toThrow(words)
  })
})
