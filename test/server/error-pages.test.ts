import { type IncomingHttpHeaders, request as send } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import type { ServerConfig } from '../../src/config/types.ts'
import { AppError } from '../../src/core/error.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

const key = 'a-key-that-opens-the-server'
const navigation = { 'sec-fetch-mode': 'navigate', accept: 'text/html,*/*;q=0.8' }

async function started(config: ServerConfig = {}): Promise<RunningTestServer> {
  const server = await startServer({ sessionStorage: 'memory', vectorDb: { type: 'memory' }, ...config })
  onTestFinished(() => server.close())
  return server
}

interface Page {
  status: number | undefined
  headers: IncomingHttpHeaders
  text: string
}

/** As a browser asks; fetch would say that it is none, and encode the path. */
function browse({ url }: { url: string }, path: string, headers: Record<string, string> = navigation, method = 'GET') {
  return new Promise<Page>((resolve, reject) => {
    const request = send(url, { method, headers, path }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }))
    })
    request.on('error', reject).end()
  })
}

/** Adds routes that fail in ways that are hard to cause. */
function failing({ server }: RunningTestServer): void {
  const fail = (path: string, error: Error) =>
    server.healthRouter(path).route({
      handler() {
        throw error
      },
    })
  fail('/full', new AppError('unavailable', 'The server is at capacity.', { retryAfterSeconds: 12 }))
  fail('/often', new AppError('rate_limited', 'Slow down.', { retryAfterSeconds: 3 }))
  fail('/broken', new TypeError('a secret of the code'))
  fail('/wrong', new AppError('invalid_request', 'Look.', { details: [{ path: '<limit>', message: 'is "x"' }] }))
}

test.each([
  ['/nothing-here', 404, 'route_not_found', 'There is no route'],
  ['/api/v1/runs/run_1', 404, 'run_not_found', 'run_1'],
  ['/api/v1/a2a/sendMessage', 405, 'method_not_allowed', 'does not allow GET'],
  ['/v1/models/none', 404, 'agent_not_found', 'none'],
  ['/full', 503, 'unavailable', 'Wait 12 s'],
  ['/often', 429, 'rate_limited', 'Wait 3 s'],
  ['/broken', 500, 'internal', 'The server could not answer'],
  ['/wrong', 400, 'invalid_request', '<code>&lt;limit&gt;</code>: is &quot;x&quot;'],
])('a browser at %s gets a page with ways out; others get what they always got', async (...row) => {
  const [path, status, code, words] = row
  const server = await started()
  failing(server)
  const page = await browse(server, path)
  expect(page.status).toBe(status)
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(page.headers['cache-control']).toBe('no-store')
  const policy = page.headers['content-security-policy']
  expect(policy).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:; base-uri 'none'; form-action 'none'; frame-anc/,
  )
  for (const text of [`<code>${status}</code>`, `<code>${code}</code>`, words, 'href="/studio"', 'href="/docs"'])
    expect(page.text).toContain(text)
  expect(page.text).not.toMatch(/<script|\son\w+=|secret/)

  const id = { 'x-request-id': 'req_1' }
  const [whole, any] = [
    await server.call('GET', path, undefined, { ...id, accept: '*/*' }),
    await server.call('GET', path, undefined, { ...id, accept: 'text/html', 'sec-fetch-mode': 'cors' }),
  ]
  expect(whole.headers.get('content-type')).toMatch(/^application\/json/)
  expect([any.status, any.text]).toEqual([status, whole.text])
  expect(whole.status).toBe(status)
  for (const name of ['retry-after', 'allow']) expect(page.headers[name] ?? null).toBe(whole.headers.get(name))
})

test('without a key a browser is led to the pages that ask for it', async () => {
  const server = await started({ auth: { keys: [key, { key: 'of-ann-alone-and-short', userId: 'ann' }] } })
  const page = await browse(server, '/api/v1/sessions')
  expect([page.status, page.headers['www-authenticate']]).toEqual([401, 'Bearer'])
  expect(page.text).toContain('The pages below ask for the key.')
  const refused = await browse(server, '/metrics', { ...navigation, 'x-api-key': 'of-ann-alone-and-short' })
  expect(refused.status).toBe(403)
  expect(refused.text).toContain('This is not allowed')
  expect((await server.call('GET', '/api/v1/sessions')).json).toMatchObject({ error: { code: 'unauthorized' } })
})

test('where the studio is off, the page leads to the start page', async () => {
  const { text } = await browse(await started({ studio: false }), '/no')
  expect(text).toContain('href="/"')
  expect(text).not.toContain('studio')
})

test('markup in the address is text', async () => {
  const { text } = await browse(await started(), '/"><img/src=x/onerror=alert(1)><script>alert(2)</script>&amp;')
  expect(text).toContain('There is no route')
  expect(text).toContain('&quot;&gt;&lt;img/src=x/onerror=alert(1)&gt;&lt;script&gt;alert(2)&lt;/script&gt;&amp;amp;')
  expect(text).not.toMatch(/<img|<script/)
})

test('HEAD gets the head of the page alone; a browser without a mode is known by what it accepts', async () => {
  const server = await started()
  const accept = { accept: 'text/html,*/*' }
  const head = await browse(server, '/no', accept, 'HEAD')
  expect(head).toMatchObject({ status: 404, headers: { 'content-type': 'text/html; charset=utf-8' }, text: '' })
  expect((await browse(server, '/no', accept)).text).toContain('<h1>There is nothing here</h1>')
})

test('GET / leads a browser to the studio, or shows it the paths; others get the paths as JSON', async () => {
  const to = async (config: ServerConfig, accept?: string) => {
    const { url } = await started(config)
    const headers: Record<string, string> = accept === undefined ? {} : { accept }
    return fetch(`${url}/`, { headers, redirect: 'manual' })
  }
  const led = await to({}, navigation.accept)
  expect([led.status, led.headers.get('location'), led.headers.get('vary')]).toEqual([302, '/studio', 'Accept'])
  const moved = await to({ studio: { path: '/my%20look/é' } }, navigation.accept)
  expect(moved.headers.get('location')).toBe('/my%20look/%C3%A9')
  for (const config of [{ studio: false }, { address: '0.0.0.0:0', allowUnauthenticated: true }] as const) {
    const page = await to(config, navigation.accept)
    expect(page.status).toBe(200)
    expect(await page.text()).not.toContain('/studio')
  }
  const paths = await to({})
  expect(await paths.json()).toMatchObject({ service: 'agentserve', studio: '/studio', docs: '/docs' })
})
