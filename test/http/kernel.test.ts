import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { AppError } from '../../src/core/error.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { RequestRecord } from '../../src/http/options.ts'
import { empty, json, text } from '../../src/http/reply.ts'
import type { InjectRequest } from '../../src/http/request.ts'
import { echo, get, listening, openSocket, parseRaw, post, readAll, testKernel } from './support.ts'

const hop = new Set(['date', 'connection', 'keep-alive', 'x-request-id', 'transfer-encoding'])
const shared = (headers: Iterable<[string, string]>) =>
  Object.fromEntries([...headers].filter(([name]) => !hop.has(name)))

describe('the kernel', () => {
  const routes = [
    echo,
    get('/json/:id', ({ params, query }) => json({ params, query: Object.fromEntries(query) })),
    get('/page', () => text('<p>é', 'text/html; charset=utf-8')),
    get('/own', () => ({ ...text('<p>', 'text/html'), headers: { 'Content-Security-Policy': "default-src 'self'" } })),
    get('/empty', () => empty()),
    get('/fail', () => Promise.reject(new Error('no'))),
  ]
  const requests: InjectRequest[] = [
    { url: '/json/a%20b?x=1&y=%C3%A9' },
    { url: '/json/a', method: 'HEAD' },
    { url: '/json/%zz' },
    { url: '/page' },
    { url: '/own' },
    { url: '/empty' },
    { url: '/fail' },
    { url: '/nowhere' },
    { url: '/echo' },
    { url: '/echo', method: 'OPTIONS' },
    { url: '/echo', method: 'POST', body: '{"a":[1,"€"]}' },
    { url: '/echo', method: 'POST' },
    { url: '/echo', method: 'POST', body: '{' },
    { url: '/echo', method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } },
    { url: '/echo', method: 'POST', body: '1', headers: { origin: 'http://evil.example' } },
    { url: '/json/a', headers: { 'x-request-id': 'mine' } },
  ]

  test.each(
    requests.map((request) => [`${request.method ?? 'GET'} ${request.url} ${request.body ?? ''}`, request] as const),
  )('answers %s without a socket as with one', async (_name, request) => {
    const { kernel, url } = await listening(routes)
    const { method = 'GET', headers = {}, body } = request
    const injected = await kernel.inject(request)
    const init = { method, headers: { 'content-type': 'application/json', ...headers } }
    const fetched = await fetch(`${url}${request.url}`, body === undefined ? init : { ...init, body: String(body) })
    const withoutId = (content: string) => content.replace(/"request_id":"[^"]*"/, '')
    expect({ status: injected.status, headers: shared(Object.entries(injected.headers)) }).toEqual({
      status: fetched.status,
      headers: shared(fetched.headers),
    })
    expect(withoutId(await injected.text())).toBe(withoutId(await fetched.text()))
    expect(injected.headers['x-request-id']).toBeDefined()
  })

  test('puts a policy on pages, unless they bring their own', async () => {
    const kernel = testKernel(routes)
    const page = await kernel.inject({ url: '/page' })
    expect(page.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'")
    expect((await kernel.inject({ url: '/own' })).headers['content-security-policy']).toBe("default-src 'self'")
    expect((await kernel.inject({ url: '/json/a' })).headers['content-security-policy']).toBeUndefined()
  })

  test('serves inside a node:http server of somebody else', async () => {
    const server = createServer(testKernel(routes).handle)
    onTestFinished(() => void server.close())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(await (await fetch(`http://127.0.0.1:${port}/json/a`)).json()).toMatchObject({ params: { id: 'a' } })
  })

  test('tells of each request once, without content', async () => {
    const records: RequestRecord[] = []
    let now = 1000
    const slow = get('/slow', () => {
      now += 7
      return json('secret')
    })
    const kernel = testKernel([slow], { onRequest: (record) => records.push(record), clock: () => now })
    await (await kernel.inject({ url: '/slow?key=secret', headers: { 'x-request-id': 'a' } })).text()
    await (await kernel.inject({ url: '/none', headers: { 'x-request-id': 'b' } })).text()
    expect(records).toEqual([
      { method: 'GET', path: '/slow', route: '/slow', status: 200, durationMs: 7, requestId: 'a', caller: 'anonymous' },
      {
        method: 'GET',
        path: '/none',
        route: undefined,
        status: 404,
        code: 'route_not_found',
        durationMs: 0,
        requestId: 'b',
        caller: 'anonymous',
      },
    ])
  })

  test('says once a minute in its log that a disk is full', async () => {
    const lines: unknown[] = []
    let now = 1000
    const full = post('/full', () => {
      throw new AppError('storage_full', 'The disk is full.')
    })
    const logger = { ...silentLogger, error: (about: object, said?: string) => lines.push([about, said]) }
    const kernel = testKernel([full], { logger, clock: () => now })
    const ask = async (id: string, laterMs: number) => {
      now += laterMs
      const headers = { 'x-request-id': id }
      expect((await kernel.inject({ url: '/full', method: 'POST', headers })).status).toBe(507)
    }
    await ask('a', 0)
    await ask('b', 59_000)
    await ask('c', 1_000)
    const about = { method: 'POST', path: '/full', code: 'storage_full' }
    expect(lines).toEqual([
      [{ ...about, request_id: 'a' }, 'The disk is full.'],
      [{ ...about, request_id: 'c' }, 'The disk is full.'],
    ])
  })
})

