import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const lamps = Array.from({ length: 6 }, (_, at) => `## Lamp ${at}\n\nThe keeper lights lamp ${at} at dusk.\n`)
const gone = { chunk_id: 'chk_gone', source: 'gone.md', score: 0.9, document_id: 'doc_gone', rank: 1, page: 3 }

let chromium: TestBrowser
let server: RunningTestServer
beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      reader: agent({ model: scriptedModel(() => 'Lit at dusk [2].'), knowledge: { limit: 2 } }),
      silent: agent({
        run: () => [
          {
            type: 'retrieval',
            query: 'the moon',
            results: [{ ...gone, told: false, weight: 1.5 }],
            mode: 'hybrid',
            abstained: { reason: 'nothing fits', score: 0.1234, threshold: 0.5 },
          },
          'I do not know.',
        ],
      }),
      nothing: agent({ run: () => [{ type: 'retrieval', query: 'the sun', results: [] }, 'No.'] }),
      gone: agent({
        run: () => [
          { type: 'retrieval', query: 'lamp', results: [{ ...gone, told: true, weight: 1.5 }], limit: 1 },
          { type: 'source', index: 1, source: 'gone.md', document_id: 'doc_gone', chunk_id: 'chk_gone' },
          'Lit [1].',
        ],
      }),
    },
  )
  await ingest('lamps.md', `# Lamps\n\n${lamps.join('\n')}`)
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

const ingest = (source: string, content: string) =>
  server.call('POST', '/api/v1/knowledge/content', { source, content, chunk_size: 60, metadata: { kind: 'guide' } })

async function open(agentId: string, input: string) {
  const { json } = await server.call('POST', `/api/v1/agents/${agentId}/run`, { input })
  const visited = await visit(chromium, server.url, `/studio/s/${json.session_id}/r/${json.run_id}`)
  const { page } = visited
  await page.getByRole('row', { name: /^search/ }).click()
  return { ...visited, panel: page.getByRole('tabpanel', { name: /^Passages/ }) }
}

test('each passage has its number, its place in each list, and why the model was not told it', async () => {
  const { page, panel, ...visited } = await open('reader', 'Who lights lamp 3 at dusk?')
  await panel.getByText(/^hybrid · limit 2 · .* · filters none · collection default · words .*dusk/).waitFor()
  const cells = async (row: number) =>
    (await panel.getByRole('row').nth(row).getByRole('cell').allTextContents()).map((cell) => cell.trim())
  expect(await panel.getByRole('columnheader').allTextContents()).toEqual(
    expect.arrayContaining(['Rank', 'Score', 'keyword', 'Where', 'Words found']),
  )
  const [first, second, third] = [await cells(1), await cells(2), await cells(3)]
  expect([first[0], first[1], second[0], third[0], third[1]]).toEqual(['[1]', '1', '[2]', '–', '3'])
  expect(first.join(' ')).toMatch(/[01]\.\d\d 1 \(\d+\.\d\d\)/)
  expect(first.join(' ')).toMatch(/lamps\.md:\d+–\d+/)
  expect(first.join(' ')).not.toContain('(cited)')
  expect(second.join(' ')).toContain('(cited)')
  expect(third.join(' ')).toContain('(not told: limit 2)')
  expect(await lookAt(page)).toEqual([])
  await page.getByRole('row', { name: /^model call/ }).click()
  await page.getByRole('tab', { name: /^Passages \d/ }).click()
  await panel.getByText('[2]').waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})

