import { expect, onTestFinished, test } from 'vitest'
import type { ServerConfig } from '../../src/config/types.ts'
import { startServer } from '../support/server.ts'

async function started(config: ServerConfig = {}) {
  const server = await startServer({ sessionStorage: 'memory', ...config })
  onTestFinished(() => server.close())
  return server
}

test('every address of the studio is its page, which may load nothing from elsewhere', async () => {
  const { call } = await started({ prefix: '/my"api', studio: { path: '/look' } })
  for (const path of ['/look', '/look/s/ses_1/r/run_1/e/3', '/look/whatever']) {
    const { status, headers, text } = await call('GET', path)
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-cache',
    ])
    expect(headers.get('content-security-policy')).toContain("trusted-types 'none'")
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(text).toContain('data-prefix="/my&quot;api"')
    expect(text).not.toMatch(/<script>|<style|style=|onload/)
  }
})

test('its files are kept by browsers for good, and come compressed to those that can read it', async () => {
  const { call } = await started()
  const { text } = await call('GET', '/studio')
  const [, script = ''] = /src="([^"]+\.js)"/.exec(text) ?? []
  const [, style = ''] = /href="([^"]+\.css)"/.exec(text) ?? []
  for (const [path, type] of [
    [script, 'text/javascript; charset=utf-8'],
    [style, 'text/css; charset=utf-8'],
  ] as const) {
    const packed = await call('GET', path, undefined, { 'accept-encoding': 'gzip, br' })
    const plain = await call('GET', path, undefined, { 'accept-encoding': 'br;q=0' })
    expect(packed.headers.get('content-encoding')).toBe('br')
    expect(plain.headers.get('content-encoding')).toBe(null)
    expect(packed.text).toBe(plain.text)
    expect([plain.status, plain.headers.get('content-type')]).toEqual([200, type])
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(plain.headers.get('vary')).toContain('Accept-Encoding')
  }
})

test.each(['manifest.json', 'x.js', '..%2f..%2findex.js', '%2e%2e%2fmanifest.json', 'studio.js.br'])(
  'no other file is sent: %s',
  async (file) => {
    const { call } = await started()
    expect((await call('GET', `/studio/assets/${file}`)).status).toBe(404)
  },
)

test('without keys it is served on this machine only, and not at all when it is off', async () => {
  const status = async (config: ServerConfig) => (await (await started(config)).call('GET', '/studio')).status
  expect(await status({ address: '0.0.0.0:0', allowUnauthenticated: true })).toBe(404)
  expect(await status({ address: '0.0.0.0:0', auth: { keys: ['k'.repeat(32)] } })).toBe(200)
  expect(await status({ studio: false })).toBe(404)
  expect(await status({ studio: true })).toBe(200)
})

test('what a browser loads first has at most 60 KB', async () => {
  const { call } = await started()
  const { text } = await call('GET', '/studio')
  const files = [...text.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)].map(([, path = '']) => path)
  let size = text.length
  for (const path of files) {
    const { headers } = await call('GET', path, undefined, { 'accept-encoding': 'br' })
    size += Number(headers.get('content-length'))
  }
  expect(files).toHaveLength(2)
  expect(size).toBeLessThan(60 * 1024)
})
