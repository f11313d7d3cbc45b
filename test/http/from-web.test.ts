import { describe, expect, test } from 'vitest'
import { fromWeb } from '../../src/http/from-web.ts'
import { get, post, testKernel } from './support.ts'

describe('a web handler', () => {
  test('gets the request and gives the answer', async () => {
    const route = post(
      '/x/:id',
      fromWeb(async (request) => {
        const { pathname, search } = new URL(request.url)
        const body = {
          pathname,
          search,
          method: request.method,
          a: request.headers.get('x-a'),
          sent: await request.text(),
        }
        return Response.json(body, {
          status: 201,
          headers: [
            ['Set-Cookie', 'a=1'],
            ['Set-Cookie', 'b=2'],
            ['X-B', '2'],
          ],
        })
      }),
    )
    const response = await testKernel([route]).inject({
      method: 'POST',
      url: '/x/1?q=2',
      headers: { 'X-A': '1' },
      body: 'hi',
    })
    expect(await response.json()).toEqual({ pathname: '/x/1', search: '?q=2', method: 'POST', a: '1', sent: 'hi' })
    expect(response).toMatchObject({ status: 201, headers: { 'x-b': '2', 'set-cookie': 'a=1, b=2' } })
    expect(response.headers['content-type']).toBe('application/json')
  })

  test('streams events frame by frame, however they are cut', async () => {
    const pieces = ['data: a', 'b\n\ndata: c\n', '\ndata: d\r\n\r\nrest']
    const body = ReadableStream.from(pieces.map((piece) => Buffer.from(piece)))
    const handler = fromWeb(async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
    const response = await testKernel([get('/x', handler)]).inject({ url: '/x' })
    const chunks: string[] = []
    for await (const chunk of response.body) chunks.push(Buffer.from(chunk).toString())
    expect(chunks).toEqual(['', 'data: ab\n\n', 'data: c\n\ndata: d\r\n\r\n', 'rest'])
  })

  test('may answer without a body', async () => {
    const handler = fromWeb(async () => new Response(null, { status: 204 }))
    expect((await testKernel([get('/x', handler)]).inject({ url: '/x' })).status).toBe(204)
  })

  test('keeps what is about the connection to the server, and sends no header twice', async () => {
    const headers = {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      connection: 'keep-alive',
      'x-b': '2',
    }
    const handler = fromWeb(async () => new Response('data: a\n\n', { headers }))
    const response = await testKernel([get('/x', handler)]).inject({ url: '/x' })
    expect(await response.text()).toBe('data: a\n\n')
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', 'x-b': '2' })
    expect(response.headers.connection).not.toBe('keep-alive')
  })

  test('is given the headers that it needs, and reads the body of the original where it says so', async () => {
    const handler = fromWeb(
      async (request, original) =>
        Response.json({ headers: [...request.headers], body: request.body, json: await original.body.json() }),
      { readsOriginal: true, needsHeader: (name) => name === 'x-a' },
    )
    const route = { method: 'POST' as const, path: '/x', scope: 'any' as const, handler }
    const response = await testKernel([route]).inject({
      method: 'POST',
      url: '/x',
      headers: { 'x-a': '1', authorization: 'Bearer secret', 'content-type': 'application/json' },
      body: '{"a":1}',
    })
    expect(await response.json()).toEqual({ headers: [['x-a', '1']], body: null, json: { a: 1 } })
  })

  test('ends its stream at once when the client leaves, also between two pieces', async () => {
    const ended = Promise.withResolvers<void>()
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from('data: a\n\n')),
      cancel: () => ended.resolve(),
    })
    const handler = fromWeb(async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
    const leaving = new AbortController()
    const response = await testKernel([get('/x', handler)]).inject({ url: '/x', signal: leaving.signal })
    const read = response.body[Symbol.asyncIterator]()
    await read.next()
    leaving.abort()
    await ended.promise
  })
})
