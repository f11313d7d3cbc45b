import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { agent, workflow } from '../../../src/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer
beforeAll(async () => {
  chromium = await openBrowser()
  const says = agent({ run: () => 'hello' })
  const report = workflow({ input: z.object({ topic: z.string() }), run: ({ input }) => `of ${input.topic}` })
  server = await startServer({}, { says, report })
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

test('the column of the run is resized by keys, by dragging and by clicks, and stays so', async () => {
  const { json } = await server.call('POST', '/api/v1/agents/says/run', { input: 'go' })
  const { page, ...visited } = await visit(chromium, server.url, `/studio/s/${json.session_id}/r/${json.run_id}`)
  const splitter = page.getByRole('separator', { name: 'Width of the run' })
  const width = async () => (await page.locator('section.run').boundingBox())?.width ?? 0
  const value = () => splitter.getAttribute('aria-valuenow')
  await page.setViewportSize({ width: 1440, height: 900 })
  await expect.poll(width).toBeCloseTo(0.42 * 1440, -1)
  await splitter.focus()
  await page.keyboard.press('ArrowLeft')
  await expect.poll(width).toBeCloseTo(0.44 * 1440, -1)
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  expect(await value()).toBe('40')
  await page.keyboard.press('End')
  await page.keyboard.press('ArrowLeft')
  expect(await value()).toBe('66')
  await page.keyboard.press('Home')
  expect(await value()).toBe('28')
  await splitter.click()
  expect(await value()).toBe('42')
  const box = await splitter.boundingBox()
  await page.mouse.move((box?.x ?? 0) + 12, (box?.y ?? 0) + 20)
  await page.mouse.down()
  await page.mouse.move(720, 400, { steps: 4 })
  await page.mouse.up()
  expect(await value()).toBe('50')
  await page.reload()
  await expect.poll(width).toBeCloseTo(0.5 * 1440, -1)
  expect(await lookAt(page)).toEqual([])
  await page.evaluate("localStorage.removeItem('agentserve.run-width')")
  expect(await visited.end()).toEqual(nothingWrong)
})

test('the steps take the room that they need, and the one that is looked at has the rest', async () => {
  const { json } = await server.call('POST', '/api/v1/agents/says/run', { input: 'go' })
  const path = `/studio/s/${json.session_id}/r/${json.run_id}/e/1`
  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ]) {
    const { page, end } = await visit(chromium, server.url, path, { viewport })
    const run = page.locator('section.run')
    const boxOf = async (selector: string) => (await run.locator(selector).boundingBox()) ?? expect.fail(selector)
    for (const mode of ['Compact', 'Graph', 'Timeline']) {
      await page.getByRole('tab', { name: mode }).click()
      await run.locator('.timeline, .compact, .graph').waitFor()
      expect((await boxOf('.inspector')).height, mode).toBeGreaterThan((await boxOf(':scope')).height / 2)
    }
    const [timeline, rows] = [await boxOf('.timeline'), await boxOf('.virtual-all')]
    expect(rows.y + rows.height).toBeLessThanOrEqual(timeline.y + timeline.height + 1)
    const [header, close] = [await boxOf('header'), await boxOf('.close')]
    expect(close.x + close.width).toBe(header.x + header.width - 12)
    expect(close.y).toBe(header.y + 8)
    expect(await end()).toEqual(nothingWrong)
  }
})

test('a first session is said when it comes, after it was said that there is none', async () => {
  const other = await startServer({}, { says: agent({ run: () => 'hello' }) })
  const { page, end } = await visit(chromium, other.url, '/studio')
  const said = page.locator('.sessions > [role=status]')
  await expect.poll(() => said.textContent()).toBe('No session')
  await other.call('POST', '/api/v1/agents/says/run', { input: 'go' })
  await expect.poll(() => said.textContent()).toBe('1 session')
  expect(await end()).toEqual(nothingWrong)
  await other.close()
})

test('a form names the workflow whose input it asks for', async () => {
  const { page, end } = await visit(chromium, server.url, '/studio?new')
  await page.getByLabel('report workflow').check()
  await page.getByRole('group', { name: 'Input of report' }).getByLabel('topic').waitFor()
  expect(await end()).toEqual(nothingWrong)
})

test('a form asks for the input of the next run of a workflow too', async () => {
  const { page, end } = await visit(chromium, server.url, '/studio?new')
  await page.getByLabel('report workflow').check()
  const form = page.getByRole('group', { name: 'Input of report' })
  await form.getByLabel('topic').fill('tea')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const turns = page.getByRole('article')
  await expect.poll(() => turns.count()).toBe(1)
  await form.getByLabel('topic').fill('coffee')
  expect(await lookAt(page)).toEqual([])
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await turns.nth(1).getByText('coffee').first().waitFor()
  expect(await page.getByLabel('Message to report').isVisible()).toBe(true)
  // Another agent is asked by words.
  await page.getByLabel('Who is asked').selectOption('says')
  await form.waitFor({ state: 'detached' })
  expect(await end()).toEqual(nothingWrong)
})

test('each agent has a question to begin with', async () => {
  const { page, end } = await visit(chromium, server.url, '/studio?new')
  await page.getByLabel('says agent').check()
  await page.getByRole('button', { name: 'What can you do?' }).click()
  await page.locator('.answered').getByText('hello').waitFor()
  expect(await end()).toEqual(nothingWrong)
})
