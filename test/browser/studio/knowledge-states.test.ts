import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const operator = 'a-key-of-an-operator'
const keys = [
  operator,
  { key: 'key-of-ann-is-this', userId: 'ann' },
  { key: 'key-that-only-runs', userId: 'ben', scopes: ['run' as const] },
]

let chromium: TestBrowser
let off: RunningTestServer
let server: RunningTestServer

beforeAll(async () => {
  chromium = await openBrowser()
  off = await startServer({ vectorDb: undefined })
  server = await startServer({ auth: { keys } })
})
afterAll(async () => {
  await Promise.all([chromium?.close(), off?.close(), server?.close()])
})

async function openWith(key: string, path: string, options = {}) {
  const visited = await visit(chromium, server.url, path, options)
  await visited.page.getByLabel('This server asks for an API key.').fill(key)
  await visited.page.getByRole('button', { name: 'Open' }).click()
  return visited
}

/** Without the answers that a test asks for. */
async function endOf(visited: Awaited<ReturnType<typeof visit>>, status: string) {
  const { errors, ...rest } = await visited.end()
  return { ...rest, errors: errors.filter((error) => !error.includes(status)) }
}

const add = (name: string, content: string) =>
  server.call('POST', '/api/v1/knowledge/content', { name, content, chunk_size: 60 }, { 'x-api-key': operator })

const columns = (page: Page) => page.locator('main')

test('without a knowledge base the page says how to turn it on', async () => {
  const visited = await visit(chromium, off.url, '/studio/knowledge')
  const { page } = visited
  await page.getByRole('heading', { name: 'No knowledge base' }).waitFor()
  expect(await treeOf(columns(page))).toMatchInlineSnapshot(`
    "- main:
      - heading "No knowledge base" [level=2]
      - paragraph:
        - text: Turn it on in
        - code: agent.config.ts
        - text: ", without"
        - code: "server.knowledgeApi: false"
        - text: ":"
      - code: "server: { vectorDb: { type: 'lancedb' } }, knowledge: { sources: ['docs'] },""
  `)
  expect(await lookAt(page)).toEqual([])
  expect(await endOf(visited, '404')).toEqual(nothingWrong)
})

test('an empty one says how to fill it, and what comes is there at once', async () => {
  const visited = await openWith(operator, '/studio/knowledge')
  const { page } = visited
  await page.getByText('No document yet.').waitFor()
  expect(await treeOf(page.getByRole('navigation', { name: 'Documents' }))).toMatchInlineSnapshot(`
    "- navigation "Documents":
      - status:
        - text: No document yet. Add some with
        - code: agentserve ingest ./docs
        - text: .
      - listbox "Documents""
  `)
  expect(await treeOf(page.locator('.library-status'))).toMatchInlineSnapshot(`
    "- text: 0 documents · 0 passages · embedder static docs-en-1
    - status
    - button "Reindex…"
    - alert"
  `)
  expect(await lookAt(page)).toEqual([])
  await add('first.md', '# First\n\nThe lamp burns paraffin.\n\nThe stove burns wood.\n')
  await page.getByRole('option', { name: /first\.md/ }).waitFor()
  await page.getByText('1 document ·').waitFor()
  expect(await endOf(visited, '401')).toEqual(nothingWrong)
})

test('a passage of a replaced document and a search that fails are told; the document stays', async () => {
  const { json } = await add('replaced.md', 'The old text.')
  await add('replaced.md', 'The new text.')
  const visited = await openWith(
    operator,
    `/studio/knowledge/d/${json.document_id}/c/${json.chunk_ids[0]}?q=text&collection=nowhere`,
  )
  const { page } = visited
  await page.getByText(`There is no chunk '${json.chunk_ids[0]}'.`).waitFor()
  await page.getByRole('link', { name: /The new text/ }).waitFor()
  await page
    .getByText(/collection/)
    .first()
    .waitFor()
  expect(await treeOf(columns(page).locator('.found'))).toMatchInlineSnapshot(
    `"- alert: There is no collection 'nowhere'."`,
  )
  expect(await treeOf(page.getByRole('navigation', { name: 'Documents' }).getByRole('status'))).toMatchInlineSnapshot(
    `"- status: "The documents could not be read: There is no collection 'nowhere'.""`,
  )
  expect(await lookAt(page)).toEqual([])
  expect(await endOf(visited, '40')).toEqual(nothingWrong)
})

