import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { focused, focusTrouble } from '../../support/browser/reach.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { startWholeStudio, type WholeStudio } from '../../support/browser/whole-studio.ts'

let chromium: TestBrowser
let studio: WholeStudio
beforeAll(async () => {
  chromium = await openBrowser()
  studio = await startWholeStudio()
})
afterAll(async () => {
  await Promise.all([chromium?.close(), studio?.server.close()])
})

const open = (path = '/studio') => visit(chromium, studio.server.url, path)
const isFocused = async (page: Page, place: Locator) => (await place.and(page.locator(':focus')).count()) > 0

/** Presses the keys one after the other; after each the focus is somewhere, and seen. */
async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) {
    await page.keyboard.press(key)
    await expect.poll(() => focusTrouble(page), { message: `after ${key}` }).toBe('')
  }
}

/** By Tab alone. After the last control of a page it goes to the browser once, and then begins with the first. */
async function tabTo(page: Page, place: Locator, key = 'Tab'): Promise<void> {
  await place.waitFor()
  let rounds = 0
  for (let count = 0; count < 60 && rounds < 2; count++) {
    if (await isFocused(page, place)) return
    await page.keyboard.press(key)
    const trouble = await focusTrouble(page)
    if (trouble === 'nothing has the focus') rounds++
    else expect(trouble).toBe('')
  }
  throw new Error(`${place} can't be reached: the focus is at ${await focused(page)}`)
}

async function write(page: Page, text: string): Promise<void> {
  await page.keyboard.type(text)
  expect(await focusTrouble(page)).toBe('')
}

test('a question is asked and its answer read, its run looked at step by step, by keys alone', async () => {
  const { page, end } = await open()
  await page.getByRole('heading', { name: 'New chat' }).waitFor()
  await press(page, 'Tab', 'Enter')
  expect(await focused(page)).toMatch(/^main/)
  await tabTo(page, page.getByRole('radio', { checked: true }))
  while (!(await page.getByRole('radio', { name: /^desk/ }).isChecked())) await press(page, 'ArrowDown')
  await tabTo(page, page.getByLabel('Message to desk'))
  await write(page, 'When does the office open in winter?')
  await tabTo(page, page.getByRole('button', { name: 'Send' }))
  await press(page, 'Enter')
  await page.locator('.answered strong').waitFor()
  await expect.poll(() => focusTrouble(page)).toBe('')
  await tabTo(page, page.getByLabel('Message to desk'))
  await write(page, 'And in summer?')
  await tabTo(page, page.getByRole('button', { name: 'Send' }))
  await press(page, 'Enter')
  await page.getByRole('article').nth(1).locator('.answered strong').waitFor()
  expect(await focused(page)).toBe('textarea Message desk')

  const completed = page.getByRole('button', { name: /completed/ }).last()
  await tabTo(page, completed, 'Shift+Tab')
  await press(page, 'Enter')
  await page.getByRole('row', { name: /^run/ }).waitFor()
  await press(page, 'l')
  expect(await focused(page)).toMatch(/^div run/)
  await press(page, 'ArrowDown', 'ArrowDown', 'Enter')
  await page.getByRole('region', { name: /^model/ }).waitFor()
  await tabTo(page, page.getByRole('tab', { name: /^Prompt/ }))
  await press(page, 'ArrowRight', 'End', 'Home', 'ArrowRight')
  expect(await page.getByRole('tab', { name: /^Passages/ }).getAttribute('aria-selected')).toBe('true')
  await tabTo(page, page.getByRole('tabpanel'))
  await press(page, '2', ']', '[')
  await tabTo(page, page.getByRole('tab', { name: 'Timeline' }), 'Shift+Tab')
  for (const [key, mode] of [
    ['ArrowRight', 'Compact'],
    ['ArrowRight', 'Events'],
    ['ArrowRight', 'Graph'],
    ['Home', 'Timeline'],
  ] as const) {
    await press(page, key)
    expect(await focused(page)).toMatch(`button ${mode}`)
  }
  await tabTo(page, page.getByRole('button', { name: 'Close the run' }), 'Shift+Tab')
  await press(page, 'Enter')
  await page.getByRole('region', { name: /^Run/ }).waitFor({ state: 'detached' })
  await expect.poll(() => focusTrouble(page)).toBe('')
  expect(await end()).toEqual(nothingWrong)
})

test('an older session is found in the list, renamed and deleted, by keys alone', async () => {
  await studio.ask('echo', 'the oldest of all')
  await studio.ask('echo', 'a newer one')
  const { page, end } = await open()
  await page.getByRole('option', { name: /the oldest/ }).waitFor()
  await tabTo(page, page.locator('.session[tabindex="0"]'))
  while (!(await isFocused(page, page.getByRole('option', { name: /the oldest/ })))) await press(page, 'j')
  await press(page, 'Enter')
  await page.getByRole('heading', { name: 'the oldest of all' }).waitFor()
  await tabTo(page, page.getByRole('button', { name: 'Session…' }))
  await press(page, 'Enter')
  await tabTo(page, page.getByRole('textbox', { name: 'Name' }))
  await write(page, 'renamed')
  await press(page, 'Enter')
  await page.getByText('Saved.').waitFor()
  await tabTo(page, page.getByRole('button', { name: 'Delete…' }))
  await press(page, 'Enter')
  await tabTo(page, page.getByRole('button', { name: 'Delete', exact: true }))
  await press(page, 'Enter')
  await page.getByText('This session has been deleted.').waitFor()
  await expect.poll(() => focusTrouble(page)).toBe('')
  await press(page, 'n')
  await expect.poll(() => focused(page)).toMatch(/^textarea Message/)
  expect(await end()).toEqual(nothingWrong)
})

