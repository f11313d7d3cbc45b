import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer
let calls = 0

beforeAll(async () => {
  chromium = await openBrowser()
  const model = scriptedModel(() => ({ text: `Answer ${++calls}.` }))
  server = await startServer({ studio: { again: true } }, { desk: agent({ model }) })
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

const ask = async (body: object) =>
  (await server.call('POST', '/api/v1/agents/desk/run', { input: 'Well?', ...body })).json

test('a run takes the place of a turn, and the picker at the turn brings the one before back', async () => {
  const { session_id, run_id } = await ask({})
  await ask({ session_id, input: 'And then?' })
  const { page, end } = await visit(chromium, server.url, `/studio/s/${session_id}/r/${run_id}`)
  const turns = page.getByRole('article')
  const picker = page.getByRole('group', { name: 'Answers to this' })
  await page.getByRole('treegrid').waitFor()
  await expect.poll(() => turns.count()).toBe(2)
  expect(await picker.count()).toBe(0)

  // As it is, with the key r; then in the place of the turn.
  await page.keyboard.press('r')
  await page.getByRole('region', { name: /^B/ }).getByText('Answer 3.').waitFor()
  await page.getByRole('button', { name: 'Run again' }).click()
  await page.getByRole('region', { name: /^B/ }).getByText('Answer 4.').waitFor()
  await page.getByRole('button', { name: 'Replace the turn' }).press('Enter')
  await turns.filter({ hasText: 'Answer 4.' }).waitFor()
  await expect.poll(() => turns.count()).toBe(1)
  await expect.poll(() => picker.textContent()).toBe('‹2/2›')
  expect(await lookAt(page)).toEqual([])

  await picker.getByRole('button', { name: 'The answer before' }).press('Enter')
  await turns.filter({ hasText: 'Answer 1.' }).waitFor()
  await turns.filter({ hasText: 'And then?' }).waitFor()
  await expect.poll(() => picker.textContent()).toBe('‹1/2›')
  await expect.poll(() => page.locator('button[aria-label="The next answer"]:focus').count()).toBe(1)
  expect(page.url()).toContain(run_id)
  const { json } = await server.call('GET', `/api/v1/sessions/${session_id}/history`)
  expect(json.runs).toHaveLength(2)

  // After a new visit too.
  await page.reload()
  await picker.getByRole('button', { name: 'The next answer' }).click()
  await turns.filter({ hasText: 'Answer 4.' }).waitFor()
  await expect.poll(() => turns.count()).toBe(1)
  expect(await end()).toEqual(nothingWrong)
})
