import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { json } from '../../../src/http/reply.ts'
import { unauthorized } from '../../../src/http/security/auth.ts'
import { get, post, testKernel } from '../support.ts'

const who = get('/who', ({ caller }) => json(caller))

describe('keys', () => {
  test.each([
    ['bearer', { authorization: 'Bearer second' }, 'key:1'],
    ['lower-case bearer', { authorization: 'bearer first' }, 'key:0'],
    ['X-API-Key', { 'X-API-Key': 'second' }, 'key:1'],
    ['X-API-Key beside another scheme', { authorization: 'Basic eDp5', 'x-api-key': 'first' }, 'key:0'],
  ])('are taken as %s', async (_name, headers, caller) => {
    const response = await testKernel([who], { authKeys: [{ key: 'first' }, { key: 'second' }] }).inject({
      url: '/who',
      headers,
    })
    expect([response.status, await response.json()]).toEqual([200, caller])
  })

  test.each([
    {},
    { authorization: 'Bearer' },
    { authorization: 'Bearer third' },
    { authorization: 'Bearer first second' },
    { authorization: 'Basic first' },
    { authorization: 'first' },
    { 'x-api-key': '' },
    { 'x-api-key': 'FIRST' },
  ])('are missing or wrong: %j', async (headers) => {
    const kernel = testKernel([who, { ...get('/open'), scope: 'open' }], {
      authKeys: [{ key: 'first' }, { key: 'second' }],
    })
    for (const [method, url, status] of [
      ['GET', '/who', 401],
      ['GET', '/nowhere', 401],
      ['DELETE', '/who', 401],
      ['OPTIONS', '/who', 401],
      ['GET', '/open', 200],
      ['HEAD', '/open', 200],
      ['OPTIONS', '/open', 204],
    ] as const) {
      expect([url, (await kernel.inject({ url, method, headers })).status]).toEqual([url, status])
    }
  })

  test('are checked before a byte of the body is read', async () => {
    let read = 0
    const body = new Readable({
      read() {
        read++
        this.push('x'.repeat(1024))
      },
      highWaterMark: 0,
    })
    let handled = false
    const route = post('/x', async (request) => {
      handled = true
      return json(await request.body.json())
    })
    const response = await testKernel([route], { authKeys: [{ key: 'k' }] }).inject({ method: 'POST', url: '/x', body })
    expect([response.status, handled, read]).toEqual([401, false, 0])
  })

  test('are called by their id, or by their place', async () => {
    const kernel = testKernel([who], { authKeys: [{ key: 'first', id: 'app' }, { key: 'second' }] })
    const ask = async (key: string) => (await kernel.inject({ url: '/who', headers: { 'x-api-key': key } })).json()
    expect([await ask('first'), await ask('second')]).toEqual(['app', 'key:1'])
  })

  test('may be known by their hash alone, which opens nothing itself', async () => {
    const hash = `sha256:${createHash('sha256').update('secret').digest('hex')}`
    const kernel = testKernel([who], { authKeys: [{ key: hash.replace(/[a-f]/g, (digit) => digit.toUpperCase()) }] })
    const ask = async (key: string) => (await kernel.inject({ url: '/who', headers: { 'x-api-key': key } })).status
    expect([await ask('secret'), await ask(hash), await ask(hash.slice(7))]).toEqual([200, 401, 401])
  })

  test('with scopes are refused, before the body is read, where they lack one, and the answer names it', async () => {
    const body = new Readable({ read: () => expect.unreachable() })
    const route = { ...post('/x', () => json('done')), scope: ['run', 'prompts'] as const }
    const kernel = testKernel([route, who], { authKeys: [{ key: 'k', scopes: ['run'] }] })
    const headers = { 'x-api-key': 'k' }
    const refused = await kernel.inject({ method: 'POST', url: '/x', body, headers })
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { error: { code: 'forbidden', message: expect.stringContaining("'prompts'") } },
    ])
    expect((await kernel.inject({ url: '/who', headers })).status).toBe(200)
  })

  test('leave everybody anonymous when there are none', async () => {
    const response = await testKernel([who]).inject({ url: '/who', headers: { authorization: 'Bearer x' } })
    expect(await response.json()).toBe('anonymous')
  })
})

test('says where a token goes, and where a key', () => {
  const header = "'Authorization: Bearer …'"
  expect(unauthorized({}, 'key').message).toBe(
    `This server requires an API key. Send a valid key as ${header} or 'X-API-Key: …'.`,
  )
  expect(unauthorized({}, 'token').message).toBe(`This server requires a token. Send a valid one as ${header}.`)
  expect(unauthorized({}, 'either').message).toBe(
    `This server requires an API key or token. Send a valid token or key as ${header}, or a key as 'X-API-Key: …'.`,
  )
})
