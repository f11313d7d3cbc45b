import { tool } from 'ai'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const phone = { viewport: { width: 390, height: 844 } }
const annKey = { 'x-api-key': 'key-of-ann-is-this' }
const operatorKey = { 'x-api-key': 'a-key-for-the-studio' }

let chromium: TestBrowser
let server: RunningTestServer
let locked: RunningTestServer

beforeAll(async () => {
  chromium = await openBrowser()
  const refunds = agent({
    model: scriptedModel(({ prompt }) =>
      prompt.at(-1)?.role === 'tool' ? 'Done.' : { tool_calls: [{ name: 'refund', input: { order: 4711 } }] },
    ),
    tools: { refund: tool({ inputSchema: z.object({ order: z.number() }), execute: () => 'done' }) },
    toolApproval: { refund: 'user-approval' },
  })
  const endless = agent({
    async *run({ signal }) {
      yield 'one '
      await new Promise((_, stop) => signal.addEventListener('abort', () => stop(signal.reason)))
    },
  })
  server = await startServer({}, { refunds, endless })
  locked = await startServer(
    { auth: { keys: ['a-key-for-the-studio', { key: 'key-of-ann-is-this', userId: 'ann' }] } },
    { refunds },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close(), locked?.close()])
})

const open = (path = '/studio', options = {}) => visit(chromium, server.url, path, options)
const title = (page: Page) => () => page.title()
/** What has the focus: its role or element, and its name or text. */
const focused = (page: Page) => () =>
  page.evaluate(`(({ activeElement: { id, localName, ariaLabel, textContent } }) =>
    [localName, id || ariaLabel || textContent.trim().slice(0, 40)].join(' '))(document)`)

const isInConversation = (page: Page) => () =>
  page.evaluate("document.querySelector('#conversation').contains(document.activeElement)")

async function refund({ call }: RunningTestServer, headers = {}): Promise<{ run_id: string; session_id: string }> {
  const { json } = await call('POST', '/api/v1/agents/refunds/run', { input: 'refund order 4711' }, headers)
  return json
}

/** The run's one question is answered: the tool may run. */
async function allow({ call }: RunningTestServer, runId: string): Promise<void> {
  const { json } = await call('GET', `/api/v1/runs/${runId}`)
  const answers = Object.fromEntries(
    json.waiting.map(({ call_id }: { call_id: string }) => [call_id, { approved: true }]),
  )
  expect(await call('POST', `/api/v1/runs/${runId}/resume`, { answers })).toMatchObject({ status: 200 })
}

test('the number of runs that wait is told while it changes, and leads to them', async () => {
  const { page, ...visited } = await open()
  await page.getByText('live', { exact: true }).waitFor()
  expect(await page.getByRole('link', { name: /waiting/ }).count()).toBe(0)
  const one = await refund(server)
  const other = await refund(server)
  await page.getByRole('link', { name: '2 waiting' }).waitFor()
  await expect.poll(title(page)).toBe('(2) agentserve studio')
  expect(await lookAt(page)).toEqual([])
  expect(await treeOf(page.getByRole('banner'))).toMatchInlineSnapshot(`
    "- banner:
      - heading "agentserve" [level=1]:
        - link "agentserve":
          - /url: /studio
      - navigation "Pages":
        - link "Chats":
          - /url: /studio
        - link "Knowledge":
          - /url: /studio/knowledge
        - link "Agents":
          - /url: /studio/agents
      - link "Search everything…":
        - /url: /studio/search
      - status:
        - link "2 waiting":
          - /url: /studio?status=input_required
      - status: live
      - link "API":
        - /url: /docs
      - text: Colours
      - combobox "Colours":
        - option "system" [selected]
        - option "light"
        - option "dark"
      - button "Keys (?)": "?""
  `)
  await page.getByRole('link', { name: '2 waiting' }).click()
  expect(new URL(page.url()).search).toBe('?status=input_required')
  await allow(server, one.run_id)
  await page.getByRole('link', { name: '1 waiting' }).waitFor()
  await page.reload()
  await page.getByRole('link', { name: '1 waiting' }).waitFor()
  await server.call('DELETE', `/api/v1/sessions/${other.session_id}`)
  await page.getByRole('link', { name: /waiting/ }).waitFor({ state: 'detached' })
  await expect.poll(title(page)).toBe('agentserve studio')
  expect(await visited.end()).toEqual(nothingWrong)
})

test("a user's key counts what waits for that user", async () => {
  const { page, ...visited } = await visit(chromium, locked.url, '/studio')
  await refund(locked, operatorKey)
  await refund(locked, annKey)
  await page.getByLabel('This server asks for an API key.').fill('key-of-ann-is-this')
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByRole('link', { name: '1 waiting' }).waitFor()
  await refund(locked, operatorKey)
  await refund(locked, annKey)
  await page.getByRole('link', { name: '2 waiting' }).waitFor()
  await visited.end()
})

