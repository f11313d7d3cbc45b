import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { heldAgent } from '../../support/browser/held.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer
const slow = heldAgent('one ', 'two')
beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      talker: slow.held,
    },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

/** By another client than the page. */
async function ask(agentId: string, input: string, more: object = {}): Promise<string> {
  const { status, json } = await server.call('POST', `/api/v1/agents/${agentId}/run`, { input, ...more })
  if (status >= 400) throw new Error(JSON.stringify(json))
  return json.session_id
}

/** A window with a session open whose runs it follows. */
async function open(title: string) {
  const session_id = await ask('echo', title)
  const visited = await visit(chromium, server.url, '/studio')
  const { page } = visited
  const follows = page.waitForResponse((response) => response.url().includes(`follow_sessions=${session_id}`))
  await page.getByRole('option', { name: title }).click()
  await follows
  const reads = (path: string) => visited.paths().filter((one) => one.endsWith(path)).length
  return { ...visited, session_id, lives: () => reads('/live'), histories: () => reads(`/${session_id}/history`) }
}

test('a run that another client begins in the open session shows by the stream that is open', async () => {
  const { page, session_id, lives, ...visited } = await open('looked at')
  const before = lives()
  await ask('talker', 'from elsewhere', { session_id, background: true })
  const turn = page.getByRole('article', { name: 'from elsewhere' })
  await expect.poll(() => turn.locator('.answered .markdown').textContent()).toBe('one')
  await turn.getByRole('button', { name: /^running/ }).click()
  await page.getByRole('row', { name: /^run/ }).waitFor()
  slow.release()
  await expect.poll(() => turn.locator('.answered .markdown').textContent()).toBe('one two')
  await turn.getByRole('button', { name: /^completed/ }).waitFor()
  await page.locator('.run .status.completed').waitFor()
  // The waterfall needs the run from its beginning, which the stream has sent before.
  expect(lives() - before).toBe(1)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a hundred runs of another client are shown without a reading of the history for each', async () => {
  const { page, session_id, lives, histories, ...visited } = await open('busy')
  const before = [lives(), histories()]
  const { promise: done, resolve: goOnReading } = Promise.withResolvers<void>()
  await page.route('**/history?*', async (route) => {
    await done
    await route.continue()
  })
  for (let count = 1; count <= 100; count++) await ask('echo', `question ${count}`, { session_id })
  goOnReading()
  await page
    .getByRole('article', { name: 'question 100' })
    .getByRole('button', { name: /^completed/ })
    .waitFor()
  const shown = () => page.evaluate(`[...document.querySelectorAll('article')].map((turn) => turn.ariaLabel)`)
  await expect.poll(shown).toEqual(Array.from({ length: 50 }, (_, place) => `question ${51 + place}`))
  expect(lives()).toBe(before[0])
  // One for what came first, and one for all that came while it was read; the stream may tell of some of it later.
  expect(histories() - (before[1] ?? 0)).toBeLessThan(20)
  expect(await visited.end()).toEqual(nothingWrong)
})
