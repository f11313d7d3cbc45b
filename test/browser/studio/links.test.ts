import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { heldAgent } from '../../support/browser/held.ts'
import { lookAt } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer
let release: () => void = () => {}
const slow = heldAgent('one ', 'two')
beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      fails: agent({
        run: () => {
          throw new Error('the lamp is out')
        },
      }),
      structured: agent({ run: () => [{ type: 'data', data: { open: true } }] }),
      slow: slow.held,
      thinks: agent({
        model: scriptedModel(async () => {
          await new Promise<void>((resolve) => {
            release = resolve
          })
          return 'late'
        }),
      }),
      both: team({ mode: 'parallel', members: ['structured'] }),
    },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

/** The run's page, at an address below it. */
async function open(agentId: string, below: string, background = false) {
  const { json } = await server.call('POST', `/api/v1/agents/${agentId}/run`, { input: 'go', background })
  const visited = await visit(chromium, server.url, `/studio/s/${json.session_id}/r/${json.run_id}${below}`)
  return { ...visited, inspector: visited.page.locator('.inspector'), run: json as Record<string, string> }
}

test('the end of a run that failed tells its code, and structured output is a tree', async () => {
  const { page, inspector, end } = await open('fails', '', true)
  await page.getByRole('row', { name: /^end/ }).click()
  await inspector.getByText(/^end · seq \d+ · failed · run_failed/).waitFor()
  expect(await inspector.locator('.failure').textContent()).toContain('The agent threw an error')
  expect(await lookAt(page)).toEqual([])
  expect(await end()).toEqual(nothingWrong)
  const data = await open('structured', '/e/1')
  await data.inspector.getByText('structured output').waitFor()
  expect(await data.end()).toEqual(nothingWrong)
})

test('a run is found by its id alone, in its session, and every time tells the whole moment', async () => {
  const { page, run, end } = await open('structured', '')
  await page.goto(`${server.url}/studio/r/${run.run_id}`)
  await page
    .getByRole('region', { name: `Run ${run.run_id}` })
    .getByRole('row')
    .first()
    .waitFor()
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/studio/s/${run.session_id}/r/${run.run_id}`)
  expect(await page.evaluate('document.documentElement.lang')).toBe('en')
  const times = page.getByRole('article').locator('time')
  expect(await times.count()).toBe(2)
  for (const time of await times.all()) {
    const at = (await time.getAttribute('datetime')) ?? ''
    expect(new Date(at).toISOString()).toBe(at)
    expect(await time.getAttribute('title')).toMatch(new RegExp(`, ${at.slice(0, 4)} at \\d+:\\d\\d:\\d\\d .M `))
  }
  expect(await end()).toEqual(nothingWrong)
})

test('a link leads to a step of a run that works, and what comes of it is added', async () => {
  const { page, inspector, end } = await open('slow', '/e/1?view=gave', true)
  await inspector.getByText('one').waitFor()
  expect(await lookAt(page)).toEqual([])
  slow.release()
  await inspector.getByText('one two').waitFor()
  await inspector.getByText(/^run · seq 1 · completed/).waitFor()
  expect(await end()).toEqual(nothingWrong)
})

test('the prompt of a call is there while the model thinks, and its answer when it comes', async () => {
  const { page, inspector, end } = await open('thinks', '', true)
  await page.getByRole('row', { name: /^model call/ }).click()
  await inspector.getByText(/^call 1 of 1 · seq \d+ · under way/).waitFor()
  await inspector.locator('.prompt').getByText('go', { exact: true }).waitFor()
  await inspector.getByRole('tab', { name: 'Gave' }).click()
  await inspector.getByText('Nothing yet.').waitFor()
  release()
  await inspector.getByText('late').waitFor()
  await inspector.getByText(/ · stop · /).waitFor()
  expect(await end()).toEqual(nothingWrong)
})

test('a link leads to a step of a member, by any of its events, or says that the run is gone', async () => {
  const { page, inspector, run, end } = await open('both', '')
  const { json } = await server.call('GET', `/api/v1/runs?parent_run_id=${run.run_id}`)
  await page.goto(`${server.url}/studio/s/${run.session_id}/r/${json.runs[0].run_id}/e/2`)
  await inspector.getByText(/^run · seq 1 · completed/).waitFor()
  await server.call('DELETE', `/api/v1/sessions/${run.session_id}`)
  await page.reload()
  await page.getByRole('alert').getByText('There is no run').waitFor()
  expect(await lookAt(page)).toEqual([])
  const { errors, ...rest } = await end()
  expect({ ...rest, errors: errors.filter((error) => !error.includes('404')) }).toEqual(nothingWrong)
})
