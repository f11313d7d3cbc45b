import { tool } from 'ai'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { axe } from '../../support/browser/axe.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { heldAgent } from '../../support/browser/held.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const hostile = [
  '<img src=x onerror="alert(1)"> <script>alert(2)</script>',
  '![secret](https://evil.example/?q=all)',
  '[click](javascript:alert(3)) and [out](https://example.org)',
  '`code` **bold** \u202egnp.exe',
].join('\n\n')

const refund = tool({ inputSchema: z.object({ order: z.number() }), execute: () => 'done' })

let chromium: TestBrowser
let server: RunningTestServer
let locked: RunningTestServer
const slow = heldAgent('one ', 'two')
const many: { words: string[] } = { words: [] }

beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      refunds: agent({
        model: scriptedModel(({ prompt }) =>
          prompt.at(-1)?.role === 'tool'
            ? 'Your money is on its way.'
            : { tool_calls: [{ name: 'refund', input: { order: 4711 } }] },
        ),
        tools: { refund },
        toolApproval: { refund: 'user-approval' },
      }),
      hostile: agent({ run: async () => hostile }),
      left: agent({ run: () => 'from the left' }),
      right: agent({ run: () => 'from the right' }),
      both: team({ mode: 'parallel', members: ['left', 'right'] }),
      many: agent({
        async *run() {
          yield* many.words
        },
      }),
      slow: slow.held,
    },
  )
  locked = await startServer({ auth: { keys: ['a-key-for-the-studio', { key: 'key-of-ann-is-this', userId: 'ann' }] } })
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close(), locked?.close()])
})

const open = (path = '/studio', options = {}) => visit(chromium, server.url, path, options)

async function ask(page: Page, agentId: string, text: string): Promise<void> {
  await page.getByRole('radio', { name: new RegExp(`^${agentId} `) }).check()
  await page.getByLabel(`Message to ${agentId}`).fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('article').waitFor()
}

test('a question is asked, and its waterfall opens at a link that stays', async () => {
  const { page, ...visited } = await open()
  await ask(page, 'echo', 'hello **world**')
  await page.locator('.answered strong').waitFor()
  await page.getByRole('button', { name: /completed/ }).click()
  await page.getByRole('row', { name: /^run/ }).click()
  await page.getByRole('tab', { name: 'raw' }).click()
  await page.getByText('run_start').waitFor()
  const linked = await visit(chromium, server.url, new URL(page.url()).pathname + new URL(page.url()).search)
  await linked.page.getByText('run_start').waitFor()
  expect(await linked.page.getByRole('tab', { name: 'raw' }).getAttribute('aria-selected')).toBe('true')
  expect([await visited.end(), await linked.end()]).toEqual([nothingWrong, nothingWrong])
})

test('text comes while it is written, in every window, and Back leads back', async () => {
  const one = await open()
  await ask(one.page, 'slow', 'go')
  await one.page.getByText('one').waitFor()
  const other = await open(new URL(one.page.url()).pathname)
  await other.page.getByText('one').waitFor()
  slow.release()
  for (const { page } of [one, other]) await page.getByText('one two').waitFor()
  for (const { page } of [one, other]) await page.getByRole('button', { name: /completed/ }).waitFor()
  await one.page.goBack()
  await one.page.getByRole('heading', { name: 'New chat' }).waitFor()
  expect([await one.end(), await other.end()]).toEqual([nothingWrong, nothingWrong])
})

test('an approval is given in one window, and shows in both; the second answer is told who was first', async () => {
  const one = await open()
  await ask(one.page, 'refunds', 'please')
  const other = await open(new URL(one.page.url()).pathname)
  for (const { page } of [one, other]) await page.getByRole('button', { name: 'Allow' }).waitFor()
  await one.page.getByRole('button', { name: 'Allow' }).click()
  for (const { page } of [one, other]) {
    await page.getByText('Your money is on its way.').waitFor()
    expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(0)
  }
  expect([await one.end(), await other.end()]).toEqual([nothingWrong, nothingWrong])
})

