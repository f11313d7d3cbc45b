import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const said = ['When do you open in winter?', 'Opening hours of the café', 'Is maxRequestSize <b>large</b>?']
const annKey = 'key-of-ann-is-this'

let chromium: TestBrowser
let server: RunningTestServer
let locked: RunningTestServer

beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer()
  for (const input of said) await server.call('POST', '/api/v1/agents/echo/run', { input })
  locked = await startServer({ auth: { keys: ['a-key-for-the-studio', { key: annKey, userId: 'ann' }] } })
  for (const key of ['a-key-for-the-studio', annKey])
    await locked.call('POST', '/api/v1/agents/echo/run', { input: `a word of ${key}` }, { 'x-api-key': key })
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close(), locked?.close()])
})

const open = (path = '/studio/search') => visit(chromium, server.url, path)
const field = (page: Page) => page.getByRole('searchbox')
const marked = (page: Page) => page.locator('mark').allTextContents()

test('messages are found while they are typed, their words are marked, and a result leads to its turn', async () => {
  const { page, ...visited } = await open('/studio')
  await page.getByRole('link', { name: 'Search everything…' }).click()
  await field(page).pressSequentially('OPEN* wint')
  await page.getByText('No message has all the words of “OPEN* wint”.').waitFor()
  await page.keyboard.type('er')
  await page.getByText('2 messages, newest first').waitFor()
  expect(await marked(page)).toEqual(['open', 'winter', 'open', 'winter'])
  expect(new URL(page.url()).search).toBe('?q=OPEN*+winter')
  expect(await lookAt(page)).toEqual([])
  expect(await treeOf(page.getByRole('main'))).toMatchInlineSnapshot(`
    "- main:
      - heading "Search" [level=2]
      - search:
        - text: Words that a message has, in any order.
        - code: open*
        - text: finds words that begin so.
        - searchbox "Words that a message has, in any order. open* finds words that begin so.": OPEN* winter
      - status: 2 messages, newest first
      - list:
        - listitem:
          - link "When do you open in winter? by echo · …":
            - /url: /studio/s/ses_…/r/run_…
            - text: When do you
            - mark: open
            - text: in
            - mark: winter
            - text: "? by echo ·"
            - time: …
        - listitem:
          - link "When do you open in winter? to echo · …":
            - /url: /studio/s/ses_…/r/run_…
            - text: When do you
            - mark: open
            - text: in
            - mark: winter
            - text: "? to echo ·"
            - time: …"
  `)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.locator('.turn.open').getByText('winter').first().waitFor()
  expect(page.url()).toMatch(/\/studio\/s\/ses_\w+\/r\/run_\w+$/)
  await page.goBack()
  await page.getByText('2 messages, newest first').waitFor()
  expect(await field(page).inputValue()).toBe('OPEN* winter')
  expect(await visited.end()).toEqual(nothingWrong)
})

test('accents and parts of identifiers are marked as they are found, and markup is text', async () => {
  const { page, ...visited } = await open('/studio/search?q=cafe')
  await page.getByText('2 messages, newest first').waitFor()
  expect(await marked(page)).toEqual(['café', 'café'])
  await field(page).fill('request large')
  await page.getByText('<b>').first().waitFor()
  expect(await marked(page)).toEqual(['maxRequestSize', 'large', 'maxRequestSize', 'large'])
  expect(await visited.end()).toEqual(nothingWrong)
})

test('nothing found says what was looked for, and one button clears it', async () => {
  const { page, ...visited } = await open('/studio/search?q=zebra')
  await page.getByText('No message has all the words of “zebra”.').waitFor()
  expect(await lookAt(page)).toEqual([])
  expect(await treeOf(page.getByRole('main'))).toMatchInlineSnapshot(`
    "- main:
      - heading "Search" [level=2]
      - search:
        - text: Words that a message has, in any order.
        - code: open*
        - text: finds words that begin so.
        - searchbox "Words that a message has, in any order. open* finds words that begin so.": zebra
      - status: No message has all the words of “zebra”.
      - button "Clear the search""
  `)
  await page.getByRole('button', { name: 'Clear the search' }).click()
  await page.getByText('“zebra”').waitFor({ state: 'detached' })
  expect([await field(page).inputValue(), new URL(page.url()).search]).toEqual(['', ''])
  await expect.poll(() => page.evaluate('document.activeElement.type')).toBe('search')
  expect(await visited.end()).toEqual(nothingWrong)
})

test('while the index is made, the page says so and asks again; a failure is told and can be tried again', async () => {
  const { page, ...visited } = await open()
  let answer: 'indexing' | 'broken' | 'real' = 'indexing'
  await page.route('**/api/v1/messages?*', (route) => {
    if (answer === 'real') return route.continue()
    const [status, code, message] =
      answer === 'indexing'
        ? ([503, 'unavailable', 'The search index is being built. Retry in a moment.'] as const)
        : ([507, 'storage_full', 'The disk is full.'] as const)
    return route.fulfill({
      status,
      headers: { 'retry-after': '1' },
      json: { error: { code, message }, request_id: 'r' },
    })
  })
  await field(page).fill('winter')
  await page.getByText('The search index is being built.').waitFor()
  expect(await lookAt(page)).toEqual([])
  answer = 'broken'
  await page.getByRole('alert').getByText('The disk is full.').waitFor()
  expect(await treeOf(page.getByRole('main'))).toMatchInlineSnapshot(`
    "- main:
      - heading "Search" [level=2]
      - search:
        - text: Words that a message has, in any order.
        - code: open*
        - text: finds words that begin so.
        - searchbox "Words that a message has, in any order. open* finds words that begin so.": winter
      - alert:
        - text: "The messages could not be searched: The disk is full."
        - button "Try again""
  `)
  answer = 'real'
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('2 messages, newest first').waitFor()
  const { errors, ...rest } = await visited.end()
  expect(rest).toEqual({ foreign: [], violations: [] })
  expect(errors.every((error) => /503|507/.test(error))).toBe(true)
})

test('a key of a user finds what belongs to that user', async () => {
  const { page, ...visited } = await visit(chromium, locked.url, '/studio/search?q=word')
  await page.getByLabel('This server asks for an API key.').fill(annKey)
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByText('2 messages, newest first').waitFor()
  expect(await page.getByRole('main').textContent()).not.toContain('a-key-for-the-studio')
  await visited.end()
})

test('older messages are read when they are asked for', async () => {
  const many = await startServer({ sessionStorage: 'memory' })
  try {
    const { json } = await many.call('POST', '/api/v1/sessions', {})
    for (let place = 0; place < 30; place++) {
      const input = { input: `zebra ${place}`, session_id: json.session_id }
      await many.call('POST', '/api/v1/agents/echo/run', input)
    }
    const { page, ...visited } = await visit(chromium, many.url, '/studio/search?q=zebra')
    await page.getByText('50 messages so far').waitFor()
    await page.getByRole('button', { name: 'Search older messages' }).click()
    await page.getByText('60 messages, newest first').waitFor()
    expect(await page.getByRole('listitem').count()).toBe(60)
    expect(await visited.end()).toEqual(nothingWrong)
  } finally {
    await many.close()
  }
})
