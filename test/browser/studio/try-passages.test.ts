import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

/** What the placeholder leaves of the width of the number among the passages, in pixels. */
const roomInNumber = `(() => {
  const input = document.querySelector('fieldset [type=number]')
  const { font, paddingLeft, paddingRight } = getComputedStyle(input)
  const context = document.createElement('canvas').getContext('2d')
  context.font = font
  const text = context.measureText(input.placeholder).width
  return input.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - text
})()`
const lamps = Array.from({ length: 6 }, (_, at) => `## Lamp ${at}\n\nThe keeper lights lamp ${at} at dusk.\n`)

let chromium: TestBrowser
let server: RunningTestServer
beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    { studio: { again: true } },
    { reader: agent({ model: scriptedModel(() => 'Lit at dusk [1].'), knowledge: { limit: 2 } }) },
  )
  const content = `# Lamps\n\n${lamps.join('\n')}`
  const metadata = { kind: 'guide' }
  await server.call('POST', '/api/v1/knowledge/content', { source: 'lamps.md', content, chunk_size: 60, metadata })
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

async function open() {
  const input = 'Who lights lamp 3 at dusk?'
  const { json } = await server.call('POST', '/api/v1/agents/reader/run', { input })
  const visited = await visit(chromium, server.url, `/studio/s/${json.session_id}/r/${json.run_id}`)
  await visited.page.getByRole('row', { name: /^search/ }).click()
  const panel = visited.page.getByRole('tabpanel', { name: /^Passages/ })
  return { ...visited, panel, runId: json.run_id as string }
}

test('the recorded query is tried with another mode, limit and filters, beside the ranks of then', async () => {
  const { page, panel, ...visited } = await open()
  const later = { source: 'later.md', content: 'Who lights lamp 3 at dusk? The keeper.' }
  await server.call('POST', '/api/v1/knowledge/content', later)
  await panel.getByRole('button', { name: 'Try another search…' }).focus()
  await page.keyboard.press('Enter')
  await panel.getByLabel('Mode').selectOption('keyword')
  await panel.getByLabel('Limit').fill('9')
  await page.keyboard.press('Enter')
  await panel.getByText(/^7 found now · keyword/).waitFor()
  const table = panel.getByRole('group', { name: 'Found now' })
  await table.getByText('(rank 1 then)').waitFor()
  await table.getByText('later.md:1 (not found then)').waitFor()
  expect(await lookAt(page)).toEqual([])
  await panel.getByLabel('Limit').fill('1')
  await panel.getByRole('button', { name: 'Search now' }).click()
  await panel.getByText(/^1 found now · keyword · not found now: lamps\.md:/).waitFor()
  await panel.getByLabel('Filters').fill('{"kind": "poem"}')
  await panel.getByRole('button', { name: 'Search now' }).click()
  await panel.getByText(/^0 found now/).waitFor()
  await panel.getByLabel('Filters').fill('kind')
  await panel.getByRole('button', { name: 'Search now' }).click()
  await panel.getByText('Filters must be an object in JSON').waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a run is asked again without a passage, beside the run that had it', async () => {
  const { page, panel, runId, ...visited } = await open()
  const before = (await server.call('GET', `/api/v1/runs/${runId}`)).json.sources
  await panel.getByRole('row').nth(1).getByRole('button').click()
  await panel.getByRole('button', { name: 'Ask again without this passage' }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.url()).toMatch(/\/again\/run_\w+\?from=\d+&try=run_\w+$/)
  const again = /try=(run_\w+)/.exec(page.url())?.[1]
  const read = async () => (await server.call('GET', `/api/v1/runs/${again}`)).json
  await expect.poll(async () => (await read()).status).toBe('completed')
  const chunks = (sources: { chunk_id: string }[]) => sources.map(({ chunk_id }) => chunk_id)
  expect((await read()).again_of.run_id).toBe(runId)
  expect(chunks(before)).toHaveLength(2)
  expect(chunks((await read()).sources)).toEqual(chunks(before).slice(1))
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a run is repeated with a search in another mode and with filters', async () => {
  const { page, runId, ...visited } = await open()
  await page.goto(`${server.url}/studio/again/${runId}`)
  const passages = page.getByRole('group', { name: 'Passages' })
  const boxes = passages.getByRole('checkbox')
  await boxes.first().waitFor()
  const untold = await passages.getByRole('checkbox', { name: '(not told)' }).count()
  expect(untold).toBe((await boxes.count()) - 2)
  await passages.getByLabel('Mode').selectOption('keyword')
  expect(await page.evaluate(roomInNumber)).toBeGreaterThanOrEqual(0)
  await passages.getByLabel('Limit').fill('1')
  await passages.getByLabel('Filters').fill('kind')
  await page.getByRole('button', { name: 'Run again' }).click()
  await page.getByText('Filters must be an object in JSON').waitFor()
  await passages.getByLabel('Filters').fill('{"kind": "guide"}')
  expect(await lookAt(page)).toEqual([])
  await page.getByRole('button', { name: 'Run again' }).click()
  await page.getByRole('region', { name: /^B/ }).getByText('Lit at dusk').waitFor()
  const tried = new URL(page.url()).searchParams.get('try')
  const { text } = await server.call('GET', `/api/v1/runs/${tried}/events`)
  const [, search = '{}'] = /data: (\{"type":"retrieval".*\})/.exec(text) ?? []
  expect(JSON.parse(search)).toMatchObject({ mode: 'keyword', limit: 1, filters: { kind: 'guide' } })
  expect(await visited.end()).toEqual(nothingWrong)
})
