import { expect, onTestFinished, test } from 'vitest'
import { studioLink } from '../../../src/cli/connect/studio-link.ts'
import { createClient } from '../../../src/client/create.ts'
import { startServer } from '../../support/server.ts'

const { signal } = new AbortController()

/** The link that a server leads to, whose answers `fetch` gives. */
const linkOf = (answer: () => Response, url = 'http://127.0.0.1:8080/below/') =>
  studioLink(createClient({ url, fetch: async () => answer() }), url, { sessionId: 'a/b', runId: 'run_1' }, signal)

test('leads to a run or a session, below the address of the server', async () => {
  expect(await linkOf(() => Response.json({ studio: '/look' }))).toBe(
    'http://127.0.0.1:8080/below/look/s/a%2Fb/r/run_1',
  )
  const { url, close } = await startServer({ sessionStorage: 'memory', vectorDb: { type: 'memory' } })
  onTestFinished(close)
  expect(await studioLink(createClient({ url }), url, { sessionId: 's' }, signal)).toBe(`${url}/studio/s/s`)
})

test.each([
  ['it serves no studio', () => Response.json({ docs: '/docs' })],
  [
    'it has no list of its paths',
    () => Response.json({ error: { code: 'route_not_found', message: 'no' } }, { status: 404 }),
  ],
  ['it is another kind of server', () => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } })],
  ['its path is none', () => Response.json({ studio: 'https://elsewhere.example/' })],
  ['its path has what no address has', () => Response.json({ studio: '/a b\u001b[2J' })],
])('there is no link where %s', async (_why, answer) => {
  expect(await linkOf(answer)).toBe(undefined)
})

test('there is no link without a running server', async () => {
  const client = createClient({ url: 'http://127.0.0.1:1', fetch: () => Promise.reject(new Error('asked')) })
  expect(await studioLink(client, undefined, { sessionId: 's' }, signal)).toBe(undefined)
})