test('a user searches and reads, and has no button that changes anything', async () => {
  await add('user.md', 'The oven burns gas.')
  const visited = await openWith('key-of-ann-is-this', '/studio/knowledge?q=oven')
  const { page } = visited
  await page.getByRole('button', { name: /user\.md/ }).click()
  await page.getByRole('article').getByText('The oven burns gas.').waitFor()
  expect(await page.getByRole('button', { name: /Reindex|Delete/ }).count()).toBe(0)
  expect(await endOf(visited, '401')).toEqual(nothingWrong)
})

test('a key that may not read the knowledge base has no tab of it, and is told why at its address', async () => {
  const visited = await openWith('key-that-only-runs', '/studio/knowledge')
  const { page } = visited
  await page.getByText('It needs the scope knowledge:read.').waitFor()
  expect(await treeOf(page.getByRole('navigation', { name: 'Pages' }))).toMatchInlineSnapshot(`
    "- navigation "Pages":
      - link "Agents":
        - /url: /studio/agents"
  `)
  expect(visited.paths().filter((path) => path.includes('/knowledge/'))).toEqual([])
  expect(await lookAt(page)).toEqual([])
  await visited.end()
})

test('documents that wait for vectors are counted until they have them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-'))
  let held: Promise<void> | undefined
  const embedder = createServer(async (request, response) => {
    const { input } = JSON.parse((await buffer(request)).toString()) as { input: string[] }
    await held
    const data = input.map((text, index) => ({ index, embedding: [text.length, 1, 2, 3] }))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }))
  })
  await new Promise<void>((resolve) => embedder.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(embedder.address() as AddressInfo).port}/v1`
  const config = {
    vectorDb: { type: 'lancedb', baseUrl: folder },
    embedding: { provider: 'openai', baseUrl, model: 'lengths', apiKey: 'none' },
  } as const
  const before = await startServer(config)
  await before.call('POST', '/api/v1/knowledge/content', { name: 'waits.md', content: 'It waits.' })
  await before.close()
  for (const name of await readdir(folder))
    if (!name.startsWith('knowledge.db')) await rm(join(folder, name), { recursive: true })
  const hold = Promise.withResolvers<void>()
  held = hold.promise
  const after = await startServer(config)
  const { page, ...visited } = await visit(chromium, after.url, '/studio/knowledge')
  await page.getByText('1 document without vectors').waitFor()
  expect(await lookAt(page)).toEqual([])
  hold.resolve()
  await page.getByText('without vectors').waitFor({ state: 'detached' })
  expect(await visited.end()).toEqual(nothingWrong)
  await after.close()
  embedder.close().closeAllConnections()
  await rm(folder, { recursive: true, force: true })
})

test('on the phone the documents, a document and Back follow each other', async () => {
  await add('phone.md', 'A document for the phone.')
  const visited = await openWith(operator, '/studio/knowledge', { viewport: { width: 390, height: 844 } })
  const { page } = visited
  await page.getByRole('option', { name: /phone\.md/ }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'phone.md' }).waitFor()
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('phone.md')
  await page.getByRole('link', { name: /A document for the phone/ }).click()
  await page.getByRole('article').waitFor()
  expect(await page.getByRole('listbox', { name: 'Documents' }).isVisible()).toBe(false)
  await page.getByRole('link', { name: 'Back to the documents' }).click()
  await page.getByRole('searchbox', { name: 'Search the documents' }).fill('phone')
  await page.getByRole('button', { name: 'Search', exact: true }).click()
  await page
    .getByRole('button', { name: /phone\.md/ })
    .first()
    .click()
  await page.getByRole('link', { name: 'Back to the passages' }).click()
  await page.getByRole('link', { name: 'Back to the documents' }).click()
  await page.getByRole('option', { name: /phone\.md/ }).waitFor()
  expect(await endOf(visited, '401')).toEqual(nothingWrong)
})
