import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const hours =
  '# Hours\n\n## Winter\n\nFrom November to March the office opens at nine.\n\n## Summer\n\nIn summer it opens at eight.\n'
const hostile =
  '<img src=x onerror="alert(1)"> <script>alert(2)</script> [out](javascript:alert(3)) gnp.exe\u202e parrot'

let chromium: TestBrowser
let server: RunningTestServer
let embedder: Server
/** While it is set, what is embedded waits for it. */
let held: Promise<void> | undefined
/** While it is set, nothing is embedded. */
let isBroken = false

beforeAll(async () => {
  chromium = await openBrowser()
  embedder = createServer(async (request, response) => {
    const { input } = JSON.parse((await buffer(request)).toString()) as { input: string[] }
    if (input.length < 10) await held
    const data = input.map((text, index) => ({ index, embedding: [text.length, 1, 2, 3] }))
    const status = isBroken ? 400 : 200
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(isBroken ? {} : { data }))
  })
  await new Promise<void>((resolve) => embedder.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(embedder.address() as AddressInfo).port}/v1`
  server = await startServer({
    embedding: { provider: 'openai', baseUrl, model: 'lengths', apiKey: 'none' },
  })
  await add(server, 'docs/hours.md', hours, { topic: 'office' })
  await add(server, '<b>name</b>.md', hostile)
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
  embedder?.close().closeAllConnections()
})

async function add({ call }: RunningTestServer, name: string, content: string, metadata = {}, headers = {}) {
  const { json } = await call('POST', '/api/v1/knowledge/content', { name, content, metadata, chunk_size: 80 }, headers)
  return json as { document_id: string; chunk_ids: string[] }
}

const open = (path: string, options = {}) => visit(chromium, server.url, path, options)

test('a search shows why each passage has its rank, and opens it with its neighbours, by keys alone', async () => {
  const { page, ...visited } = await open('/studio')
  await page.getByRole('button', { name: 'New chat' }).focus()
  await page.keyboard.press('g')
  await page.keyboard.press('k')
  await page.getByRole('option', { name: /hours\.md/ }).waitFor()
  await page.getByLabel('Filters').fill('{"topic":"office"}')
  await page.getByRole('searchbox', { name: 'Search the documents' }).fill('winter opens')
  await page.keyboard.press('Enter')
  await page
    .getByRole('button', { name: /docs\/hours\.md:/ })
    .first()
    .waitFor()
  expect(await treeOf(page.locator('.hits tbody'))).toMatchInlineSnapshot(`
    "- rowgroup:
      - 'row "1 docs/hours.md:1–6 ## Winter 1.00 1 (0.41) 2 (0.97) 1 (0.54) winter opens"':
        - cell "1"
        - 'cell "docs/hours.md:1–6 ## Winter"':
          - button "docs/hours.md:1–6"
          - paragraph: "## Winter"
        - cell "1.00"
        - cell "1 (0.41)"
        - cell "2 (0.97)"
        - cell "1 (0.54)"
        - cell "winter opens"
      - row "2 docs/hours.md:7–9 In summer it opens at eight. 0.64 2 (0.18) 1 (0.97) 2 (0.31) opens":
        - cell "2"
        - cell "docs/hours.md:7–9 In summer it opens at eight.":
          - button "docs/hours.md:7–9"
          - paragraph: In summer it opens at eight.
        - cell "0.64"
        - cell "2 (0.18)"
        - cell "1 (0.97)"
        - cell "2 (0.31)"
        - cell "opens""
  `)
  await page
    .getByRole('button', { name: /docs\/hours\.md:/ })
    .first()
    .focus()
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  await page.keyboard.press('Enter')
  await page.getByRole('article', { name: /Passage/ }).waitFor()
  expect(await treeOf(page.getByRole('article', { name: /Passage/ }))).toMatchInlineSnapshot(`
    "- article "Passage 1":
      - strong: docs/hours.md:1–6
      - button "Copy the passage": copy
      - text: Around it
      - spinbutton "Around it": "1"
      - paragraph: Hours › Winter
      - text: "# Hours ## Winter From November to March the office opens at nine."
      - link "Passage 2, lines 7–9":
        - /url: /studio/knowledge/d/doc_…/c/chk_…?q=winter+opens&mode=hybrid&limit=10&filters=%7B%22topic%22%3A%22office%22%7D
      - text: "## Summer In summer it opens at eight."
      - group: "metadata: {2}""
  `)
  expect(new URL(page.url()).search).toBe(
    '?q=winter+opens&mode=hybrid&limit=10&filters=%7B%22topic%22%3A%22office%22%7D',
  )
  expect(await lookAt(page)).toEqual([])
  await page.getByLabel('Around it').fill('0')
  await page.getByRole('link', { name: 'Passage 2, lines 7–9' }).waitFor({ state: 'detached' })
  await page.goBack()
  await page.getByRole('region', { name: 'Document', exact: true }).waitFor({ state: 'detached' })
  // Back to the document without the passage leaves the fields as they are.
  await page.getByRole('searchbox', { name: 'Search the documents' }).fill('not asked')
  await page.goForward()
  await page.getByRole('article', { name: /Passage/ }).waitFor()
  expect(await page.getByRole('searchbox', { name: 'Search the documents' }).inputValue()).toBe('not asked')
  await page.goBack()
  await page.goBack()
  await expect.poll(() => page.getByLabel('Filters').inputValue()).toBe('')
  expect(await page.getByRole('searchbox', { name: 'Search the documents' }).inputValue()).toBe('')
  expect(await visited.end()).toEqual(nothingWrong)
})

test('filters that are no JSON are told at their field; nothing found says for what', async () => {
  const { page, ...visited } = await open('/studio/knowledge?q=winter&mode=keyword&limit=3')
  await page.getByRole('button', { name: /hours/ }).first().waitFor()
  expect(await page.getByLabel('Mode').inputValue()).toBe('keyword')
  await page.getByLabel('Filters').fill('topic')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('alert').filter({ hasText: 'object in JSON' }).waitFor()
  await page.getByLabel('Filters').fill('{"topic":"garden"}')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByText('in the documents that the filters match').waitFor()
  expect(await treeOf(page.locator('.found'))).toMatchInlineSnapshot(`
    "- status: Nothing was found for “winter” in the documents that the filters match.
    - button "Clear the filters""
  `)
  expect(await lookAt(page)).toEqual([])
  await page.getByRole('button', { name: 'Clear the filters' }).click()
  await page.getByRole('button', { name: /hours/ }).first().waitFor()
  // Keyboards of phones add a blank after a word.
  await page.getByLabel('Collection').fill('default ')
  await page.getByRole('button', { name: 'Search' }).click()
  await expect.poll(() => new URL(page.url()).searchParams.get('collection')).toBe('default')
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a search says when an agent without a model would quote nothing, and when it would not', async () => {
  const { page, ...visited } = await open('/studio/knowledge?q=winter%20opens')
  await page.getByText(/words looked for/).waitFor()
  expect(await page.getByText('An agent without a model').count()).toBe(0)
  await page.getByRole('searchbox', { name: 'Search the documents' }).fill('football in summer by penalty and referee')
  await page.keyboard.press('Enter')
  const silent = page.getByText('An agent without a model quotes nothing: the fit is 0.')
  await silent.waitFor()
  expect(await silent.textContent()).toMatch(/the fit is 0\.\d+, and needs to be at least 0\.50\.$/)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('what is in documents, and their names, is text', async () => {
  const { page, ...visited } = await open('/studio/knowledge?q=parrot')
  await page.getByRole('button', { name: /name/ }).first().click()
  await page.getByRole('article').getByText('onerror').waitFor()
  expect(await page.locator('main img, main script, main b, main article a[href^=javascript]').count()).toBe(0)
  expect(await lookAt(page)).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a document is deleted after a question, and is gone in every window', async () => {
  const { document_id: id } = await add(server, 'short-lived.md', 'Here for a moment.')
  const one = await open(`/studio/knowledge/d/${id}`)
  const other = await open(`/studio/knowledge/d/${id}`)
  await other.page.getByRole('heading', { name: 'short-lived.md' }).waitFor()
  await one.page.getByRole('button', { name: 'Delete…' }).click()
  expect(await lookAt(one.page)).toEqual([])
  await one.page.getByRole('button', { name: 'Delete', exact: true }).click()
  await one.page.getByRole('region', { name: 'Document', exact: true }).waitFor({ state: 'detached' })
  await other.page.getByText(`There is no document '${id}'.`).waitFor()
  expect(await treeOf(other.page.getByRole('region', { name: 'Document', exact: true }))).toMatchInlineSnapshot(`
    "- region "Document":
      - heading "Document" [level=3]
      - alert: There is no document 'doc_…'."
  `)
  for (const { page } of [one, other])
    await page.getByRole('option', { name: /short-lived/ }).waitFor({ state: 'detached' })
  expect(await one.end()).toEqual(nothingWrong)
  await other.end()
})

test('a reindex shows how far it is, also in other windows', async () => {
  const one = await open('/studio/knowledge')
  const other = await open('/studio/knowledge')
  for (const { page } of [one, other]) await page.getByRole('option', { name: /hours/ }).waitFor()
  const hold = Promise.withResolvers<void>()
  held = hold.promise
  await one.page.getByRole('button', { name: 'Reindex…' }).click()
  await one.page.getByRole('button', { name: 'Reindex', exact: true }).click()
  for (const { page } of [one, other]) await page.getByText('Reindexing…').waitFor()
  await other.page.getByRole('progressbar', { name: 'Reindex' }).waitFor()
  expect(await treeOf(other.page.locator('.library-status'))).toMatchInlineSnapshot(`
    "- text: 2 documents · 4 passages · embedder openai lengths
    - status: Reindexing…
    - progressbar "Reindex"
    - text: 0 of 4 passages"
  `)
  expect(await lookAt(other.page)).toEqual([])
  held = undefined
  hold.resolve()
  for (const { page } of [one, other]) await page.getByRole('button', { name: 'Reindex…' }).waitFor()
  expect([await one.end(), await other.end()]).toEqual([nothingWrong, nothingWrong])
})

test('a reindex that fails says why, and can be begun again', async () => {
  const { page, ...visited } = await open('/studio/knowledge')
  isBroken = true
  await page.getByRole('button', { name: 'Reindex…' }).click()
  expect(await lookAt(page)).toEqual([])
  await page.getByLabel('Embedder').selectOption('transformers')
  await page.getByText('may have to download the model').waitFor()
  await page.getByLabel('Embedder').selectOption('as now: openai lengths')
  await page.getByRole('button', { name: 'Reindex', exact: true }).click()
  await page.getByRole('alert').filter({ hasText: '400' }).waitFor()
  isBroken = false
  await page.getByRole('button', { name: 'Reindex…' }).waitFor()
  expect(await lookAt(page)).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
})

test('another embedder is chosen for one reindex, and not for the next', async () => {
  const { page, ...visited } = await open('/studio/knowledge')
  const asked: unknown[] = []
  await page.route('**/knowledge/reindex', (route) => {
    asked.push(route.request().postDataJSON())
    return route.fulfill({ status: 409, json: { error: { code: 'busy', message: 'Not now.', request_id: 'r' } } })
  })
  for (const embedder of ['lexical', '']) {
    await page.getByRole('button', { name: 'Reindex…' }).click()
    if (embedder) await page.getByLabel('Embedder').selectOption(embedder)
    expect(await page.getByLabel('Embedder').inputValue()).toBe(embedder)
    await page.getByRole('button', { name: 'Reindex', exact: true }).click()
    await page.getByRole('alert').getByText('Not now.').waitFor()
  }
  expect(asked).toEqual([{ embedder: 'lexical' }, {}])
  expect((await visited.end()).violations).toEqual([])
})

test('two thousand documents are a few rows, and pages are read as they are scrolled to', async () => {
  const documents = Array.from({ length: 2000 }, (_, place) => ({
    source: `many/${place}.txt`,
    content: `text ${place}`,
  }))
  for (const half of [documents.slice(0, 1000), documents.slice(1000)])
    await server.call('POST', '/api/v1/knowledge/documents', { documents: half })
  const { page, ...visited } = await open('/studio/knowledge')
  await page.getByRole('option', { name: 'many/1999.txt' }).waitFor()
  const pages = () => visited.urls.filter((url) => url.includes('/knowledge/documents')).length
  expect(pages()).toBeLessThan(3)
  const list = page.getByRole('listbox', { name: 'Documents' })
  await page.getByRole('option', { name: 'many/1999.txt' }).focus()
  await expect
    .poll(
      async () => {
        await page.keyboard.press('End')
        return list.getByRole('option', { name: 'hours.md' }).count()
      },
      { timeout: 20_000 },
    )
    .toBe(1)
  await expect.poll(() => page.evaluate('document.activeElement.getAttribute("role")')).toBe('option')
  expect(await list.getByRole('option').count()).toBeLessThan(60)
  expect(pages()).toBeGreaterThan(15)
  expect(await visited.end()).toEqual(nothingWrong)
})
