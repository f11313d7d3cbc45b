import { describe, expect, test } from 'vitest'
import { isLoopback } from '../../../src/http/security/host.ts'
import type { KernelOptions } from '../../support/kernel.ts'
import { get, listening, parseRaw, sendRaw, testKernel } from '../support.ts'

async function statusFor(host: string, options: KernelOptions = {}): Promise<number> {
  const kernel = testKernel([get('/x')], options)
  const headers: Record<string, string> = { host }
  if (options.authKeys !== undefined) headers['x-api-key'] = 'k'
  return (await kernel.inject({ url: '/x', headers })).status
}

describe('the Host header', () => {
  test.each([
    'localhost',
    'LOCALHOST',
    'localhost.',
    'localhost:8080',
    'api.localhost:1',
    '127.0.0.1',
    '127.0.0.1:80',
    '127.9.9.9',
    '192.168.1.20:8080',
    '0.0.0.0:8080',
    '[::1]',
    '[::1]:8080',
    '[2001:db8::1]:8080',
    'dev.example',
    'DEV.example.:8080',
  ])('may be %s', async (host) => {
    expect(await statusFor(host, { allowHosts: ['dev.example'] })).toBe(200)
  })

  test.each([
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    'evil-localhost',
    '127.0.0.1.evil.example',
    'dev.example.evil',
    '2130706433',
    '0x7f000001',
    '127.1',
    '0177.0.0.1',
  ])('may not be the name %s', async (host) => {
    expect(await statusFor(host, { allowHosts: ['dev.example'] })).toBe(421)
  })

  test.each([
    '',
    'a@localhost',
    'localhost@evil.example',
    'localhost, evil.example',
    'localhost:80:80',
    'localhost:port',
    'local host',
    '::1',
    '[::1',
    '[fe80::1%25eth0]',
    '[1:2]',
    'localhost/',
    'http://localhost',
  ])('is refused as malformed: %j', async (host) => {
    expect(await statusFor(host)).toBe(400)
  })

  test('may be the bound host', async () => {
    expect(await statusFor('box.lan:8080', { boundHost: 'box.lan' })).toBe(200)
  })

  test('may be any name with keys on an open bind, not on a loopback one', async () => {
    expect(await statusFor('any.example', { authKeys: [{ key: 'k' }], boundHost: '0.0.0.0' })).toBe(200)
    expect(await statusFor('any.example', { authKeys: [{ key: 'k' }] })).toBe(200)
    expect(await statusFor('any.example', { authKeys: [{ key: 'k' }], boundHost: '127.0.0.1' })).toBe(421)
    expect(await statusFor('any.example', { boundHost: '0.0.0.0' })).toBe(421)
  })

  test.each([
    ['none', 'GET /x HTTP/1.1\r\n'],
    ['two', 'GET /x HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n'],
    ['another than the absolute target', 'GET http://evil.example/x HTTP/1.1\r\nHost: localhost\r\n'],
    ['none in HTTP/1.0', 'GET /x HTTP/1.0\r\n'],
  ])('is refused over a socket: %s', async (_name, head) => {
    const { port } = await listening([get('/x')])
    const answer = parseRaw(await sendRaw(port, `${head}Connection: close\r\n\r\n`))
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'invalid_request' } })
  })

  test('is what the absolute target says', async () => {
    const { port } = await listening([get('/x')])
    const head = `GET http://LOCALHOST:${port}/x HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`
    expect(parseRaw(await sendRaw(port, head)).status).toBe(200)
  })
})

describe('loopback', () => {
  test.each(['localhost', '127.0.0.1', '127.1.2.3', '::1', '[::1]', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'])(
    'is %s',
    (host) => {
      expect(isLoopback(host)).toBe(true)
    },
  )
  test.each(['0.0.0.0', '::', '192.168.0.1', 'example.com', '::2', '127.evil', ''])('is not %j', (host) => {
    expect(isLoopback(host)).toBe(false)
  })
})
