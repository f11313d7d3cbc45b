import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { heldAgent } from '../../support/browser/held.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer
const slow = heldAgent('One. ', 'Two.')
beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      cached: agent({ run: () => 'Only once.', cache: { ttl: '10m' } }),
      breaks: agent({
        async *run() {
          yield 'So far so good. '
          throw new Error('The printer is on fire.')
        },
      }),
      report: workflow({ run: async ({ step }) => step('count', () => 'Counted again.') }),
      slow: slow.held,
    },
  )
})
beforeEach(() => {
  slow.release()
})
afterAll(async () => {
  slow.release()
  await Promise.all([chromium?.close(), server?.close()])
})

async function open(agentId: string, input: string, background = false) {
  const { json } = await server.call('POST', `/api/v1/agents/${agentId}/run`, { input, background })
  const sessionId = json.session_id as string
  const visited = await visit(chromium, server.url, `/studio/s/${sessionId}`)
  const turn = visited.page.getByRole('article').last()
  await turn.waitFor()
  return { ...visited, turn, sessionId, runId: json.run_id as string }
}
const isReady = (page: Page) => page.locator('main [aria-busy="false"]').waitFor()

test('a turn that is written has a caret and Stop; one behind it waits; stopped it says why', async () => {
  const { page, turn, sessionId, ...visited } = await open('slow', 'first', true)
  await page.getByText('One.').waitFor()
  expect(await page.locator('.caret').count()).toBe(1)
  expect(await treeOf(turn)).toMatchInlineSnapshot(`
    "- article "first":
      - heading "You" [level=3]
      - time: …
      - paragraph: first
      - heading "slow" [level=3]
      - time: …
      - paragraph: One.
      - button "Stop"
      - button "running""
  `)
  for (const text of ['second', 'third']) {
    await page.getByLabel('Message to slow').fill(text)
    await page.keyboard.press('Control+Enter')
    await page.getByRole('article', { name: text }).waitFor()
  }
  await page.getByText('Queued: it waits for 1 run before it.').waitFor()
  await page.getByText('Queued: it waits for 2 runs before it.').waitFor()
  expect(await treeOf(turn)).toMatchInlineSnapshot(`
    "- article "third":
      - heading "You" [level=3]
      - time: …
      - paragraph: third
      - heading "slow" [level=3]
      - time: …
      - paragraph: "Queued: it waits for 2 runs before it."
      - button "Stop"
      - button "queued""
  `)
  expect(await lookAt(page)).toEqual([])
  await turn.getByRole('button', { name: 'Stop' }).click()
  await turn.getByText('Cancelled: requested').waitFor()
  await page.getByRole('article', { name: 'second' }).getByRole('button', { name: 'Stop' }).click()
  slow.release()
  await page.getByText('One. Two.').waitFor()
  await expect.poll(() => page.locator('.caret').count()).toBe(0)
  expect((await server.call('GET', `/api/v1/sessions/${sessionId}`)).json.run_count).toBe(3)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a failed turn keeps what was said, and leads to what failed', async () => {
  const { page, turn, ...visited } = await open('breaks', 'print', true)
  await turn.getByRole('link', { name: 'The step that failed' }).waitFor()
  expect(await treeOf(turn)).toMatchInlineSnapshot(`
    "- article "print":
      - heading "You" [level=3]
      - time: …
      - paragraph: print
      - heading "breaks" [level=3]
      - time: …
      - paragraph: So far so good.
      - paragraph:
        - text: The agent threw an error (Error). The server's log has the details.
        - code: run_failed
        - link "The step that failed":
          - /url: /studio/s/ses_…/r/run_…/e/3
      - button "failed … s""
  `)
  expect(await lookAt(page)).toEqual([])
  await turn.getByRole('link', { name: 'The step that failed' }).click()
  await page.waitForURL(/\/e\/\d+/)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('an answer from the cache says so', async () => {
  await server.call('POST', '/api/v1/agents/cached/run', { input: 'hi' })
  const { page, turn, ...visited } = await open('cached', 'hi')
  expect(await treeOf(turn)).toMatchInlineSnapshot(`
    "- article "hi":
      - heading "You" [level=3]
      - time: …
      - paragraph: hi
      - heading "cached" [level=3]
      - time: …
      - text: from the cache
      - paragraph: Only once.
      - button "completed … s""
  `)
  expect(await lookAt(page)).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a process that ended is told, and a workflow goes on from there', async () => {
  const { json } = await server.call('POST', '/api/v1/agents/report/run', { input: '{}' })
  const whole = await server.call('GET', `/api/v1/sessions/${json.session_id}/export`)
  const lines = whole.text
    .trim()
    .split('\n')
    .map((line) => interrupt(JSON.parse(line)))
  const text = `${lines.flatMap((line) => (line === undefined ? [] : [JSON.stringify(line)])).join('\n')}\n`
  const imported = await server.call('POST', '/api/v1/sessions/import?new_ids=true', text, {
    'content-type': 'application/x-ndjson',
  })
  expect(imported.status, imported.text).toBe(201)
  const { page, ...visited } = await visit(chromium, server.url, `/studio/s/${imported.json.session_id}`)
  const turn = page.getByRole('article')
  await turn.getByText('The process ended here. The last moments of the text may be missing.').waitFor()
  expect(await treeOf(turn)).toMatchInlineSnapshot(`
    "- 'article "{}"':
      - heading "You" [level=3]
      - time: …
      - paragraph: "{}"
      - heading "report" [level=3]
      - time: …
      - paragraph: Counted again.
      - paragraph: The process ended here. The last moments of the text may be missing.
      - button "Resume"
      - button "interrupted … s""
  `)
  expect(await lookAt(page)).toEqual([])
  await turn.getByRole('button', { name: 'Resume' }).click()
  await turn.getByText('Counted again.').waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})

/** The session as if its process had died before the end. */
// biome-ignore lint/suspicious/noExplicitAny: lines of an export
function interrupt(line: any): unknown {
  if (line.run === undefined && line.status === undefined) return line
  const run = line.run ?? line
  Object.assign(run, { status: 'interrupted', truncated: true })
  run.messages = run.messages?.filter(({ role }: { role: string }) => role === 'user')
  return line
}

test('a session has a name, a link, an export, and can be deleted, which other windows are told', async () => {
  const { page, sessionId, ...visited } = await open('echo', 'opening hours in winter')
  await page.getByRole('heading', { name: 'opening hours in winter' }).waitFor()
  await page.getByRole('button', { name: 'Session…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Session' })
  await dialog.getByText('No files.').waitFor()
  expect(await treeOf(dialog)).toMatchInlineSnapshot(`
    "- dialog "Session":
      - heading "Session" [level=2]
      - button "Close"
      - text: Name
      - textbox "Name":
        - /placeholder: the first message stands for it
      - button "Save"
      - paragraph:
        - text: ses_…
        - button "Copy the session id": copy
      - paragraph:
        - link "Link to the session":
          - /url: /studio/s/ses_…
        - button "Copy the link": copy
      - button "Export"
      - status
      - alert
      - region "Files":
        - paragraph: No files.
        - list
      - button "Delete…"
      - alert"
  `)
  expect(await lookAt(page)).toEqual([])
  await dialog.getByLabel('Name').fill('Winter')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Saved.').waitFor()
  const saved = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Export' }).click()
  expect((await saved).suggestedFilename()).toBe(`${sessionId}.jsonl`)
  await dialog.getByRole('button', { name: 'Delete…' }).click()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('heading', { name: 'Winter' }).waitFor()
  const other = await visit(chromium, server.url, `/studio/s/${sessionId}`)
  await other.page.getByRole('heading', { name: 'Winter' }).waitFor()
  await page.getByRole('button', { name: 'Session…' }).click()
  await dialog.getByRole('button', { name: 'Delete…' }).click()
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  for (const one of [page, other.page]) {
    await one.getByText('This session has been deleted.').waitFor()
    expect(await one.getByRole('button', { name: 'Session…' }).count()).toBe(0)
    expect(await one.getByRole('textbox').count()).toBe(0)
  }
  expect(await lookAt(page)).toEqual([])
  expect([await visited.end(), await other.end()]).toEqual([nothingWrong, nothingWrong])
})

test('what is not found, and what could not be read, is said in words', async () => {
  const { page, ...visited } = await visit(chromium, server.url, '/studio/s/ses_nowhere')
  await page.getByRole('heading', { name: 'Session not found' }).waitFor()
  expect(await treeOf(page.getByRole('region', { name: 'Conversation' }))).toMatchInlineSnapshot(`
    "- region "Conversation":
      - heading "Session not found" [level=2]
      - alert: There is none with this id, or it belongs to somebody else.
      - link "All sessions":
        - /url: /studio"
  `)
  expect(await lookAt(page)).toEqual([])
  const { json } = await server.call('POST', '/api/v1/agents/echo/run', { input: 'here' })
  await page.route('**/history?*', (route) => route.fulfill({ status: 500, json: { error: 'no' } }))
  await page.goto(`${server.url}/studio/s/${json.session_id}`)
  await page.getByText(/^The session could not be read/).waitFor()
  expect(await lookAt(page)).toEqual([])
  await page.unroute('**/history?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('article', { name: 'here' }).waitFor()
  const { errors, ...rest } = await visited.end()
  expect({ ...rest, errors: errors.filter((error) => !/404|500/.test(error)) }).toEqual(nothingWrong)
})

test('addresses that lead nowhere say so, and what to do', async () => {
  const { page, ...visited } = await visit(chromium, server.url, '/studio/nowhere')
  await page.getByRole('heading', { name: 'Nothing here' }).waitFor()
  expect(await treeOf(page.getByRole('main'))).toMatchInlineSnapshot(`
    "- main:
      - heading "Nothing here" [level=2]
      - link "All sessions":
        - /url: /studio"
  `)
  expect(await lookAt(page)).toEqual([])
  await page.goto(`${server.url}/studio/r/run_nowhere`)
  await page.getByRole('heading', { name: 'Nothing here' }).waitFor()
  await page
    .getByText(/run_nowhere/)
    .first()
    .waitFor()
  expect(await treeOf(page.getByRole('main'))).toMatchInlineSnapshot(`
    "- main:
      - heading "Nothing here" [level=2]
      - alert: There is no run 'run_nowhere'.
      - link "All sessions":
        - /url: /studio"
  `)
  expect(await lookAt(page)).toEqual([])
  const { errors, ...rest } = await visited.end()
  expect({ ...rest, errors: errors.filter((error) => !error.includes('404')) }).toEqual(nothingWrong)
})

test('a draft is kept for each session, a failed message stays, and another agent can be asked', async () => {
  const { page, sessionId, ...visited } = await open('echo', 'hello')
  await isReady(page)
  const field = page.getByLabel('Message to echo')
  await field.fill('a draft')
  await page.getByRole('button', { name: 'New chat' }).click()
  await page.getByRole('heading', { name: 'New chat' }).waitFor()
  await page.goto(`${server.url}/studio/s/${sessionId}`)
  await expect.poll(() => field.inputValue()).toBe('a draft')
  await page.route('**/run', (route) => route.fulfill({ status: 503, json: {} }))
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.locator('.composer [role=alert]:not(:empty)').waitFor()
  expect(await field.inputValue()).toBe('a draft')
  expect(await lookAt(page)).toEqual([])
  await page.unroute('**/run')
  await page.getByLabel('Who is asked').selectOption('cached')
  await page.getByLabel('Message to cached').press('Control+Enter')
  await page.getByText('Only once.').waitFor()
  expect(await page.getByLabel('Message to cached').inputValue()).toBe('')
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('a draft')
  const { errors, ...rest } = await visited.end()
  expect({ ...rest, errors: errors.filter((error) => !error.includes('503')) }).toEqual(nothingWrong)
})