test('the text of a passage is read when it is asked for, with its neighbours and the words found', async () => {
  const { page, panel, ...visited } = await open('reader', 'Who lights lamp 3 at dusk?')
  const where = panel.getByRole('button', { name: /^lamps\.md:/ }).first()
  expect(visited.urls.filter((url) => url.includes('/chunks/'))).toEqual([])
  await where.click()
  await panel.locator('.passage .said').getByText('lights').first().waitFor()
  // Marked words stand in their sentence.
  const display = await page.evaluate("getComputedStyle(document.querySelector('.passage pre.said')).display")
  expect(display).toBe('block')
  expect(await panel.locator('.passage mark').allTextContents()).toEqual(expect.arrayContaining(['lamp', 'dusk']))
  expect((await panel.getByRole('row').nth(1).getByRole('cell').last().textContent()) ?? '').toContain('dusk')
  expect(visited.urls.filter((url) => url.includes('/chunks/'))).toHaveLength(1)
  expect(await panel.getByRole('link', { name: 'in the knowledge base' }).getAttribute('href')).toMatch(
    /^\/studio\/knowledge\/d\/doc_\w+\/c\/chk_\w+$/,
  )
  expect(await where.getAttribute('aria-expanded')).toBe('true')
  expect(await lookAt(page)).toEqual([])
  await page.setViewportSize({ width: 390, height: 844 })
  const ofPassage = () => panel.locator('.passage').boundingBox()
  await expect.poll(async () => ((await ofPassage())?.x ?? 0) + ((await ofPassage())?.width ?? 0)).toBeLessThan(390)
  await page.setViewportSize({ width: 1440, height: 900 })
  await where.click()
  expect(await panel.locator('.passage').count()).toBe(0)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('two passages that are opened before either is read both say which words they have', async () => {
  const { page, panel, ...visited } = await open('reader', 'Who lights lamp 3 at dusk?')
  const hold = Promise.withResolvers<void>()
  await page.route('**/knowledge/chunks/**', async (route) => {
    await hold.promise
    await route.continue()
  })
  const places = panel.getByRole('button', { name: /^lamps\.md:/ })
  await places.nth(0).click()
  await places.nth(1).click()
  hold.resolve()
  await expect.poll(() => panel.locator('.passage').count()).toBe(2)
  const words = panel.locator('tr:has(.link) td:last-child')
  await expect.poll(async () => (await words.allTextContents()).slice(0, 2)).not.toContain('some')
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a passage whose document was replaced is shown as the model was told it, or said to be gone', async () => {
  await ingest('tide.md', '# Tide\n\nThe tide rises at noon, says the keeper.\n')
  const { page, panel, ...visited } = await open('reader', 'When does the tide rise?')
  await ingest('tide.md', '# Tide\n\nNobody knows.\n')
  await panel.getByRole('button', { name: /^tide\.md/ }).click()
  await panel.getByText(/The model was told this/).waitFor()
  await panel.locator('.passage .said').getByText('noon').waitFor()
  expect(await panel.getByRole('link').count()).toBe(0)
  expect(await lookAt(page)).toEqual([])
  await visited.end()
  const gone = await open('gone', 'lamp')
  await gone.panel.getByText('gone.md, page 3').click()
  await gone.panel.getByText('replaced or deleted. No prompt of the run has its text.').waitFor()
  expect(await lookAt(gone.page)).toEqual([])
  const { errors, ...rest } = await gone.end()
  expect({ ...rest, errors: errors.filter((error) => !error.includes('404')) }).toEqual(nothingWrong)
})

test('a search that was kept from the model says why, and one that found nothing says so', async () => {
  const { page, panel, ...visited } = await open('silent', 'moon')
  expect(await treeOf(panel)).toMatchInlineSnapshot(`
    "- tabpanel "Passages 1":
      - region "Search for the moon":
        - paragraph: “the moon”
        - paragraph: hybrid · filters none
        - paragraph: "Nothing was told, as the fit is 0.12, and needs to be at least 0.50: nothing fits"
        - group "Passages":
          - table:
            - rowgroup:
              - row "Number Rank Where Score Weight Words found":
                - columnheader "Number"
                - columnheader "Rank"
                - columnheader "Where"
                - columnheader "Score"
                - columnheader "Weight"
                - columnheader "Words found"
            - rowgroup:
              - 'row "– 1 gone.md, page 3 (not told: the fit is below 0.50) 0.90 1.50 –"':
                - cell "–"
                - cell "1"
                - 'cell "gone.md, page 3 (not told: the fit is below 0.50)"':
                  - button "gone.md, page 3"
                  - text: "(not told: the fit is below 0.50)"
                - cell "0.90"
                - cell "1.50"
                - cell "–"
        - button "Try another search…""
  `)
  expect(await lookAt(page)).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
  const nothing = await open('nothing', 'sun')
  await nothing.panel.getByText('Nothing was found.').waitFor()
  expect(await lookAt(nothing.page)).toEqual([])
  expect(await nothing.end()).toEqual(nothingWrong)
})

test('a key that may read neither passages nor prompts is told which scopes they need', async () => {
  const key = 'a-key-of-few-scopes'
  const locked = await startServer(
    { auth: { keys: [{ key, scopes: ['run', 'sessions'] }] }, vectorDb: { type: 'memory' } },
    { tells: agent({ run: () => [{ type: 'retrieval', query: 'lamp', results: [{ ...gone, told: true }] }, 'Lit.'] }) },
  )
  const { json } = await locked.call('POST', '/api/v1/agents/tells/run', { input: 'lamp' }, { 'x-api-key': key })
  const { page, ...visited } = await visit(chromium, locked.url, '/studio')
  // A page that is still asking would forget it.
  await page.getByLabel('This server asks for an API key.').waitFor()
  await page.evaluate(`sessionStorage.setItem('agentserve.key', '${key}')`)
  await page.goto(`${locked.url}/studio/s/${json.session_id}/r/${json.run_id}/e/2`)
  await page.getByRole('button', { name: 'gone.md, page 3' }).click()
  await page.getByText(/scope knowledge:read\. Prompts are for keys with the scope prompts/).waitFor()
  expect(visited.urls.filter((url) => /chunks|trace/.test(url))).toEqual([])
  await visited.end()
  await locked.close()
})
