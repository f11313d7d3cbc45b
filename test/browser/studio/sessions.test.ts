import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fillSessions } from '../../../bench/many-sessions.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { emptyDatabase } from '../../support/empty-database.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const count = 3000
/** One a minute, from the first of January on. */
const timeOf = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString()

let chromium: TestBrowser
let server: RunningTestServer
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-'))
  const path = await emptyDatabase('sessions', join(folder, 'agentserve.db'))
  const store = sqliteStore({ path, synchronous: 'NORMAL' })
  await store.open()
  await fillSessions(store, count, timeOf)
  await store.close()
  chromium = await openBrowser()
  server = await startServer(
    { sessionStorage: { type: 'sqlite', path, synchronous: 'NORMAL' } },
    { left: agent({ run: () => 'from the left' }), both: team({ mode: 'parallel', members: ['left'] }) },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
  await rm(folder, { recursive: true, force: true })
})

const open = async (path = '/studio') => {
  const visited = await visit(chromium, server.url, path, { timezoneId: 'UTC' })
  const { page } = visited
  return { ...visited, list: page.getByRole('listbox', { name: 'Sessions' }), reads: () => readsOf(visited.urls) }
}
/** Without the reading of those that wait. */
const readsOf = (urls: readonly string[]) =>
  urls.filter((url) => url.includes('/api/v1/sessions?') && !url.includes('status=input_required')).length
const focused = (page: Page) =>
  page.evaluate(
    'document.activeElement === document.body ? "none" : document.activeElement.textContent',
  ) as Promise<string>
const scrollTo = (page: Page, top: number) => page.evaluate(`document.querySelector('.virtual').scrollTop = ${top}`)
const rowsOf = (page: Page) => page.locator('.session .title')
const say = async (input: string, agentId = 'echo') =>
  (await server.call('POST', `/api/v1/agents/${agentId}/run`, { input })).json as { session_id: string }

describe('3,000 sessions', () => {
  test('are all reached by keys, with the focus, and few are mounted and read at a time', async () => {
    const { page, list, reads, ...visited } = await open()
    await list.getByRole('option', { name: /number 2999/ }).focus()
    expect(reads()).toBe(1)
    expect(await lookAt(page)).toEqual([])
    for (const key of ['j', 'ArrowDown', 'k', 'PageDown', 'PageUp', 'ArrowDown']) await page.keyboard.press(key)
    expect(await focused(page)).toContain('number 2997')
    await page.keyboard.press('End')
    await expect.poll(() => focused(page)).toContain('number 0?')
    expect(await page.locator(':focus').getAttribute('aria-posinset')).toBe('3000')
    expect(await page.locator(':focus').getAttribute('aria-setsize')).toBe('3000')
    expect(reads()).toBe(60)
    expect(await page.locator('.session').count()).toBeLessThan(60)
    await page.keyboard.press('Home')
    await expect.poll(() => focused(page)).toContain('number 2999')
    expect(reads()).toBe(61)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/studio/s/ses-2998')
    expect(await list.getByRole('option', { selected: true }).textContent()).toContain('number 2998')
    expect(await visited.end()).toEqual(nothingWrong)
  })

  test('scroll to their end, and anywhere that was read, without a row that stays blank', async () => {
    const { page, list, ...visited } = await open()
    await list.getByRole('option', { name: /number 2999/ }).waitFor()
    const last = list.getByRole('option', { name: /number 0\?/ })
    await list.hover()
    const fling = async () => {
      await page.mouse.wheel(0, 20_000)
      return last.count()
    }
    await expect.poll(fling).toBe(1)
    await scrollTo(page, 44 * 1500)
    await list.getByRole('option', { name: /number 1499\?/ }).waitFor()
    await expect.poll(() => page.locator('.skeleton').count()).toBe(0)
    expect(await visited.end()).toEqual(nothingWrong)
  })
})

describe('what changes meanwhile', () => {
  test('waits above a list that is scrolled, where only the row that changes is drawn', async () => {
    const { page, list, ...visited } = await open()
    await list.getByRole('option', { name: /number 2999/ }).waitFor()
    await scrollTo(page, 44 * 20)
    await list.getByRole('option', { name: /number 2972/ }).waitFor()
    const place = () => rowAt(page, 'number 2972')
    const before = await place()
    await page.evaluate(`(() => {
      window.drawn = new Set()
      const told = ({ target }) => window.drawn.add(target.parentElement?.closest('[role=option]')?.ariaPosInSet ?? 'list')
      new MutationObserver((records) => records.forEach(told))
        .observe(document.querySelector('.virtual'), { subtree: true, childList: true, characterData: true })
    })()`)
    await server.call('POST', '/api/v1/agents/echo/run', { input: 'again', session_id: 'ses-2972' })
    await list.getByRole('option', { name: /number 2972.*4 runs.*now/ }).waitFor()
    await say('one')
    const { session_id: other } = await say('two')
    await page.getByRole('button', { name: '3 newer' }).waitFor()
    expect([await place(), await page.evaluate('[...window.drawn]')]).toEqual([before, ['28']])
    await server.call('DELETE', '/api/v1/sessions/ses-2990')
    await list
      .getByRole('option', { name: /number 2972/, includeHidden: true })
      .and(page.locator('[aria-posinset="27"]'))
      .waitFor()
    expect(await place()).toBe(before)
    await page.getByRole('button', { name: '3 newer' }).click()
    await list.getByRole('option', { name: /^two/ }).waitFor()
    expect((await rowsOf(page).allTextContents()).slice(0, 3)).toEqual(['two', 'one', expect.stringContaining('2972')])
    await expect.poll(() => focused(page)).toContain('two')
    await server.call('DELETE', `/api/v1/sessions/${other}`)
    await expect.poll(() => focused(page)).toContain('one')
    expect(await visited.end()).toEqual(nothingWrong)
  })
})

