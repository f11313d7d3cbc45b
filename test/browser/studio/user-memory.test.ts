import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer
beforeAll(async () => {
  chromium = await openBrowser()
  const remembering = agent({
    memory: { user: true },
    run: async ({ user, text }) => (await user.remember(text)).content,
  })
  server = await startServer({}, { remembering })
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

const contents = async () =>
  (await server.call('GET', '/api/v1/users/ann/facts')).json.facts.map(({ content }: { content: string }) => content)

test('the dialog of a session shows what is remembered about its user, and forgets it', async () => {
  const hostile = '<img src=x onerror=alert(1)> is the name'
  const run = (input: string) =>
    server.call('POST', '/api/v1/agents/remembering/run', { input, user_id: 'ann' }).then(({ json }) => json)
  await run('Likes tea.')
  const { session_id } = await run(hostile)
  const { page, ...visited } = await visit(chromium, server.url, `/studio/s/${session_id}`)
  await page.getByRole('button', { name: 'Session…' }).click()
  const facts = page.getByRole('region', { name: 'Remembered' })
  await facts.getByText('Likes tea.').waitFor()
  expect(await facts.getByRole('listitem').allInnerTexts()).toEqual(['Likes tea. Forget', `${hostile} Forget`])
  expect(await contents()).toEqual(['Likes tea.', hostile])
  await facts.getByRole('button', { name: 'Forget: Likes tea.' }).click()
  await facts.getByText('Likes tea.').waitFor({ state: 'detached' })
  expect(await contents()).toEqual([hostile])
  await facts.getByRole('button').click()
  await facts.waitFor({ state: 'detached' })
  expect(await contents()).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a session without a user, or without facts, shows nothing of it', async () => {
  const { session_id } = (await server.call('POST', '/api/v1/agents/echo/run', { input: 'hello' })).json
  const { page, ...visited } = await visit(chromium, server.url, `/studio/s/${session_id}`)
  const asked = page.waitForResponse((response) => response.url().endsWith(`/sessions/${session_id}`))
  await page.getByRole('button', { name: 'Session…' }).click()
  await asked
  await page.getByRole('dialog').getByRole('button', { name: 'Export' }).waitFor()
  expect(await page.getByRole('region', { name: 'Remembered' }).count()).toBe(0)
  expect(await visited.end()).toEqual(nothingWrong)
})
