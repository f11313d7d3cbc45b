import { afterAll, beforeAll, expect, test } from 'vitest'
import { team } from '../../../src/runnables/team/team.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt } from '../../support/browser/look.ts'
import { openRun, row } from '../../support/browser/run-page.ts'
import { nothingWrong } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer
beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      publisher: workflow({
        async run({ step, approve }) {
          await step('print', () => 'printed')
          await approve('Shall it be published?')
          return 'It is published.'
        },
      }),
      desk: team({
        mode: 'lead',
        members: ['publisher'],
        model: scriptedModel(({ prompt }) =>
          prompt.at(-1)?.role === 'tool'
            ? 'All is done.'
            : { tool_calls: [{ name: 'ask_publisher', input: { task: 'Publish it.' } }] },
        ),
      }),
      house: team({ mode: 'sequence', members: ['desk'] }),
    },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

async function paused(id: string) {
  const { json } = await server.call('POST', `/api/v1/agents/${id}/run`, { input: 'go' })
  expect(json.status).toBe('input_required')
  return openRun(chromium, server, json)
}

test('the call that asked a member, its steps and its run lead to its conversation', async () => {
  const { page, ...visited } = await paused('desk')
  const conversation = page.getByRole('heading', { name: 'publisher', level: 2 })
  const told = page.getByRole('region', { name: 'What it was told' }).getByText('Publish it.')
  await row(page, /^tool call ask_publisher/).click()
  await page.getByRole('link', { name: 'The whole conversation of publisher' }).click()
  await conversation.waitFor()
  await told.waitFor()
  await page.goBack()
  await row(page, /^step publisher/).click()
  await page.keyboard.press('ArrowRight')
  await row(page, /^step print/).click()
  await page.getByRole('link', { name: 'The conversation around this step' }).click()
  await told.waitFor()
  await page.goBack()
  await row(page, /^step publisher/).click()
  await page.getByRole('link', { name: 'The run inside this step' }).click()
  expect(await lookAt(page)).toEqual([])
  await page.getByRole('link', { name: 'its conversation' }).click()
  await told.waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})

test.each(['desk', 'house'])('a member of %s that waits is answered from its conversation', async (id) => {
  const { page, ...visited } = await paused(id)
  await page.getByRole('link', { name: 'The conversation that asks' }).click()
  if (id === 'house') await page.getByRole('link', { name: 'Its conversation' }).click()
  await page.getByRole('heading', { name: 'publisher', level: 2 }).waitFor()
  const waiting = page.getByRole('region', { name: 'Waits for you' })
  await waiting.getByText('Shall it be published?').waitFor()
  expect(await lookAt(page)).toEqual([])
  await waiting.getByRole('button', { name: 'Allow' }).click()
  await page.locator('.status.completed').waitFor()
  await page.getByText('It is published.').waitFor()
  expect(await waiting.count()).toBe(0)
  await page.getByRole('link', { name: 'The run around it' }).click()
  await page.getByText('All is done.').waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})
