import { tool } from 'ai'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer
let made = 0
let calls = 0
let sent = 0

beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    { studio: { again: true } },
    {
      desk: agent({
        instructions: 'Answer in one sentence.',
        model: scriptedModel(({ prompt }) => {
          calls++
          const told = JSON.stringify(prompt)
          const last = prompt.at(-1)
          if (last?.role !== 'tool') return { tool_calls: [{ name: 'clock', input: { zone: 'utc' } }] }
          if (told.includes('changed output')) return 'It is as changed.'
          return told.includes('Be brief.') ? 'Nine.' : 'It opens at nine.'
        }),
        tools: {
          clock: tool({
            description: 'The time.',
            inputSchema: z.object({ zone: z.string() }),
            execute: () => {
              made++
              return 'now'
            },
          }),
        },
      }),
      own: agent({ run: () => 'mine' }),
      letter: workflow({
        run: ({ step }) =>
          step('send', () => {
            sent++
            return 'It is sent.'
          }),
      }),
    },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

const ask = async (id: string, input = 'When does it open?') =>
  (await server.call('POST', `/api/v1/agents/${id}/run`, { input })).json
const lane = (page: Page, name: RegExp) => page.getByRole('region', { name })

test('the key e runs a run again with a change, beside what it was; tools wait to be allowed', async () => {
  const { run_id, session_id } = await ask('desk')
  const before = made
  const { page, end } = await visit(chromium, server.url, `/studio/s/${session_id}/r/${run_id}`)
  await page.getByRole('treegrid').waitFor()
  await page.keyboard.press('e')
  await page.getByLabel('Instructions').fill('Be brief.')
  await page.keyboard.press('Tab')
  await page.getByRole('button', { name: 'Run again' }).focus()
  await page.keyboard.press('Enter')
  const b = lane(page, /^B/)
  await b.getByRole('button', { name: 'Allow' }).waitFor()
  expect(made).toBe(before)
  expect(await lookAt(page)).toEqual([])
  await b.getByRole('button', { name: 'Allow' }).press('Enter')
  await b.getByText('Nine.').waitFor()
  expect(made).toBe(before + 1)
  const answer = page.getByRole('region', { name: 'Answer', exact: true })
  await answer.getByRole('insertion').first().waitFor()
  expect((await answer.getByRole('insertion').allTextContents()).join(' ')).toContain('Nine')
  expect(await lookAt(page)).toEqual([])
  const { json } = await server.call('GET', `/api/v1/sessions/${session_id}`)
  expect(json.run_count).toBe(1)
  await page.reload()
  await lane(page, /^B/).getByText('Nine.').waitFor()
  await page.getByRole('button', { name: 'Drop' }).click()
  await expect.poll(() => lane(page, /^B/).count()).toBe(0)
  expect(await end()).toEqual(nothingWrong)
})

test('from a tool call its output can be changed, and nothing before it is run', async () => {
  const { run_id } = await ask('desk')
  const [toolsBefore, callsBefore] = [made, calls]
  const { page, end } = await visit(chromium, server.url, `/studio/again/${run_id}`)
  await page.getByRole('combobox', { name: /^From/ }).selectOption({ label: await labelOf(page, /^tool call clock/) })
  await page.getByLabel('Output of the tool').fill('changed output')
  await page.getByRole('button', { name: 'Run again' }).click()
  await lane(page, /^B/).getByText('It is as changed.').waitFor()
  expect([made, calls]).toEqual([toolsBefore, callsBefore + 1])
  expect(await end()).toEqual(nothingWrong)
})

test('from a model call its messages can be changed', async () => {
  const { run_id } = await ask('desk')
  const { page, end } = await visit(chromium, server.url, `/studio/again/${run_id}`)
  await page.getByRole('combobox', { name: /^From/ }).selectOption({ label: await labelOf(page, /^model call/) })
  await page.getByRole('button', { name: 'Change the messages' }).press('Enter')
  const field = page.getByLabel('Messages of the call')
  await field.waitFor()
  expect(await page.locator('textarea:focus').count()).toBe(1)
  await field.fill((await field.inputValue()).replace('When does it open?', 'Be brief.'))
  expect(await lookAt(page)).toEqual([])
  await page.getByRole('button', { name: 'Run again' }).click()
  await lane(page, /^B/).getByRole('button', { name: 'Allow' }).click()
  await lane(page, /^B/).getByText('Nine.').waitFor()
  expect(await end()).toEqual(nothingWrong)
})

test('five runs tell how far the answers spread, and one is kept as a session', async () => {
  const { run_id, session_id } = await ask('desk')
  const before = made
  const { page, end } = await visit(chromium, server.url, `/studio/again/${run_id}`)
  await page.getByLabel('Tools and steps after it').selectOption('recorded')
  await page.getByRole('button', { name: 'Again ×5' }).click()
  await page.getByText('The same answer in 5 runs').waitFor()
  const styles =
    "[...document.querySelectorAll('[aria-label=Spread] button')].map((one) => getComputedStyle(one).boxShadow)"
  const marks = ((await page.evaluate(styles)) as string[]).map((shadow) => shadow !== 'none')
  expect(marks).toEqual([true, false, false, false, false])
  expect(await lookAt(page)).toEqual([])
  await page.getByRole('button', { name: 'Keep as session' }).click()
  await expect.poll(() => page.url()).toContain('/studio/s/')
  expect(page.url()).not.toContain(session_id)
  await page.getByRole('article').filter({ hasText: 'Nine.' }).waitFor()
  expect(made).toBe(before)
  const { runs } = (await server.call('GET', '/api/v1/runs?again=true&limit=100')).json
  const own = runs.filter((run: { again_of?: { run_id: string } }) => run.again_of?.run_id === run_id)
  expect(own.map((run: { again_of: { keep: string } }) => run.again_of.keep).sort()).toEqual([
    'fork',
    ...Array(4).fill('no'),
  ])
  expect(await end()).toEqual(nothingWrong)
})