test('colours are those of the system, or as a person chose them, also after a visit', async () => {
  const { page, ...visited } = await open('/studio', { colorScheme: 'light' })
  const back = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
  const choose = (theme: string) => page.getByLabel('Colours').selectOption(theme)
  const [light, dark] = ['rgb(255, 255, 255)', 'rgb(22, 22, 26)']
  await page.getByLabel('Colours').waitFor()
  expect(await back()).toBe(light)
  await choose('dark')
  expect(await back()).toBe(dark)
  await page.reload()
  await page.getByLabel('Colours').waitFor()
  expect([await back(), await page.getByLabel('Colours').inputValue()]).toEqual([dark, 'dark'])
  expect(await page.evaluate('JSON.stringify(localStorage)')).toBe('{"agentserve.theme":"dark"}')
  await choose('system')
  expect(await back()).toBe(light)
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await back()).toBe(dark)
  await choose('light')
  expect(await back()).toBe(light)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('keys lead between columns and places; the focus and the title go along', async () => {
  const { json } = await server.call('POST', '/api/v1/agents/echo/run', { input: 'When do you open in winter?' })
  const { page, ...visited } = await open(`/studio/s/${json.session_id}/r/${json.run_id}`)
  await page.getByRole('row', { name: /^run/ }).waitFor()
  await expect.poll(title(page)).toBe(`run …${json.run_id.slice(-3)} · When do you open in winter? · agentserve studio`)
  await page.getByRole('option', { name: /winter/ }).focus()
  await page.keyboard.press('l')
  expect(await isInConversation(page)()).toBe(true)
  await page.keyboard.press('l')
  expect(await focused(page)()).toMatch(/^div run/)
  await page.keyboard.press('l')
  expect(await focused(page)()).toMatch(/^div run/)
  await page.keyboard.press('Escape')
  await expect.poll(isInConversation(page)).toBe(true)
  await expect.poll(title(page)).toBe('When do you open in winter? · agentserve studio')
  await page.keyboard.press('h')
  expect(await focused(page)()).toMatch(/^div When do you open/)
  await page.keyboard.press('/')
  await expect.poll(focused(page)).toBe('input ')
  await expect.poll(title(page)).toBe('Search · agentserve studio')
  await page.keyboard.press('Escape')
  await page.getByRole('article').waitFor()
  await expect.poll(isInConversation(page)).toBe(true)
  await page.keyboard.press('n')
  await page.getByRole('heading', { name: 'New chat' }).waitFor()
  await expect.poll(focused(page)).toBe('textarea ')
  expect(visited.urls.filter((url) => url.startsWith(`${server.url}/studio/s/`))).toHaveLength(1)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('Escape twice stops the run, which the page says after the first', async () => {
  const { json } = await server.call('POST', '/api/v1/agents/endless/run', { input: 'go', background: true })
  const { page, ...visited } = await open(`/studio/s/${json.session_id}/r/${json.run_id}`)
  await page.getByText('one').first().waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('Press Escape once more to stop the run.').waitFor()
  expect(await page.getByRole('region', { name: /^Run/ }).count()).toBe(0)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /cancelled/ }).waitFor()
  await page.keyboard.press('Escape')
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  expect(await page.getByText('Press Escape').count()).toBe(0)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('on a phone one column is shown at a time, tabs are at the bottom, and Back leads back', async () => {
  const { json } = await server.call('POST', '/api/v1/agents/echo/run', { input: 'hello from a phone' })
  const { page, ...visited } = await open('/studio', phone)
  await page.getByRole('option', { name: /hello from a phone/ }).click()
  await page.getByRole('article').waitFor()
  expect(await page.getByRole('navigation', { name: 'Sessions' }).isVisible()).toBe(false)
  await expect.poll(isInConversation(page)).toBe(true)
  await page.goto(`${server.url}/studio/s/${json.session_id}/r/${json.run_id}`)
  await page.getByRole('row', { name: /^run/ }).waitFor()
  expect(await page.getByRole('main').isVisible()).toBe(false)
  await page.getByRole('link', { name: 'Chats' }).click()
  await page.getByRole('option', { name: /hello from a phone/ }).waitFor()
  await page.getByRole('button', { name: 'New chat' }).click()
  await page.getByRole('textbox', { name: 'Message to echo' }).waitFor()
  expect(await lookAt(page)).toEqual([])
  await page.goBack()
  await page.getByRole('button', { name: 'New chat' }).waitFor()
  const box = await page.getByRole('navigation', { name: 'Pages' }).boundingBox()
  expect([box?.x, (box?.y ?? 0) + (box?.height ?? 0)]).toEqual([0, 844])
  expect(await visited.end()).toEqual(nothingWrong)
})