/** How far below the top of the screen the row is. */
function rowAt(page: Page, text: string): Promise<number | undefined> {
  return page
    .locator('.session', { hasText: text })
    .boundingBox()
    .then((box) => box?.y)
}

describe('a filter', () => {
  test('is chosen by keys, kept in the address, and exact while runs begin and end', async () => {
    const { page, list, ...visited } = await open()
    await page.getByRole('button', { name: 'Failed' }).press('Enter')
    await page.waitForURL('**?status=failed')
    await page.getByText('600 sessions').first().waitFor()
    expect(await page.getByRole('button', { name: 'Failed' }).getAttribute('aria-pressed')).toBe('true')
    expect(await lookAt(page)).toEqual([])
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('both')
    await page.getByText('No failed session of both.').waitFor()
    // It is said a moment after it is seen.
    await page.getByRole('status').filter({ hasText: 'No failed session of both' }).waitFor()
    expect(await treeOf(page.getByRole('navigation', { name: 'Sessions' }))).toMatchInlineSnapshot(`
      "- navigation "Sessions":
        - button "New chat"
        - text: Agent
        - combobox "Agent":
          - option "all agents"
          - option "echo"
          - option "docs"
          - option "left"
          - option "both" [selected]
        - group "Status of the last turn":
          - text: Status of the last turn
          - button "All"
          - button "Running"
          - button "Waiting"
          - button "Failed" [pressed]
          - text: Another status
          - combobox "Another status":
            - option "other…" [selected]
            - option "queued"
            - option "completed"
            - option "cancelled"
            - option "interrupted"
        - text: 0 sessions
        - button "jump to date…"
        - status: No failed session of both
        - paragraph:
          - text: No failed session of both.
          - button "Show all sessions""
    `)
    expect(await lookAt(page)).toEqual([])
    await page.getByRole('button', { name: 'All', exact: true }).click()
    await say('ask the team', 'both')
    await list.getByRole('option', { name: /^ask the team/ }).waitFor()
    await say('somebody else')
    await say('ask again', 'both')
    await list.getByRole('option', { name: /^ask again/ }).waitFor()
    await page.getByText('2 sessions').first().waitFor()
    expect(await rowsOf(page).allTextContents()).toEqual(['ask again', 'ask the team'])
    await page.getByLabel('Another status').selectOption('cancelled')
    await page.getByRole('button', { name: 'Show all sessions' }).click()
    expect(await focused(page)).not.toBe('none')
    await list.getByRole('option', { name: /^somebody else/ }).waitFor()
    expect(new URL(page.url()).search).toBe('')
    expect(await visited.end()).toEqual(nothingWrong)
  })

  test('begins the list at a day, which the address keeps, and leads back to the newest', async () => {
    const { page, list, ...visited } = await open('/studio/s/ses-2999')
    await page.getByRole('button', { name: 'jump to date…' }).press('Enter')
    expect(await lookAt(page)).toEqual([])
    await page.getByLabel('Until').fill('2026-01-02')
    await page.keyboard.press('Enter')
    await list.getByRole('option', { name: /number 2879/ }).waitFor()
    await expect.poll(() => focused(page)).toBe('until 2026-01-02')
    expect(await rowsOf(page).first().textContent()).toContain('number 2879')
    expect(new URL(page.url()).pathname).toBe('/studio/s/ses-2999')
    await page.reload()
    await list.getByRole('option', { name: /number 2879/ }).waitFor()
    await page.getByText('2,880 sessions').first().waitFor()
    await page.getByRole('button', { name: 'Back to the newest' }).click()
    // The button is gone: its column has the focus.
    await expect.poll(() => focused(page)).toMatch(/^New chat/)
    await list.getByRole('option', { name: /number 2999/, includeHidden: true }).waitFor()
    expect(await visited.end()).toEqual(nothingWrong)
  })
})

describe('a list that is not there', () => {
  test('shows rows to come after a while, then an error that can be tried again, then that there is none', async () => {
    const { page, list, ...visited } = await open('/studio/help-me-no-page')
    let answer = () => {}
    await page.route('**/api/v1/sessions?*', async (route) => {
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      await route.fulfill({ status: 403, json: { error: { code: 'forbidden', message: 'Not for you.' } } })
    })
    await page.getByRole('link', { name: 'All sessions' }).click()
    await list.getByText('Reading…').first().waitFor()
    expect(await treeOf(list)).toMatchInlineSnapshot(`
      "- listbox "Sessions":
        - option "Reading…" [disabled]
        - option "Reading…" [disabled]
        - option "Reading…" [disabled]
        - option "Reading…" [disabled]
        - option "Reading…" [disabled]
        - option "Reading…" [disabled]
        - option "Reading…" [disabled]
        - option "Reading…" [disabled]"
    `)
    expect(await lookAt(page)).toEqual([])
    answer()
    await page.getByRole('alert').filter({ hasText: 'Sessions could not be read: Not for you.' }).waitFor()
    expect(await lookAt(page)).toEqual([])
    await page.unroute('**/api/v1/sessions?*')
    const none = { sessions: [], count: 0, next_cursor: null, total: 0 }
    await page.route('**/api/v1/sessions?*', (route) => route.fulfill({ json: none }))
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('No session yet.').waitFor()
    expect(await lookAt(page)).toEqual([])
    const { errors, ...rest } = await visited.end()
    expect({ ...rest, errors: errors.every((error) => error.includes('403')) }).toEqual({
      ...nothingWrong,
      errors: true,
    })
  })
})
