import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { agent } from '../../src/runnables/agent/agent.ts'
import { openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { lookAt, treeOf } from '../support/browser/look.ts'
import { nothingWrong, visit as visitPage } from '../support/browser/visit.ts'
import { audience, openIssuer } from '../support/issuer.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

const key = 'a-key-for-the-documentation'
let chromium: TestBrowser
let open: RunningTestServer
let locked: RunningTestServer
/** Without a studio. */
let bare: RunningTestServer

beforeAll(async () => {
  chromium = await openBrowser()
  const fails = agent({
    run() {
      throw new Error('no')
    },
  })
  open = await startServer({}, { fails })
  locked = await startServer({ auth: { keys: [key] } })
  bare = await startServer({ studio: false, sessionStorage: 'memory', vectorDb: { type: 'memory' } })
})

afterAll(async () => {
  await Promise.all([chromium?.close(), open?.close(), locked?.close(), bare?.close()])
})

test('the documentation lists every operation of the document', async () => {
  const visit = await visitDocs(open)
  await visit.page.locator('.opblock').first().waitFor()
  expect(await visit.page.locator('.opblock').count()).toBe(await countOperations(open))
  expect(await visit.end()).toEqual(nothingWrong)
})

test('"try it out" runs an agent and shows its answer', async () => {
  const visit = await visitDocs(open)
  expect(await runEcho(visit.page, 'words from the browser')).toMatchObject({
    status: 'completed',
    content: 'words from the browser',
  })
  expect(visit.paths()).toContain('/api/v1/agents/echo/run')
  expect(await visit.end()).toEqual(nothingWrong)
})

test('begins with an agent that runs as it is, and leads to its run in the studio', async () => {
  const { page, ...visit } = await visitDocs(open)
  const form = page.getByRole('region', { name: 'Run an agent' })
  await form.waitFor()
  expect(await treeOf(form)).toMatchInlineSnapshot(`
    "- region "Run an agent":
      - heading "Run an agent" [level=2]
      - text: Agent
      - combobox "Agent":
        - option "echo" [selected]
        - option "docs"
        - option "fails"
      - text: Message
      - textbox "Message": What can you do?
      - button "Run"
      - status
      - group: The same in a terminal"
  `)
  await form.getByText('The same in a terminal').click()
  expect(await form.locator('pre').textContent()).toBe(
    `curl '${open.url}/api/v1/agents/echo/run' \\\n  -H 'Content-Type: application/json' \\\n  -d '{"input":"What can you do?"}'`,
  )
  await form.getByRole('button', { name: 'Run' }).click()
  await form.getByText('completed').waitFor()
  expect(await form.locator('#run-answer').textContent()).toBe('What can you do?')
  expect(swagger(await lookAt(page))).toEqual([])

  await form.getByLabel('Agent').selectOption('fails')
  await form.getByLabel('Message').fill("it's <b>me</b>")
  expect(await form.locator('pre').textContent()).toContain(`-d '{"input":"it'\\''s <b>me</b>"}'`)
  await form.getByRole('button', { name: 'Run' }).click()
  await form.getByText('run_failed: The agent threw an error').waitFor()
  expect(await form.locator('#run-answer').isVisible()).toBe(false)
  await form.getByRole('link', { name: /in the studio/ }).click()
  await page.getByText('run_failed').first().waitFor()
  const { errors, ...rest } = await visit.end()
  expect({ ...rest, errors }).toEqual({ ...nothingWrong, errors: [expect.stringContaining('500')] })
})

test('is dark where the system is, Swagger UI too, also when that changes', async () => {
  const visit = await visitPage(chromium, open.url, '/docs', { colorScheme: 'dark' })
  const { page } = visit
  await page.locator('.opblock').first().waitFor()
  const colours = () =>
    page.evaluate(
      `[document.body, document.querySelector('.swagger-ui')].map((part) => getComputedStyle(part).backgroundColor)`,
    )
  expect(await colours()).toEqual(['rgb(28, 32, 34)', 'rgb(28, 32, 34)'])
  await page.emulateMedia({ colorScheme: 'light' })
  await expect.poll(colours).toEqual(['rgb(255, 255, 255)', expect.not.stringContaining('28')])
  expect(await visit.end()).toEqual(nothingWrong)
})

test('with keys, the page asks for one, says when it is wrong and works with the right one', async () => {
  const visit = await visitDocs(locked)
  const { page } = visit
  await page.locator('#key').waitFor()
  expect(await page.locator('#key-refused').isVisible()).toBe(false)
  expect(await page.locator('.opblock').count()).toBe(0)

  await page.locator('#key-value').fill('not-the-key')
  await page.locator('#key button').click()
  await page.locator('#key-refused').waitFor()
  expect(await page.locator('.opblock').count()).toBe(0)

  await page.locator('#key-value').fill(key)
  await page.locator('#key button').click()
  await page.locator('.opblock').first().waitFor()
  expect(await page.locator('#key').isVisible()).toBe(false)
  expect(await page.locator('.opblock').count()).toBe(await countOperations(locked, key))
  expect(await runEcho(page, 'with a key')).toMatchObject({ content: 'with a key' })
  await page.locator('#run button').click()
  await page.locator('#run-answer').getByText('What can you do?').waitFor()
  expect(await page.locator('#run-curl').textContent()).toContain('-H "Authorization: Bearer $AGENTSERVE_KEY"')

  expect(visit.urls.join(' ') + (await page.evaluate('document.cookie + JSON.stringify(localStorage)'))).not.toContain(
    key,
  )
  const { errors, ...rest } = await visit.end()
  const refused = expect.stringContaining('401')
  expect({ ...rest, errors }).toEqual({ ...nothingWrong, errors: [refused, refused] })
})

test('with tokens, the page asks for one and works with it', async () => {
  const issuer = await openIssuer()
  onTestFinished(() => issuer.stop())
  const server = await startServer({ auth: { jwt: { issuer: issuer.url, audience } } })
  onTestFinished(() => server.close())
  const { page } = await visitDocs(server)
  await page.getByLabel('This server asks for a token.').fill(await issuer.sign())
  await page.locator('#key button').click()
  await page.locator('.opblock').first().waitFor()
  await page.locator('#run button').click()
  await page.locator('#run-answer').getByText('What can you do?').waitFor()
})

test('the address of the server leads to the studio, and where it is off to the places of the server', async () => {
  const led = await visitDocs(open, '/')
  await led.page.getByRole('heading', { name: 'New chat' }).waitFor()
  expect(led.paths().slice(0, 2)).toEqual(['/', '/studio'])
  expect(await led.end()).toEqual(nothingWrong)

  const visit = await visitDocs(bare, '/')
  expect(await lookAt(visit.page)).toEqual([])
  await visit.page.locator('a[href="/docs"]').click()
  await visit.page.locator('.opblock').first().waitFor()
  expect(await visit.end()).toEqual(nothingWrong)
})

test('an address without anything is a page with ways out, in any light', async () => {
  const { page, ...visit } = await visitDocs(open, `/${'far/'.repeat(60)}<script>alert(1)</script>`)
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('There is nothing here')
  expect(await page.getByRole('main').textContent()).toContain('/%3Cscript%3Ealert(1)%3C/script%3E')
  expect(await lookAt(page)).toEqual([])
  await page.getByRole('link', { name: 'Documentation' }).click()
  await page.locator('.opblock').first().waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'Studio' }).click()
  await page.getByRole('heading', { name: 'New chat' }).waitFor()
  const { errors, ...rest } = await visit.end()
  const missing = expect.stringContaining('404')
  expect({ ...rest, errors }).toEqual({ ...nothingWrong, errors: [missing, missing] })
})

