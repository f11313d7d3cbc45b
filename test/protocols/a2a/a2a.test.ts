import { expect, test } from 'vitest'
import { toOpenApi } from '../../../src/api/openapi/document.ts'
import { AppError, type ErrorCode } from '../../../src/core/error.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import type { Route } from '../../../src/http/router.ts'
import { a2aRoutes, createA2A } from '../../../src/protocols/a2a/a2a.ts'
import { a2aDocs } from '../../../src/protocols/a2a/docs.ts'
import { errorReply, rpcTable } from '../../../src/protocols/a2a/error.ts'
import { createRegistry } from '../../../src/service/registry.ts'
import { A2ARequest, A2AResponse } from '../../../src/wire/protocols/a2a.ts'
import { openA2A, rpc } from '../../support/a2a.ts'
import { createKernel } from '../../support/kernel.ts'
import { echo } from '../../support/services.ts'

const unused = () => {
  throw new Error('not asked for')
}

test('registers, finds and lists entities', async () => {
  const { a2a, registry } = await openA2A({ echo })
  a2a.registerEntity('second', echo)
  expect(a2a.getEntity('second')).toEqual({ entity: echo, exists: true })
  expect(a2a.getEntity('third')).toEqual({ entity: undefined, exists: false })
  expect(a2a.listEntities()).toEqual(['echo', 'second'])
  expect(registry.ids()).toEqual(['echo', 'second'])
  expect(() => a2a.registerEntity('second', echo)).toThrow(/taken/)
  expect(() => a2a.registerEntity('', echo)).toThrow(/empty/)
})

test.each([
  ['/api/v1/a2a', '/api/v1/a2a'],
  ['/agents/talk/', '/agents/talk'],
  ['talk', '/talk'],
  ['/', ''],
])('mounts its two routes behind the prefix %s', (prefix, expected) => {
  const routes: Route[] = []
  const a2a = createA2A({ prefix, registry: createRegistry(), services: unused, fileBytes: 1000 })
  a2a.setupRoutes({ route: (route) => routes.push(route) })
  const paths = [`${expected}/sendMessage`, `${expected}/streamMessage`]
  expect(routes.map(({ method, path }) => [method, path])).toEqual(paths.map((path) => ['POST', path]))
  expect(a2aDocs(prefix).map(({ path }) => path)).toEqual(paths)
  expect(a2aRoutes(unused, prefix, 1000).map(({ path }) => path)).toEqual(paths)
})

test('answers on a prefix of its own', async () => {
  const { post } = await openA2A({ echo }, { prefix: '/talk' })
  expect(await (await post('sendMessage', rpc('sendMessage', 'echo', 'hi'))).json()).toHaveProperty('result.task')
})

test('opens its services with the first request, and says so when it can not', async () => {
  let asked = 0
  const routes = a2aRoutes(
    async () => {
      asked++
      throw new AppError('unavailable', 'the lock of /secret/path is taken')
    },
    '/api/v1/a2a',
    1000,
  )
  expect(asked).toBe(0)
  const kernel = createKernel()
  kernel.setRoutes(routes)
  const response = await kernel.inject({
    method: 'POST',
    url: '/api/v1/a2a/sendMessage',
    body: JSON.stringify(rpc('sendMessage', 'echo', 'hi')),
  })
  expect(asked).toBeGreaterThan(0)
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({
    error: { code: -32603, message: 'the server cannot accept work now; retry later' },
  })
})

test('has a JSON-RPC code for every error, and keeps the status of those that HTTP refuses', () => {
  const kept: Record<number, ErrorCode[]> = {}
  for (const code of Object.keys(rpcTable) as ErrorCode[]) {
    const reply = errorReply(new AppError(code, 'text'), 'id')
    const { error } = (reply.body as { value: { error: { code: number; message: string } } }).value
    expect([-32700, -32600, -32601, -32602, -32603]).toContain(error.code)
    kept[reply.status] = [...(kept[reply.status] ?? []), code]
    if (reply.status !== 200 && reply.status !== 404) expect(error.code).toBe(-32600)
  }
  const { 200: answered, ...refused } = kept
  expect(refused).toEqual({
    401: ['unauthorized'],
    403: ['forbidden'],
    404: ['route_not_found'],
    405: ['method_not_allowed'],
    408: ['request_timeout'],
    413: ['payload_too_large'],
    415: ['unsupported_media_type'],
    421: ['misdirected_request'],
    429: ['rate_limited'],
    431: ['headers_too_large'],
  })
  expect(answered?.length).toBe(Object.keys(rpcTable).length - 10)
})

test('carries Retry-After, and hides what is not ours to tell', () => {
  const limited = errorReply(new AppError('rate_limited', 'slow down', { retryAfterSeconds: 7 }), 1)
  expect(limited).toMatchObject({ status: 429, headers: { 'Retry-After': '7' } })
  const foreign = errorReply(new Error('ECONNREFUSED 10.0.0.1'), null)
  expect(foreign).toMatchObject({
    status: 200,
    body: { value: { error: { code: -32603, message: 'internal error' } } },
  })
})

test.each([
  ['warning', 'warn', new AppError('unavailable', 'The database can not be reached.', { retryAfterSeconds: 3 }), '3'],
  ['error', 'error', new TypeError('x is not a function'), undefined],
] as const)('logs what it could not do: %s', async (_, level, failure, retryAfter) => {
  const { registry } = await openA2A({ echo })
  const logged: string[] = []
  const logger = { ...silentLogger, warn: () => logged.push('warn'), error: () => logged.push('error') }
  const services = { registry, logger, runs: { start: () => Promise.reject(failure) } }
  const kernel = createKernel()
  kernel.setRoutes(a2aRoutes(() => services as never, '/a2a', 1000))
  const body = JSON.stringify(rpc('sendMessage', 'echo', 'hi'))
  const answer = await kernel.inject({ method: 'POST', url: '/a2a/sendMessage', body })
  expect(answer.headers['retry-after']).toBe(retryAfter)
  expect(await answer.json()).toMatchObject({ error: { code: -32603 } })
  expect(logged).toEqual([level])
})

test('describes its routes in valid OpenAPI', async () => {
  const { Validator } = await import('@seriousme/openapi-schema-validator')
  const document = toOpenApi(a2aDocs('/talk'), { version: '1.0.0', authRequired: true }) as Record<string, object>
  const { valid, errors } = await new Validator().validate(document)
  expect(errors ?? '').toBe('')
  expect(valid).toBe(true)
  expect(Object.keys(document.paths ?? {})).toEqual(['/talk/sendMessage', '/talk/streamMessage'])
})

test('writes what its schemas say', async () => {
  const { post } = await openA2A({ echo })
  const request = rpc('sendMessage', 'echo', 'hi')
  expect(A2ARequest.parse(request)).toEqual(request)
  const answer = await (await post('sendMessage', request)).json()
  expect(A2AResponse.parse(answer)).toEqual(answer)
})
