import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServerConfig } from '../../../src/config/types.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const ofUser = { 'x-api-key': 'a-key-for-the-studio' }
const keys = ['a-key-for-the-studio', { key: 'key-of-a-reader-only', scopes: ['sessions' as const] }]
const ofDocuments = { key: 'key-for-documents-only', scopes: ['knowledge:read' as const] }
const auth = { keys: [...keys, ofDocuments] }

let chromium: TestBrowser
let server: RunningTestServer
const others: RunningTestServer[] = []

beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer()
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close(), ...others.map((other) => other.close())])
})

async function start(config: ServerConfig): Promise<RunningTestServer> {
  const started = await startServer(config)
  others.push(started)
  return started
}

async function end(started: RunningTestServer): Promise<void> {
  others.splice(others.indexOf(started), 1)
  await started.close()
}

/** Where it was before: as after a restart. */
const again = ({ url }: RunningTestServer, config: ServerConfig = {}) =>
  start({ address: new URL(url).host, ...config })

async function openWith(page: Page, key: string): Promise<void> {
  await page.getByLabel('This server asks for an API key.').fill(key)
  await page.getByRole('button', { name: 'Open' }).click()
}

test('words say that it is read once that takes a while, and an error takes their place', async () => {
  const { page, ...visited } = await visit(chromium, server.url, '/docs')
  const held: Route[] = []
  const broken = { status: 500, json: { error: { code: 'internal', message: 'It broke.' }, request_id: 'req_1' } }
  let isBroken = true
  await page.route('**/api/v1/me', async (route) => {
    if (held.length === 0) held.push(route)
    else await (isBroken ? route.fulfill(broken) : route.continue())
  })
  await page.goto(`${server.url}/studio`)
  await page.getByText('Reading…').waitFor()
  expect(await lookAt(page)).toEqual([])
  await held[0]?.fulfill(broken)
  await page.getByRole('alert').waitFor()
  expect(await lookAt(page)).toEqual([])
  expect(await treeOf(page.getByRole('main'))).toMatchInlineSnapshot(`
    "- main:
      - heading "agentserve studio" [level=1]
      - alert: "The server could not be read: It broke."
      - button "Try again""
  `)
  isBroken = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'New chat' }).waitFor()
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('New chat')
  const { errors, ...rest } = await visited.end()
  expect({ ...rest, errors: errors.filter((error) => !error.includes('500')) }).toEqual(nothingWrong)
})

test('without a server the page says since when, keeps what is typed, and then misses and repeats nothing', async () => {
  const first = await start({})
  const { page, ...visited } = await visit(chromium, first.url, '/studio')
  const row = (name: string) => page.getByRole('option', { name })
  await first.call('POST', '/api/v1/agents/echo/run', { input: 'before' })
  await row('before').waitFor()
  await page.getByLabel('Message to echo').fill('half a thou')
  await end(first)
  await page.getByText(/^reconnecting… what you see is of \d/).waitFor()
  expect(await lookAt(page)).toEqual([])
  expect(
    await treeOf(page.getByRole('banner').getByRole('status').filter({ hasText: 'reconnecting' })),
  ).toMatchInlineSnapshot(`"- status: reconnecting… what you see is of …"`)
  const second = await again(first)
  for (const input of ['meanwhile', 'also']) await second.call('POST', '/api/v1/agents/echo/run', { input })
  await row('meanwhile').waitFor()
  await page.getByText('live', { exact: true }).waitFor()
  await second.call('POST', '/api/v1/agents/echo/run', { input: 'after' })
  await row('after').waitFor()
  const titles = await page.getByRole('option').locator('.title').allTextContents()
  expect(titles).toEqual(['after', 'also', 'meanwhile'])
  expect(await page.getByLabel('Message to echo').inputValue()).toBe('half a thou')
  const { errors, ...rest } = await visited.end()
  expect({ ...rest, errors: errors.filter((error) => !/ERR_(?:CONNECTION|INCOMPLETE|EMPTY)/.test(error)) }).toEqual(
    nothingWrong,
  )
})

test('a server that has no stream to give is quoted, and asked again', async () => {
  const { url } = await start({ sessionStorage: 'memory' })
  const others = new AbortController()
  await Promise.all(Array.from({ length: 5 }, () => fetch(`${url}/api/v1/live`, others)))
  const { page, ...visited } = await visit(chromium, url, '/studio')
  await page.getByText(/^reconnecting.* The server says: .*5 live streams/).waitFor()
  await page.getByRole('heading', { name: 'New chat' }).waitFor()
  expect(await lookAt(page)).toEqual([])
  others.abort()
  await page.getByText('live', { exact: true }).waitFor()
  const { errors, ...rest } = await visited.end()
  expect({ ...rest, errors: errors.filter((error) => !error.includes('429')) }).toEqual(nothingWrong)
})

