import { describe, expect, test } from 'vitest'
import { json } from '../../src/http/reply.ts'
import { get, post, testKernel } from './support.ts'

const params = get('/things/:id', ({ params }) => json(params))

describe('routing', () => {
  test.each([
    ['/things/a', { id: 'a' }],
    ['/things/a/', { id: 'a' }],
    ['/things/a?x=1', { id: 'a' }],
    ['/things/a%20b%2Fc', { id: 'a b/c' }],
    ['/things/%E2%82%AC', { id: '€' }],
    ['/things/a/parts/b', { id: 'a', part: 'b' }],
    ['/files/a/b%20c', { path: 'a/b c' }],
    ['http://localhost/things/a', { id: 'a' }],
  ])('finds %s', async (url, expected) => {
    const kernel = testKernel([
      params,
      get('/things/:id/parts/:part', ({ params }) => json(params)),
      get('/files/**:path', ({ params }) => json(params)),
    ])
    const response = await kernel.inject({ url })
    expect([response.status, await response.json()]).toEqual([200, expected])
  })

  test.each(['/thing/a', '/things', '/things/', '/things/a/b', '//things/a', '/things/a//', '/THINGS/a', '/'])(
    'answers 404 to %s',
    async (url) => {
      const response = await testKernel([params]).inject({ url })
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ error: { code: 'route_not_found' } })
    },
  )

  test.each(['/things/%', '/things/%zz', '/things/%ff'])('answers 400 to the encoding of %s', async (url) => {
    const response = await testKernel([params]).inject({ url })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_request', details: [{ path: 'id' }] } })
  })

  test('gives the query, and the path as it was sent', async () => {
    const kernel = testKernel([get('/a/:id', ({ path, query }) => json({ path, q: query.getAll('q') }))])
    expect(await (await kernel.inject({ url: '/a/%20/?q=1&q=%C3%A9' })).json()).toEqual({
      path: '/a/%20/',
      q: ['1', 'é'],
    })
  })

  test('prefers what was mounted later at the same method and path', async () => {
    const kernel = testKernel([
      get('/health', () => json('ours')),
      get('/x/:a', () => json('a')),
      post('/x/:b', () => json('post')),
      get('/health/', () => json('theirs')),
      get('/x/:b', () => json('b')),
    ])
    expect(await (await kernel.inject({ url: '/health' })).json()).toBe('theirs')
    expect(await (await kernel.inject({ url: '/x/1' })).json()).toBe('b')
    expect(await (await kernel.inject({ url: '/x/1', method: 'POST' })).json()).toBe('post')
  })

  test('prefers the literal path over the parameter, whatever came first', async () => {
    const kernel = testKernel([get('/x/known', () => json('known')), get('/x/:id', () => json('any'))])
    expect(await (await kernel.inject({ url: '/x/known' })).json()).toBe('known')
  })

  test('answers HEAD as GET, with its headers and no body', async () => {
    const kernel = testKernel([get('/x', () => json({ a: 'é' }, 200, { ETag: '"1"' }))])
    const [asGet, asHead] = [await kernel.inject({ url: '/x' }), await kernel.inject({ url: '/x', method: 'HEAD' })]
    const { 'x-request-id': _one, ...expected } = asGet.headers
    expect(asHead.headers).toMatchObject(expected)
    expect(asHead.headers['content-length']).toBe('10')
    expect(await asHead.text()).toBe('')
  })

  test('answers OPTIONS with what the path allows', async () => {
    const kernel = testKernel([get('/x'), post('/x', () => json(1))])
    const response = await kernel.inject({ url: '/x', method: 'OPTIONS' })
    expect([response.status, response.headers.allow]).toEqual([204, 'GET, HEAD, POST, OPTIONS'])
    expect((await kernel.inject({ url: '*', method: 'OPTIONS' })).status).toBe(204)
    expect((await kernel.inject({ url: '/y', method: 'OPTIONS' })).status).toBe(404)
  })

  test('refuses a method that a known path does not have', async () => {
    const response = await testKernel([get('/x')]).inject({ url: '/x', method: 'DELETE' })
    expect([response.status, response.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect(await response.json()).toMatchObject({ error: { code: 'method_not_allowed' } })
  })

  test('exchanges its routes while a request runs on the old ones', async () => {
    const gate = Promise.withResolvers<void>()
    const kernel = testKernel([get('/old', () => gate.promise.then(() => json('old')))])
    const pending = kernel.inject({ url: '/old' })
    kernel.setRoutes([get('/new', () => json('new'))])
    gate.resolve()
    expect(await (await pending).json()).toBe('old')
    expect((await kernel.inject({ url: '/old' })).status).toBe(404)
    expect(await (await kernel.inject({ url: '/new' })).json()).toBe('new')
  })
})
