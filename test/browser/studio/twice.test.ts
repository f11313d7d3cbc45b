import { tool } from 'ai'
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const pay = tool({ inputSchema: z.object({ order: z.number() }), execute: ({ order }) => `paid ${order}` })

let chromium: TestBrowser
let server: RunningTestServer
beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    { studio: { again: true } },
    {
      reader: agent({ model: scriptedModel(() => 'Lit at dusk [1].'), knowledge: { limit: 2 } }),
      two: agent({
        model: scriptedModel(({ prompt }) =>
          prompt.at(-1)?.role === 'tool'
            ? 'Done.'
            : { tool_calls: [1, 2].map((order) => ({ name: 'pay', input: { order } })) },
        ),
        tools: { pay },
        toolApproval: { pay: 'user-approval' },
      }),
      remembering: agent({
        memory: { user: true },
        run: async ({ user, text }) => (await user.remember(text)).content,
      }),
    },
    { withTests: true },
  )
  await server.call('POST', '/api/v1/knowledge/content', {
    source: 'lamps.md',
    content: '# Lamps\n\nThe keeper lights the lamp at dusk.\n',
  })
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

async function open(agentId: string, more = '') {
  const { json } = await server.call('POST', `/api/v1/agents/${agentId}/run`, { input: 'Who lights the lamp?' })
  const path = `/studio/s/${json.session_id}/r/${json.run_id}${more}`
  return { ...(await visit(chromium, server.url, path)), run: json }
}

/** Requests to act on it wait until it is let go; each is counted. */
async function held(page: Page, url: RegExp) {
  const gate = Promise.withResolvers<void>()
  let count = 0
  await page.route(url, async (route: Route) => {
    if (route.request().method() === 'GET') return await route.continue()
    count++
    await gate.promise
    await route.continue()
  })
  return { letGo: () => gate.resolve(), count: () => count }
}

/** The run that was asked for again: until then another request could come. */
const hasAnswered = (page: Page) =>
  page.getByRole('region', { name: 'B · again' }).getByText('Lit at dusk').first().waitFor()

const sessions = async () => (await server.call('GET', '/api/v1/sessions?total=true')).json.total as number

test.each(['double click', 'key that is pressed twice'])('a run is forked once by a %s', async (how) => {
  const { page, end, run } = await open('reader')
  const fork = page.getByRole('button', { name: 'Fork' })
  await fork.waitFor()
  const before = await sessions()
  const { letGo, count } = await held(page, /\/fork$/)
  if (how !== 'double click') for (const key of ['f', 'f']) await page.keyboard.press(key)
  else await fork.dblclick()
  letGo()
  await expect.poll(() => page.url()).not.toContain(run.session_id)
  expect([count(), await sessions()]).toEqual([1, before + 1])
  expect(await end()).toEqual(nothingWrong)
})

test('a run is asked the same again once by a key that is pressed twice', async () => {
  const { page, end } = await open('reader')
  await page.getByRole('link', { name: 'Again' }).waitFor()
  const { letGo, count } = await held(page, /\/again$/)
  for (const key of ['r', 'r']) await page.keyboard.press(key)
  letGo()
  await hasAnswered(page)
  expect(count()).toBe(1)
  expect(await end()).toEqual(nothingWrong)
})

test('a question is asked once without a passage by a double click', async () => {
  const { page, end } = await open('reader')
  await page.getByRole('row', { name: /^search/ }).click()
  await page.getByRole('button', { name: /^lamps\.md/ }).click()
  const { letGo, count } = await held(page, /\/again$/)
  await page.getByRole('button', { name: 'Ask again without this passage' }).dblclick()
  letGo()
  await hasAnswered(page)
  expect(count()).toBe(1)
  expect(await end()).toEqual(nothingWrong)
})

test('a try is kept once, and only one of two is dropped, by double clicks', async () => {
  const { page, end } = await open('reader')
  await page.getByRole('link', { name: 'Again' }).click()
  await page.getByRole('button', { name: /^Again ×/ }).waitFor()
  await page.getByLabel('Times').fill('2')
  const asked = await held(page, /\/again$/)
  await page.getByRole('button', { name: 'Again ×2' }).dblclick()
  asked.letGo()
  const drop = page.getByRole('button', { name: 'Drop' })
  await page.getByRole('button', { name: 'Keep as session' }).waitFor()
  expect(asked.count()).toBe(1)
  await drop.dblclick()
  await page.getByRole('button', { name: 'Keep as session' }).waitFor()
  const before = await sessions()
  const kept = await held(page, /\/keep$/)
  await page.getByRole('button', { name: 'Keep as session' }).dblclick()
  kept.letGo()
  await expect.poll(() => page.url()).not.toContain('/again')
  expect([kept.count(), await sessions()]).toEqual([1, before + 1])
  expect(await end()).toEqual(nothingWrong)
})

test('of two requests a double click allows the first, and of one nothing is sent twice', async () => {
  const { page, end } = await open('two')
  const cards = page.locator('.asking')
  const { letGo, count } = await held(page, /\/resume$/)
  await cards.first().getByRole('button', { name: 'Allow' }).dblclick()
  await page.getByText('1 of 2 answered').waitFor()
  expect(count()).toBe(0)
  await cards.last().getByRole('button', { name: 'Allow' }).dblclick()
  letGo()
  await page.getByText('Done.').first().waitFor()
  expect(count()).toBe(1)
  expect(await end()).toEqual(nothingWrong)
})

test('a double click forgets one of two things that are remembered', async () => {
  const remember = (input: string) => server.call('POST', '/api/v1/agents/remembering/run', { input, user_id: 'ann' })
  await remember('Likes tea.')
  const { json } = await remember('Likes rye.')
  const { page, end } = await visit(chromium, server.url, `/studio/s/${json.session_id}`)
  await page.getByRole('button', { name: 'Session…' }).click()
  const facts = page.getByRole('region', { name: 'Remembered' })
  await facts.getByRole('button').first().dblclick()
  await expect.poll(() => facts.getByRole('listitem').count()).toBe(1)
  expect((await server.call('GET', '/api/v1/users/ann/facts')).json.facts).toHaveLength(1)
  expect(await end()).toEqual(nothingWrong)
})

test('a double click on what asks first does not answer it, and one on what runs tests does not stop them', async () => {
  const { page, end, run } = await open('reader')
  const saved = await server.call('POST', '/api/v1/dev/tests', { session_id: run.session_id, name: 'lamp' })
  expect(saved.status).toBe(201)
  await page.getByRole('button', { name: 'Session…' }).click()
  await page.getByRole('button', { name: 'Delete…' }).dblclick()
  await page.getByRole('group', { name: 'Delete', exact: true }).waitFor()
  expect((await server.call('GET', `/api/v1/sessions/${run.session_id}`)).status).toBe(200)
  await page.goto(`${server.url}/studio/tests`)
  const { letGo, count } = await held(page, /\/dev\/tests\/run$/)
  await page.getByRole('button', { name: 'Run all' }).dblclick()
  letGo()
  await page.getByRole('status').filter({ hasText: '1 passed' }).waitFor()
  expect(count()).toBe(1)
  expect(await end()).toEqual(nothingWrong)
})