test('on a phone what differs is shown first, and the two runs under tabs', async () => {
  const { run_id } = await ask('desk')
  const phone = { viewport: { width: 390, height: 844 } }
  const { page, end } = await visit(chromium, server.url, `/studio/again/${run_id}`, phone)
  const instructions = page.getByLabel('Instructions')
  await expect.poll(() => instructions.inputValue()).toBe('Answer in one sentence.')
  await instructions.fill('Be brief.')
  await page.getByLabel('Tools and steps after it').selectOption('recorded')
  await page.getByLabel('Times').fill('3')
  await page.getByRole('button', { name: 'Again ×3' }).click()
  await page.getByText('The same answer in 3 runs').waitFor()
  await page.getByRole('tab', { name: 'Diff', selected: true }).waitFor()
  await page.getByRole('region', { name: 'Answer', exact: true }).getByRole('insertion').first().waitFor()
  expect([await lane(page, /^A ·/).count(), await lane(page, /^B/).count()]).toEqual([0, 0])
  expect(await lookAt(page)).toEqual([])
  await page.getByRole('tab', { name: 'Diff' }).press('ArrowRight')
  await lane(page, /^A ·/).getByText('It opens at nine.').waitFor()
  await page.getByRole('tab', { name: 'B' }).click()
  await lane(page, /^B/).getByText('Nine.').waitFor()
  expect(await page.getByRole('region', { name: 'Answer', exact: true }).count()).toBe(0)
  expect(await lookAt(page)).toEqual([])
  expect(await end()).toEqual(nothingWrong)
})

test('a step of a workflow is made again only when it is allowed', async () => {
  const { run_id, session_id } = await ask('letter')
  const before = sent
  const { page, end } = await visit(chromium, server.url, `/studio/s/${session_id}/r/${run_id}`)
  await page.getByRole('treegrid').waitFor()
  await page.keyboard.press('r')
  const allow = lane(page, /^B ·/).getByRole('button', { name: 'Allow' })
  await allow.waitFor()
  await lane(page, /^B ·/).getByText("Allow the step 'send' to run?").first().waitFor()
  expect(sent).toBe(before)
  await allow.press('Enter')
  await lane(page, /^B ·/).getByText('It is sent.').waitFor()
  expect(sent).toBe(before + 1)
  await page.getByLabel('Tools and steps after it').selectOption('recorded')
  await page.getByRole('button', { name: 'Run again' }).click()
  await page.getByText('The same in both.').first().waitFor()
  await lane(page, /^B ·/).getByText('It is sent.').waitFor()
  expect(sent).toBe(before + 1)
  expect(await end()).toEqual(nothingWrong)
})

test('a try that waits is stopped when it is dropped, and a run that waits is not run again', async () => {
  const { run_id, session_id } = await ask('desk')
  const { page, end } = await visit(chromium, server.url, `/studio/again/${run_id}`)
  await page.getByRole('button', { name: 'Run again' }).click()
  await lane(page, /^B/).getByRole('button', { name: 'Allow' }).waitFor()
  const [tried = ''] = new URL(page.url()).searchParams.getAll('try')
  expect((await server.call('GET', `/api/v1/runs/${tried}`)).json.status).toBe('input_required')
  await page.goto(`${server.url}/studio/s/${session_id}/r/${tried}`)
  await page.getByRole('treegrid').waitFor()
  expect(await page.getByRole('link', { name: 'Again' }).count()).toBe(0)
  await page.goBack()
  await page.getByRole('button', { name: 'Drop' }).click()
  await expect.poll(async () => (await server.call('GET', `/api/v1/runs/${tried}`)).json.status).toBe('cancelled')
  expect(await end()).toEqual(nothingWrong)
})

test('what the server refuses is said in its words', async () => {
  const { run_id } = await ask('own')
  const { page, end } = await visit(chromium, server.url, `/studio/again/${run_id}`)
  await page.getByRole('button', { name: 'Run again' }).click()
  await page.getByRole('alert').filter({ hasText: 'answers with code of its own' }).waitFor()
  await page.getByLabel('Tools and steps after it').selectOption('live')
  await page.getByRole('button', { name: 'Run again' }).click()
  await lane(page, /^B/).getByText('mine').waitFor()
  await page.getByText('nothing runs again').waitFor()
  // Its text comes before its end does.
  await page.getByRole('button', { name: 'Keep as session' }).waitFor()
  expect((await end()).violations).toEqual([])
})

test('a server that repeats no runs offers none of it', async () => {
  const other = await startServer({}, { own: agent({ run: () => 'mine' }) })
  const { json } = await other.call('POST', '/api/v1/agents/own/run', { input: 'go' })
  const { page, end } = await visit(chromium, other.url, `/studio/s/${json.session_id}/r/${json.run_id}`)
  await page.getByRole('treegrid').waitFor()
  expect(await page.getByRole('link', { name: 'Again' }).count()).toBe(0)
  await page.goto(`${other.url}/studio/again/${json.run_id}`)
  await page.getByText('This key can’t repeat runs here').waitFor()
  expect(await end()).toEqual(nothingWrong)
  await other.close()
})

async function labelOf(page: Page, name: RegExp): Promise<string> {
  await page.getByRole('combobox', { name: /^From/ }).waitFor()
  const labels = await page.getByRole('combobox', { name: /^From/ }).locator('option').allTextContents()
  return labels.find((label) => name.test(label)) ?? ''
}
