import { describe, expect, test } from 'vitest'
import { json } from '../../../src/http/reply.ts'
import { createKernel, type KernelOptions } from '../../support/kernel.ts'
import { get, post, testKernel } from '../support.ts'

const app = 'http://app.example'
const routes = [get('/x'), post('/x', () => json('done'))]
const preflight = { method: 'OPTIONS', url: '/x', headers: { origin: app, 'access-control-request-method': 'POST' } }

const withCors = (options: KernelOptions = {}) =>
  testKernel(routes, { allowOrigins: [app, 'http://b.example'], ...options })

describe('CORS', () => {
  test('is off unless origins are allowed', async () => {
    const kernel = testKernel(routes)
    const response = await kernel.inject({ url: '/x', headers: { origin: app } })
    expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    const asked = await kernel.inject(preflight)
    expect(asked.status).toBe(204)
    expect(asked.headers['access-control-allow-methods']).toBeUndefined()
  })

  test('names the one matching origin, exposes our headers and varies', async () => {
    const response = await withCors().inject({ url: '/x', headers: { origin: app } })
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': app,
      'access-control-expose-headers':
        'Location, ETag, Retry-After, WWW-Authenticate, X-Request-Id, X-Run-Id, X-Session-Id, X-Agentserve-Ignored, X-Error-Code, x-should-retry',
      vary: 'Origin',
    })
    expect(response.headers['access-control-allow-credentials']).toBeUndefined()
  })

  test.each(['http://APP.example', 'http://app.example:80', 'https://app.example', 'null'])(
    'does not name %s',
    async (origin) => {
      const response = await withCors().inject({ url: '/x', headers: { origin } })
      expect(response.headers['access-control-allow-origin']).toBeUndefined()
      expect(response.headers.vary).toBe('Origin')
    },
  )

  test('answers a preflight before it asks for a key', async () => {
    const response = await withCors({ authKeys: [{ key: 'k' }] }).inject(preflight)
    expect(response.status).toBe(204)
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': app,
      'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
      'access-control-allow-headers':
        'Content-Type, Authorization, X-API-Key, Accept, Idempotency-Key, If-Match, Last-Event-ID, X-Request-Id, X-Session-Id, X-On-Disconnect, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, A2A-Version, A2A-Extensions, Traceparent, Tracestate',
    })
  })

  test('lets the package openai tell of itself, by whatever headers it has for that', async () => {
    const asked = 'authorization, x-stainless-os, X-Stainless-Retry-Count, x-other, x-stainless-\u00e4'
    const headers = { ...preflight.headers, 'access-control-request-headers': asked }
    const response = await withCors().inject({ ...preflight, headers })
    const allowed = response.headers['access-control-allow-headers'] ?? ''
    expect(allowed).toMatch(/Tracestate, x-stainless-os, X-Stainless-Retry-Count$/)
    const own = await withCors({ allowHeaders: ['X-Mine'] }).inject({ ...preflight, headers })
    expect(own.headers['access-control-allow-headers']).toBe('X-Mine')
  })

  test('lists the methods and headers that were set', async () => {
    const response = await withCors({ allowMethods: ['POST'], allowHeaders: ['X-Mine'] }).inject(preflight)
    expect(response.headers).toMatchObject({
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'X-Mine',
    })
  })

  test('is on errors too', async () => {
    const kernel = withCors({ authKeys: [{ key: 'k' }] })
    for (const url of ['/x', '/nowhere']) {
      const response = await kernel.inject({ url, headers: { origin: app } })
      expect([response.status, response.headers['access-control-allow-origin']]).toEqual([401, app])
    }
  })

  test('with * names no origin and does not vary', async () => {
    const response = await testKernel(routes, { allowOrigins: ['*'] }).inject({ url: '/x', headers: { origin: app } })
    expect(response.headers['access-control-allow-origin']).toBe('*')
    expect(response.headers.vary).toBeUndefined()
    expect(() => createKernel({ allowOrigins: ['*', app] })).toThrow(/must be the only entry/)
  })
})
