import { describe, expect, test } from 'vitest'
import { json } from '../../../src/http/reply.ts'
import { get, post, testKernel } from '../support.ts'

const routes = [get('/x'), post('/x', () => json('done'))]

async function statusFor(
  headers: Record<string, string>,
  method = 'POST',
  allowOrigins: string[] = [],
): Promise<number> {
  const kernel = testKernel(routes, { allowOrigins })
  return (await kernel.inject({ url: '/x', method, headers: { host: 'localhost:8080', ...headers } })).status
}

describe('a request that changes something', () => {
  test.each([
    {},
    { origin: 'http://localhost:8080' },
    { origin: 'https://localhost:8080' },
    { origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { origin: 'http://127.0.0.1', host: '127.0.0.1:80' },
    { origin: 'https://[::1]', host: '[::1]:443' },
  ])('passes with %j', async (headers) => {
    expect(await statusFor(headers)).toBe(200)
  })

  test.each([
    { origin: 'null' },
    { origin: '' },
    { origin: 'http://evil.example' },
    { origin: 'http://localhost' },
    { origin: 'http://localhost:3000' },
    { origin: 'http://127.0.0.1:8080' },
    { origin: 'http://localhost:8080.evil.example' },
    { origin: 'http://localhost:8080@evil.example' },
    { origin: 'file://' },
    { origin: 'chrome-extension://abc' },
    { origin: 'localhost:8080' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'http://localhost:8080', 'sec-fetch-site': 'cross-site' },
  ])('is refused with %j', async (headers) => {
    expect(await statusFor(headers)).toBe(403)
    expect(await statusFor(headers, 'GET')).toBe(200)
  })

  test('passes from an allowed origin, and from any with * only with a key', async () => {
    const headers = { origin: 'http://app.example', 'sec-fetch-site': 'cross-site' }
    expect(await statusFor(headers, 'POST', ['http://app.example'])).toBe(200)
    expect(await statusFor(headers, 'POST', ['*'])).toBe(403)
    const kernel = testKernel([...routes, { ...post('/open', () => json('done')), scope: 'open' }], {
      allowOrigins: ['*'],
      authKeys: [{ key: 'right' }],
    })
    const send = async (url: string, key: Record<string, string>) =>
      (await kernel.inject({ url, method: 'POST', headers: { ...headers, ...key } })).status
    expect([
      await send('/x', { 'x-api-key': 'right' }),
      await send('/x', { 'x-api-key': 'wrong' }),
      await send('/x', {}),
      await send('/open', { 'x-api-key': 'right' }),
      await send('/open', {}),
    ]).toEqual([200, 401, 403, 403, 403])
    expect(await statusFor(headers, 'POST', ['http://other.example'])).toBe(403)
    expect(await statusFor({ origin: 'null' }, 'POST', ['http://app.example'])).toBe(403)
  })
})
