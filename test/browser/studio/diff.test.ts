import { tool } from 'ai'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer

beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      desk: agent({
        instructions: 'Answer in one sentence.',
        knowledge: { limit: 1 },
        model: scriptedModel(({ prompt }) => {
          const last = JSON.stringify(prompt.findLast(({ role }) => role === 'user')?.content)
          if (prompt.at(-1)?.role !== 'tool') return { tool_calls: [{ name: 'clock', input: { zone: 'utc' } }] }
          const text = last.includes('summer') ? 'It opens at eight in summer.' : 'It opens at nine in winter.'
          return { text, usage: { input_tokens: 100, output_tokens: last.includes('summer') ? 20 : 10 } }
        }),
        tools: {
          clock: tool({
            description: 'The time.',
            inputSchema: z.object({ zone: z.string() }),
            execute: () => ({ now: calls++ }),
          }),
        },
      }),
    },
  )
  for (const [name, content] of Object.entries({
    'winter.md': 'The office opens at nine in winter.',
    'summer.md': 'In summer it opens at eight.',
  }))
    await server.call('POST', '/api/v1/knowledge/content', { name, content })
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})
let calls = 0

const ask = async (input: string, session_id?: string) =>
  (await server.call('POST', '/api/v1/agents/desk/run', { input, session_id })).json

const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

test('the key d compares a run with the one before: answer by words, prompt, tools, passages, tokens', async () => {
  const first = await ask('When does it open in winter?')
  const { run_id } = await ask('When does it open in summer?', first.session_id)
  const { page, end } = await visit(chromium, server.url, `/studio/s/${first.session_id}/r/${run_id}`)
  await page.getByRole('treegrid').waitFor()
  await page.keyboard.press('d')
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/studio/diff/${first.run_id}/${run_id}`)
  await part(page, 'Answer').getByRole('insertion').first().waitFor()
  expect(await part(page, 'Answer').getByRole('deletion').allInnerTexts()).toEqual(['nine', 'winter'])
  expect(await part(page, 'Answer').getByRole('insertion').allInnerTexts()).toEqual(['eight', 'summer'])
  expect(await page.getByRole('row', { name: /^Tokens out/ }).textContent()).toMatch(/\+\d+ %/)
  expect(await part(page, 'Tools').textContent()).toContain('clock')
  expect(await part(page, 'Passages').textContent()).toContain('winter.md:112, not told')
  await part(page, 'Prompt')
    .getByText(/messages? (is|are) the same|only in B/)
    .first()
    .waitFor()
  expect(await lookAt(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('treegrid').waitFor()
  expect(await end()).toEqual(nothingWrong)
})

test('any two runs are compared by their ids, and a run with itself differs in nothing', async () => {
  const [one, other] = [await ask('When in winter?'), await ask('When in summer?')]
  const { page, end } = await visit(chromium, server.url, `/studio/diff/${one.run_id}/${one.run_id}`)
  await part(page, 'Answer').getByText('The same in both.').waitFor()
  await part(page, 'Prompt').getByText('nothing differs').waitFor()
  await page.getByLabel('B', { exact: true }).fill(other.run_id)
  await page.keyboard.press('Enter')
  await part(page, 'Answer').getByText('eight').waitFor()
  expect(new URL(page.url()).pathname).toBe(`/studio/diff/${one.run_id}/${other.run_id}`)
  await page.getByRole('button', { name: 'Swap' }).click()
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/studio/diff/${other.run_id}/${one.run_id}`)
  expect(await end()).toEqual(nothingWrong)
})

test('a run that is not there is said to be missing', async () => {
  const { run_id } = await ask('When in winter?')
  const { page, end } = await visit(chromium, server.url, `/studio/diff/${run_id}/run_gone`)
  await page.getByRole('alert').filter({ hasText: "There is no run 'run_gone'" }).waitFor()
  expect(await lookAt(page)).toEqual([])
  expect((await end()).violations).toEqual([])
})

test('the key f goes on after a run in a new session', async () => {
  const first = await ask('When in winter?')
  const second = await ask('When in summer?', first.session_id)
  const { page, end } = await visit(chromium, server.url, `/studio/s/${first.session_id}/r/${first.run_id}`)
  await page.getByRole('treegrid').waitFor()
  await page.keyboard.press('f')
  await expect.poll(() => page.url()).not.toContain(first.session_id)
  await expect.poll(() => page.getByRole('article').count()).toBe(1)
  const { json } = await server.call('GET', `/api/v1/sessions/${first.session_id}`)
  expect(json.run_count).toBe(2)
  expect(second.session_id).toBe(first.session_id)
  expect(await end()).toEqual(nothingWrong)
})
