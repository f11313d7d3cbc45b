import { describe, expect, test } from 'vitest'
import { AppError, type ErrorCode } from '../../src/core/error.ts'
import { statusOf } from '../../src/http/error.ts'
import { get, listening, testKernel } from './support.ts'

const decided: Record<number, ErrorCode[]> = {
  400: ['invalid_request'],
  401: ['unauthorized'],
  403: ['forbidden'],
  404: [
    'route_not_found',
    'session_not_found',
    'run_not_found',
    'agent_not_found',
    'summary_not_found',
    'document_not_found',
    'chunk_not_found',
    'file_not_found',
    'collection_not_found',
    'owner_not_found',
    'fact_not_found',
    'schedule_not_found',
    'call_not_found',
  ],
  405: ['method_not_allowed'],
  408: ['request_timeout'],
  409: ['conflict', 'run_cancelled'],
  412: ['precondition_failed'],
  413: ['payload_too_large'],
  415: ['unsupported_media_type'],
  421: ['misdirected_request'],
  422: ['idempotency_mismatch', 'unreadable_document'],
  429: ['rate_limited'],
  431: ['headers_too_large'],
  500: ['internal', 'run_failed', 'run_interrupted', 'run_limit', 'summary_failed'],
  501: ['summary_not_configured'],
  503: ['unavailable'],
  504: ['timeout'],
  507: ['storage_full'],
}
const rows = Object.entries(decided).flatMap(([status, codes]) => codes.map((code) => [Number(status), code] as const))

describe('errors', () => {
  test.each(rows)('answers %i to %s', async (status, code) => {
    const kernel = testKernel([
      get('/x', () => {
        throw new AppError(code, 'What happened.')
      }),
    ])
    const response = await kernel.inject({ url: '/x', headers: { 'X-Request-Id': 'mine' } })
    expect(response.status).toBe(status)
    expect(await response.json()).toEqual({ error: { code, message: 'What happened.' }, request_id: 'mine' })
  })

  test('knows every code', () => {
    expect(rows.map(([, code]) => code).sort()).toEqual(Object.keys(statusOf).sort())
  })

  test('carries details, ids, Retry-After and Allow', async () => {
    const kernel = testKernel([
      get('/x', () => {
        throw new AppError('rate_limited', 'Slow down.', {
          details: [{ path: 'limit', message: 'too many' }],
          runId: 'run_1',
          sessionId: 'ses_1',
          retryAfterSeconds: 1.2,
          allow: ['GET'],
        })
      }),
    ])
    const response = await kernel.inject({ url: '/x' })
    expect(response.headers).toMatchObject({ 'retry-after': '2', allow: 'GET' })
    expect(await response.json()).toMatchObject({
      error: { details: [{ path: 'limit', message: 'too many' }], run_id: 'run_1', session_id: 'ses_1' },
      request_id: response.headers['x-request-id'],
    })
  })

  test('shows nothing of an unexpected error and logs it with the request id', async () => {
    const logged: object[] = []
    const logger = { debug() {}, info() {}, warn() {}, error: (fields: object) => void logged.push(fields) }
    for (const debug of [false, true]) {
      const kernel = testKernel(
        [
          get('/x', async () => {
            throw new TypeError('secret detail')
          }),
        ],
        { logger, debug },
      )
      const response = await kernel.inject({ url: '/x', headers: { 'x-request-id': 'abc' } })
      expect(response.status).toBe(500)
      expect(await response.text()).not.toContain('secret')
    }
    expect(logged).toMatchObject([
      { request_id: 'abc', error: { message: 'secret detail' } },
      { request_id: 'abc', error: { stack: expect.stringContaining('secret detail') } },
    ])
    expect(logged[0]).not.toHaveProperty('error.stack')
  })

  test.each([
    ['a value that JSON does not have', () => ({ status: 200, body: { kind: 'json' as const, value: 1n } })],
    ['a header that HTTP does not allow', () => ({ status: 200, headers: { 'X-A': 'a\r\nb' } })],
  ])('answers 500 to a reply with %s', async (_name, handler) => {
    const { url } = await listening([get('/x', handler)])
    const response = await fetch(`${url}/x`)
    expect(response.status).toBe(500)
    expect(await response.json()).toMatchObject({ error: { code: 'internal' } })
  })

  test('is worded by the route that has its own way, also before the handler', async () => {
    const kernel = testKernel(
      [
        {
          method: 'POST',
          scope: 'any',
          path: '/rpc',
          handler: () => ({ status: 204 }),
          onError: (error, { requestId }) => ({
            status: statusOf[error.code],
            body: { kind: 'json', value: { rpc: error.code, requestId } },
          }),
        },
      ],
      { authKeys: [{ key: 'k' }] },
    )
    const response = await kernel.inject({ url: '/rpc', method: 'POST', headers: { 'x-request-id': 'r' } })
    expect([response.status, await response.json()]).toEqual([401, { rpc: 'unauthorized', requestId: 'r' }])
    expect(response.headers['www-authenticate']).toBe('Bearer')
  })

  test('falls back to the one body when that way fails', async () => {
    const kernel = testKernel([
      {
        ...get('/x', () => {
          throw new AppError('conflict', 'No.')
        }),
        onError: () => {
          throw new Error('worse')
        },
      },
    ])
    const response = await kernel.inject({ url: '/x' })
    expect([response.status, await response.json()]).toMatchObject([500, { error: { code: 'internal' } }])
  })
})

describe('the request id', () => {
  test.each(['a', 'A-b_c.1:2', '~'.repeat(128)])('is the caller’s: %s', async (id) => {
    const response = await testKernel([get('/x')]).inject({ url: '/x', headers: { 'X-Request-Id': id } })
    expect(response.headers['x-request-id']).toBe(id)
  })

  test.each(['', 'a b', 'é', 'a\tb', 'x'.repeat(129)])('is ours instead of %j', async (id) => {
    const response = await testKernel([get('/x')]).inject({ url: '/x', headers: { 'X-Request-Id': id } })
    expect(response.headers['x-request-id']).toMatch(/^req_[0-9a-z]{26}$/)
  })
})
