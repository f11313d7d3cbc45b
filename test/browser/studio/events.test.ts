import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EmittedEvent } from '../../../src/core/event.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer
const usage = { input_tokens: 20, output_tokens: 5, total_tokens: 25 }

beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      many: agent({
        async *run(): AsyncGenerator<EmittedEvent> {
          yield { type: 'model_call_start', call_id: 'c', model: 'openai/gpt-5' }
          for (let word = 0; word < 10_000; word++) yield { type: 'text_delta', text: `${word} ` }
          yield { type: 'model_call_end', call_id: 'c', usage, finish_reason: 'stop', duration_ms: 1 }
        },
      }),
      large: agent({
        async *run(): AsyncGenerator<EmittedEvent> {
          for (const call_id of ['a', 'b', 'c']) {
            yield { type: 'tool_call', call_id, name: 'read', input: {} }
            yield { type: 'tool_result', call_id, name: 'read', output: 'long words '.repeat(30_000), duration_ms: 1 }
          }
          yield { type: 'tool_call', call_id: 'd', name: 'read', input: {} }
          yield { type: 'tool_result', call_id: 'd', name: 'read', error: { message: 'gone' }, duration_ms: 1 }
        },
      }),
    },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

async function open(id: string) {
  const { json } = await server.call('POST', `/api/v1/agents/${id}/run`, { input: 'go' })
  return visit(chromium, server.url, `/studio/s/${json.session_id}/r/${json.run_id}`)
}
const list = (page: Page) => page.getByRole('listbox', { name: 'Events of the run' })

test('10,000 events are few rows; text is none in the waterfall; one type can be looked at', async () => {
  const { page, ...visited } = await open('many')
  await page.getByRole('row', { name: /^model call/ }).waitFor()
  await expect.poll(() => page.getByRole('treegrid').getAttribute('aria-rowcount')).toBe('3')
  await page.getByRole('tab', { name: 'Events 10,004' }).click()
  await list(page).getByRole('option').first().click()
  await page.keyboard.press('End')
  const last = list(page).getByRole('option', { name: /run_end/ })
  await expect.poll(() => last.getAttribute('aria-selected')).toBe('true')
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toContain('run_end')
  expect(await list(page).getByRole('option').count()).toBeLessThan(120)
  expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(3500)
  await page.getByLabel('Only').selectOption('model_call_end')
  expect(await list(page).getByRole('option').count()).toBe(1)
  await page
    .getByRole('region', { name: /^Event/ })
    .getByText('finish_reason')
    .waitFor()
  expect(await lookAt(page)).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a long value is cut until it is asked for', async () => {
  const { page, ...visited } = await open('large')
  await page.getByRole('tab', { name: /^Events/ }).click()
  await list(page)
    .getByRole('option', { name: /tool_result/ })
    .first()
    .click()
  const panel = page.getByRole('region', { name: /^Event/ })
  await panel.getByText('long words').waitFor()
  const length = async () => (await panel.textContent())?.length ?? 0
  expect(await length()).toBeLessThan(3000)
  await panel.getByRole('button', { name: /^show/ }).click()
  await expect.poll(length).toBeGreaterThan(100_000)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('the compact list has one line for the same again and again, and what went wrong apart', async () => {
  const { page, ...visited } = await open('large')
  await page.getByRole('tab', { name: 'Compact' }).click()
  const steps = page.getByRole('list', { name: 'Steps of the run' })
  await steps.getByText('3× tool call').waitFor()
  expect(await treeOf(steps)).toMatchInlineSnapshot(`
    "- list "Steps of the run":
      - listitem:
        - link "run large · … s":
          - /url: /studio/s/ses_…/r/run_…/e/1
          - text: run
          - strong: large
          - text: · … s
      - listitem:
        - link "3× tool call read · … s":
          - /url: /studio/s/ses_…/r/run_…/e/2
          - text: 3× tool call
          - strong: read
          - text: · … s
      - listitem:
        - link "tool call read failed gone · … s":
          - /url: /studio/s/ses_…/r/run_…/e/8
          - text: tool call
          - strong: read
          - text: failed gone · … s
      - listitem:
        - link "end completed":
          - /url: /studio/s/ses_…/r/run_…/e/10
          - text: end
          - strong: completed"
  `)
  await steps.getByRole('link', { name: /failed/ }).click()
  await page.getByRole('region', { name: /read/ }).waitFor()
  expect(await steps.getByRole('link', { name: /failed/ }).getAttribute('aria-current')).toBe('true')
  expect(await lookAt(page)).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
})