test('a page of another version offers to load the one that is served, and does not by itself', async () => {
  const { page, ...visited } = await visit(chromium, server.url, '/docs')
  let served = 0
  await page.route('**/studio', async (route) => {
    const response = await route.fetch()
    const html = await response.text()
    await route.fulfill({
      response,
      body: served++ === 0 ? html.replace(/data-version="[^"]*"/, 'data-version="0.0.1"') : html,
    })
  })
  await page.goto(`${server.url}/studio`)
  const banner = page.getByRole('status').filter({ hasText: 'this page is of 0.0.1' })
  await banner.waitFor()
  expect(await lookAt(page)).toEqual([])
  expect((await treeOf(banner)).replace(/version [^,]*/, 'version …')).toMatchInlineSnapshot(`
    "- status:
      - paragraph: The server has version …, this page is of 0.0.1.
      - button "Reload""
  `)
  expect(served).toBe(1)
  await banner.getByRole('button', { name: 'Reload' }).click()
  await banner.waitFor({ state: 'detached' })
  await page.getByText('live', { exact: true }).waitFor()
  expect(served).toBe(2)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('no key and a wrong key are asked for in the same form', async () => {
  const { url } = await start({ auth })
  const { page, ...visited } = await visit(chromium, url, '/studio')
  await page.getByLabel('This server asks for an API key.').waitFor()
  await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('key')
  expect(await page.getByRole('alert').count()).toBe(0)
  expect(await lookAt(page)).toEqual([])
  await openWith(page, 'not-a-key-of-this-server')
  await page.getByRole('alert').filter({ hasText: /key/ }).waitFor()
  expect(await lookAt(page)).toEqual([])
  expect(await treeOf(page.getByRole('main'))).toMatchInlineSnapshot(`
    "- main:
      - heading "agentserve studio" [level=1]
      - text: This server asks for an API key.
      - textbox "This server asks for an API key.": not-a-key-of-this-server
      - checkbox "Keep it until this tab is closed"
      - text: Keep it until this tab is closed
      - button "Open"
      - alert: "The API key is not valid. Send a valid key as 'Authorization: Bearer …' or 'X-API-Key: …'.""
  `)
  await openWith(page, 'a-key-for-the-studio')
  await page.getByRole('heading', { name: 'New chat' }).waitFor()
  expect((await visited.end()).violations).toEqual([])
})

test('a key that is refused while the page is open leaves nothing of what it showed', async () => {
  const first = await start({ auth })
  await first.call('POST', '/api/v1/agents/echo/run', { input: 'a secret question' }, ofUser)
  const { page, ...visited } = await visit(chromium, first.url, '/studio')
  await page.getByRole('checkbox', { name: /Keep it/ }).check()
  await openWith(page, 'a-key-for-the-studio')
  await page.getByRole('option', { name: 'a secret question' }).click()
  await page.getByRole('article').waitFor()
  expect(await page.title()).toContain('secret')
  await end(first)
  await again(first, { auth: { keys: ['another-key-for-the-studio'] } })
  await page.getByRole('alert').filter({ hasText: 'does not take this key any more' }).waitFor()
  expect(await lookAt(page)).toEqual([])
  const left = await page.evaluate(
    'document.documentElement.outerHTML + document.title + JSON.stringify(sessionStorage)',
  )
  expect(left).not.toMatch(/secret|a-key-for/)
  await openWith(page, 'another-key-for-the-studio')
  await page
    .getByRole('heading', { name: /^New chat$|^Nothing/ })
    .or(page.getByText(/not found|no session/i))
    .first()
    .waitFor()
  expect((await visited.end()).violations).toEqual([])
})

test('what a key may not do is not there', async () => {
  const { url, call } = await start({ auth })
  await call('POST', '/api/v1/agents/echo/run', { input: 'hello' }, ofUser)
  const reader = await visit(chromium, url, '/studio')
  await openWith(reader.page, 'key-of-a-reader-only')
  await reader.page.getByRole('option', { name: 'hello' }).waitFor()
  expect(await lookAt(reader.page)).toEqual([])
  expect(await treeOf(reader.page.getByRole('main'))).toMatchInlineSnapshot(`
    "- main:
      - heading "Sessions" [level=2]
      - paragraph: Choose one in the list. This key may look at runs, and start none."
  `)
  await reader.end()
  const other = await visit(chromium, url, '/studio')
  await openWith(other.page, ofDocuments.key)
  await other.page.getByRole('heading', { name: 'This key may not see this page' }).waitFor()
  expect(await lookAt(other.page)).toEqual([])
  expect(await other.page.getByRole('link', { name: /Chats|Search|waiting/ }).count()).toBe(0)
  const refused = other.urls.filter((asked) => /\/(?:sessions|live|messages|runs)\b/.test(new URL(asked).pathname))
  expect(refused).toEqual([])
  await other.end()
})