describe('the request timeout', () => {
  test('aborts the deadline, then answers 504 for a handler that stays silent', async () => {
    let reason: unknown
    const route = get('/x', ({ deadline }) => {
      deadline.addEventListener('abort', () => {
        reason = deadline.reason
      })
      return new Promise(() => {})
    })
    const response = await testKernel([route], { requestTimeoutMs: 10, deadlineGraceMs: 10 }).inject({ url: '/x' })
    expect(response.status).toBe(504)
    expect(await response.json()).toMatchObject({
      error: { code: 'timeout', message: expect.stringContaining('requestTimeout') },
    })
    expect(reason).toMatchObject({ code: 'timeout' })
  })

  test('gives a route its own time', async () => {
    const route = { ...get('/x', () => new Promise(() => {})), timeoutMs: 10 }
    const response = await testKernel([route], { deadlineGraceMs: 10 }).inject({ url: '/x' })
    expect(response.status).toBe(504)
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining('(10 ms)') } })
  })

  test('lets the handler answer by itself', async () => {
    const route = get('/x', async ({ deadline }) => {
      await once(deadline, 'abort')
      return json('mine', 202)
    })
    const response = await testKernel([route], { requestTimeoutMs: 10 }).inject({ url: '/x' })
    expect(response.status).toBe(202)
  })

  test('drops what a handler says after its 504', async () => {
    const late = Promise.withResolvers<void>()
    const returned = Promise.withResolvers<void>()
    const frames: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: true, value: undefined }),
        return: async () => {
          returned.resolve()
          return { done: true, value: undefined }
        },
      }),
    }
    const route = get('/x', async () => {
      await late.promise
      return { status: 200, body: { kind: 'sse', frames } }
    })
    const response = await testKernel([route], { requestTimeoutMs: 5, deadlineGraceMs: 5 }).inject({ url: '/x' })
    expect(response.status).toBe(504)
    late.resolve()
    await returned.promise
  })
})

describe('a client that leaves', () => {
  test('aborts the signal of a plain request, recorded as 499', async () => {
    const started = Promise.withResolvers<void>()
    const recorded = Promise.withResolvers<RequestRecord>()
    const route = get('/x', async ({ signal }) => {
      started.resolve()
      await once(signal, 'abort')
      throw new Error('stopped')
    })
    const { port } = await listening([route], { onRequest: recorded.resolve })
    const socket = openSocket(port)
    socket.write('GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await started.promise
    socket.destroy()
    expect(await recorded.promise).toMatchObject({ status: 499 })
  })

  test('is the signal that inject was given', async () => {
    const controller = new AbortController()
    const aborted = Promise.withResolvers<void>()
    const route = get('/x', ({ signal }) => {
      signal.addEventListener('abort', () => aborted.resolve())
      controller.abort()
      return new Promise(() => {})
    })
    const kernel = testKernel([route], { requestTimeoutMs: 20, deadlineGraceMs: 0 })
    await expect(kernel.inject({ url: '/x', signal: controller.signal })).rejects.toThrow(/aborted/)
    await aborted.promise
  })

  test('does not abort the signal of a request that was answered', async () => {
    let signal: AbortSignal | undefined
    const { url } = await listening([
      get('/x', (request) => {
        signal = request.signal
        return json(1)
      }),
    ])
    await (await fetch(`${url}/x`, { headers: { connection: 'close' } })).text()
    expect(signal?.aborted).toBe(false)
  })
})

describe('closing', () => {
  test('finishes what runs, refuses what comes, and closes idle connections', async () => {
    const gate = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const { kernel, port } = await listening([
      get('/slow', async () => {
        started.resolve()
        await gate.promise
        return json('done')
      }),
    ])
    const idle = openSocket(port)
    await once(idle, 'connect')
    const busy = openSocket(port)
    busy.write('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await started.promise
    const closed = kernel.close({ deadlineMs: 10_000 })
    idle.resume()
    await once(idle, 'close')
    expect((await kernel.inject({ url: '/slow' })).status).toBe(503)
    gate.resolve()
    const answer = parseRaw(await readAll(busy))
    expect([answer.status, answer.headers.connection, answer.body]).toEqual([200, 'close', '"done"'])
    await closed
  })

  test('cuts what does not end within the deadline', async () => {
    const started = Promise.withResolvers<void>()
    const { kernel, port } = await listening([
      get('/stuck', () => {
        started.resolve()
        return new Promise(() => {})
      }),
    ])
    const socket = openSocket(port)
    socket.on('error', () => {}).write('GET /stuck HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await started.promise
    await kernel.close({ deadlineMs: 10 })
    expect(await readAll(socket).catch(() => '')).toBe('')
  })

  test('closes a connection that is kept alive after its last answer', async () => {
    const { kernel, port } = await listening([post('/x', () => json(1))])
    const socket = openSocket(port)
    socket.write('POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n')
    await once(socket, 'data')
    const closed = once(socket, 'close')
    await kernel.close({ deadlineMs: 10_000 })
    await closed
  })
})
