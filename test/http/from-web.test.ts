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
})