test('what waits is found, allowed and refused with a reason, by keys alone', async () => {
  const [one, other] = [await studio.ask('refunds', 'refund order 4711'), await studio.ask('refunds', 'the other')]
  const { page, end } = await open()
  await tabTo(page, page.getByRole('link', { name: '2 waiting' }))
  await press(page, 'Enter')
  await page.getByRole('option', { name: /the other/ }).waitFor()
  await tabTo(page, page.locator('.session[tabindex="0"]'))
  await press(page, 'Enter')
  const allow = page.getByRole('button', { name: 'Allow' })
  await allow.waitFor()
  await press(page, 'l')
  await tabTo(page, allow)
  await press(page, 'Enter')
  await page.getByText('Your money is on its way.').waitFor()
  await expect.poll(() => focused(page)).toMatch(/^article/)
  await press(page, 'h')
  await page.getByRole('option', { name: /refund order/ }).waitFor()
  await tabTo(page, page.getByRole('option', { name: /refund order/ }))
  await press(page, 'Enter')
  await allow.waitFor()
  await press(page, 'l')
  await tabTo(page, allow)
  await press(page, 'R')
  await write(page, 'too late')
  await tabTo(page, page.getByRole('button', { name: 'Refuse' }))
  await press(page, 'Enter')
  await page.getByText('refused: too late').waitFor()
  await expect.poll(() => focused(page)).toMatch(/^article/)
  const { json } = await studio.server.call('GET', `/api/v1/runs?status=input_required`)
  expect([one.run_id, other.run_id, json.count]).toEqual([one.run_id, other.run_id, 0])
  expect(await end()).toEqual(nothingWrong)
})

test('messages and passages are searched, and what is found is opened, by keys alone', async () => {
  await studio.ask('echo', 'a word like heliotrope')
  const { page, end } = await open('/studio/agents')
  await page.getByRole('navigation', { name: 'Agents' }).waitFor()
  await press(page, 'Tab', '/')
  await expect.poll(() => focused(page)).toMatch(/^input/)
  await write(page, 'heliotrope')
  await page.getByText('2 messages, newest first').waitFor()
  await press(page, 'ArrowDown', 'j', 'k', 'Enter')
  await page.getByRole('article', { name: /heliotrope/ }).waitFor()
  await expect.poll(() => focusTrouble(page)).toBe('')
  await press(page, 'Escape')
  await page.keyboard.press('g')
  await press(page, 'k')
  await tabTo(page, page.getByRole('searchbox', { name: 'Search the documents' }))
  await write(page, 'office')
  await tabTo(page, page.getByLabel('Filters'))
  await write(page, '{"topic":"none"}')
  await press(page, 'Enter')
  await tabTo(page, page.getByRole('button', { name: 'Clear the filters' }))
  await press(page, 'Enter')
  const hit = page.getByRole('button', { name: /hours\.md:/ }).first()
  await tabTo(page, hit)
  await press(page, 'j', 'k', 'Enter')
  await page.getByRole('article', { name: /^Passage/ }).waitFor()
  await tabTo(page, page.getByRole('link', { name: /^Passage 2/ }).first())
  await press(page, 'Enter')
  await page.getByRole('article', { name: 'Passage 2' }).waitFor()
  await expect.poll(() => focusTrouble(page)).toBe('')
  expect(await end()).toEqual(nothingWrong)
})

test('an agent is looked at, a run is copied, the keys are read, by keys alone', async () => {
  const { session_id, run_id } = await studio.ask('both', 'together')
  const { page, end } = await open(`/studio/s/${session_id}/r/${run_id}`)
  await page.getByRole('row', { name: /^run/ }).waitFor()
  await tabTo(page, page.getByRole('button', { name: 'Copy', exact: true }))
  await press(page, 'Enter', 'ArrowDown', 'End', 'Escape')
  expect(await focused(page)).toBe('button Copy')
  await press(page, 'Tab', '?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await tabTo(page, page.getByRole('checkbox', { name: /Single keys/ }))
  await press(page, 'Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await press(page, 'Tab')
  await page.keyboard.press('g')
  await press(page, 'a')
  await tabTo(page, page.getByRole('link', { name: /^both/ }))
  await press(page, 'Enter')
  await page.getByRole('region', { name: 'team both' }).waitFor()
  await tabTo(page, page.getByRole('link', { name: /^agent desk/ }))
  await press(page, 'Enter')
  await page.getByRole('region', { name: 'agent desk' }).waitFor()
  await expect.poll(() => focusTrouble(page)).toBe('')
  await tabTo(page, page.getByRole('button', { name: 'Copy the id' }))
  await press(page, 'Enter')
  await expect.poll(() => focusTrouble(page)).toBe('')
  expect(await end()).toEqual(nothingWrong)
})