test('a visit tells of a violated policy, of a console error and of a request that leaves the origin', async () => {
  const visit = await visitDocs(open)
  await visit.page.evaluate(`new Promise((violated) => {
    document.addEventListener('securitypolicyviolation', violated, { once: true })
    const script = document.createElement('script')
    script.src = 'http://127.0.0.1:1/foreign.js'
    document.body.append(script)
  })`)
  const wrong = await visit.end()
  expect(wrong.violations).toEqual(['script-src-elem http://127.0.0.1:1/foreign.js'])
  expect(wrong.foreign).toEqual(['http://127.0.0.1:1/foreign.js'])
  expect(wrong.errors).not.toEqual([])
})

/** Without the one rule that Swagger UI breaks by its build: the button that opens an operation holds links and buttons. */
const swagger = (wrong: string[]) => wrong.filter((what) => !what.includes(': nested-interactive: '))

const visitDocs = (server: RunningTestServer, path = '/docs') => visitPage(chromium, server.url, path)

async function countOperations(server: RunningTestServer, apiKey?: string): Promise<number> {
  const headers: Record<string, string> = apiKey === undefined ? {} : { 'X-API-Key': apiKey }
  const { json } = await server.call('GET', '/openapi.json', undefined, headers)
  return Object.values<object>(json.paths).flatMap((path) => Object.keys(path)).length
}

async function runEcho(page: Page, input: string): Promise<unknown> {
  const operation = page.locator('#operations-Agents-runAgent')
  await operation.locator('.opblock-summary-control').click()
  await operation.getByPlaceholder('id', { exact: true }).fill('echo')
  await operation.locator('textarea.body-param__text').fill(JSON.stringify({ input }))
  await operation.getByRole('button', { name: 'Execute' }).click()
  const live = operation.locator('.live-responses-table')
  await live.waitFor()
  const answer = await live.locator('.response-col_description .highlight-code code').first().textContent()
  return JSON.parse(answer ?? '')
}