test('what a model says is text: no markup, no picture, no script, no link that acts', async () => {
  const { page, ...visited } = await open()
  await ask(page, 'hostile', '<b>me too</b>')
  await page.getByText('onerror').waitFor()
  expect(await page.locator('.turn img, .turn script, .turn b').count()).toBe(0)
  const links = await page.evaluate("[...document.querySelectorAll('.turn a')].map(({ href, rel }) => [href, rel])")
  expect(links).toEqual([['https://example.org/', 'noopener noreferrer']])
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a member of a team has a run of its own, and every event can be looked at', async () => {
  const { page, ...visited } = await open()
  await ask(page, 'both', 'go')
  await page.getByRole('button', { name: /completed/ }).click()
  await page.getByRole('row', { name: /^step left/ }).click()
  await page.getByRole('link', { name: 'The run inside this step' }).click()
  await page.getByRole('heading', { name: 'left', exact: true }).waitFor()
  await page.getByRole('tab', { name: /^Events/ }).click()
  await page.getByRole('option', { name: /text_delta "from/ }).click()
  await page.locator('.panel').getByText('text_delta').waitFor()
  await page.getByRole('link', { name: 'inside another run' }).click()
  await page.getByRole('tab', { name: 'Timeline' }).click()
  await page.getByRole('row', { name: /^step right/ }).waitFor()
  expect(visited.paths().filter((path) => path === '/studio')).toHaveLength(1)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('ten thousand events are a list of a few rows', async () => {
  const words = Array.from({ length: 10_000 }, (_, place) => `${place} `)
  many.words = words
  const { json } = await server.call('POST', '/api/v1/agents/many/run', { input: 'go' })
  const { page, ...visited } = await open(`/studio/s/${json.session_id}/r/${json.run_id}`)
  await page.getByRole('tab', { name: 'Events 10,002' }).click()
  const list = page.getByRole('listbox', { name: 'Events of the run' })
  await list.getByRole('option', { name: /run_start/ }).waitFor()
  expect(await list.getByRole('option').count()).toBeLessThan(120)
  await list.press('PageDown')
  expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(3500)
  expect(await visited.end()).toEqual(nothingWrong)
})

describe('with keys', () => {
  test('the page asks for one, says when it is wrong, and keeps it nowhere', async () => {
    const { page, ...visited } = await visit(chromium, locked.url, '/studio')
    await page.getByLabel('This server asks for an API key.').fill('not-the-key')
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByRole('alert').filter({ hasText: /key/ }).waitFor()
    await page.getByLabel('This server asks for an API key.').fill('a-key-for-the-studio')
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByRole('heading', { name: 'New chat' }).waitFor()
    const kept = await page.evaluate('document.cookie + JSON.stringify([localStorage, sessionStorage])')
    expect(visited.urls.join(' ') + kept).not.toContain('a-key-for-the-studio')
    const { errors, ...rest } = await visited.end()
    expect({ ...rest, errors: errors.every((error) => error.includes('401')) }).toEqual({
      ...nothingWrong,
      errors: true,
    })
  })

  test('a user sees nothing of another, by the list, a link or the live stream', async () => {
    const key = { 'x-api-key': 'a-key-for-the-studio' }
    const { json } = await locked.call('POST', '/api/v1/agents/echo/run', { input: 'the secret of bob' }, key)
    const { page, ...visited } = await visit(chromium, locked.url, `/studio/s/${json.session_id}`)
    await page.getByLabel('This server asks for an API key.').fill('key-of-ann-is-this')
    await page.getByRole('button', { name: 'Open' }).click()
    await page
      .getByText(/not found|no session/i)
      .first()
      .waitFor()
    await locked.call('POST', '/api/v1/agents/echo/run', { input: 'another secret of bob' }, key)
    await page.getByText('No session yet.').waitFor()
    expect(await page.locator('body').textContent()).not.toContain('secret of bob')
    await visited.end()
  })
})

describe.each([
  { screen: '1440 px', viewport: { width: 1440, height: 900 } },
  { screen: '390 px', viewport: { width: 390, height: 844 } },
])('at $screen', ({ viewport }) => {
  test.each(['light', 'dark'] as const)('every place is accessible in %s', async (colorScheme) => {
    const { page, ...visited } = await open('/studio', { viewport, colorScheme })
    if (viewport.width < 720) await page.getByRole('button', { name: 'New chat' }).waitFor()
    else await page.getByRole('heading', { name: 'New chat' }).waitFor()
    expect(await axe(page)).toEqual([])
    const { json } = await server.call('POST', '/api/v1/agents/refunds/run', {
      input: '# Title\n\n- a\n- b\n\n```js\n1\n```',
    })
    await page.goto(`${server.url}/studio/s/${json.session_id}`)
    await page.getByRole('button', { name: 'Allow' }).waitFor()
    expect(await axe(page)).toEqual([])
    await page.goto(`${server.url}/studio/s/${json.session_id}/r/${json.run_id}`)
    await page
      .getByRole('row', { name: /^model call/ })
      .first()
      .click()
    await page.getByRole('tab', { name: 'prompt' }).click()
    await page.locator('.prompt').getByText('user').first().waitFor()
    expect(await axe(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(await visited.end()).toEqual(nothingWrong)
  })
})
