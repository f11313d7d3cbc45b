import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { command } from '../../support/program.ts'
import { openPty } from '../../support/pty.ts'
import { serveWaiting } from '../../support/waiting-runs.ts'

let chromium: TestBrowser
let waiting: Awaited<ReturnType<typeof serveWaiting>>
beforeAll(async () => {
  chromium = await openBrowser()
  waiting = await serveWaiting()
})
afterAll(async () => {
  await Promise.all([chromium?.close(), waiting?.close()])
})

/** A run that waits in a terminal, and two windows that look at it. */
async function threeLookers() {
  const terminal = openPty(waiting.project, ['chat', 'acts'])
  onTestFinished(() => terminal.close())
  await terminal.until('Enter sends')
  terminal.send('wipe\r')
  await terminal.until('needs your answer')
  const { stdout } = await command(waiting.project, ['sessions', 'list', '--json'])
  const { session_id: id } = JSON.parse(stdout.split('\n')[0] ?? '')
  const windows = [
    await visit(chromium, waiting.url, `/studio/s/${id}`),
    await visit(chromium, waiting.url, `/studio/s/${id}`),
  ] as const
  const allow = ({ page }: { page: Page }) => page.getByRole('button', { name: 'Allow' })
  for (const window of windows) await allow(window).waitFor()
  return { terminal, windows, allow }
}

const told = /"output":|acted/

test('what is allowed in a window goes on in the other, and in the terminal that asked', async () => {
  const { terminal, windows, allow } = await threeLookers()
  const [one, other] = windows
  await allow(one).click()
  await terminal.until(/answered elsewhere[\s\S]*acted/)
  for (const { page } of windows) await page.getByText(told).first().waitFor()
  expect(await allow(other).count()).toBe(0)
  terminal.send('and on\r')
  await terminal.until(/acted[\s\S]*and on[\s\S]*and on/)
  for (const { page } of windows) await page.locator('.asked').filter({ hasText: 'and on' }).waitFor()
  for (const window of windows) expect(await window.end()).toEqual(nothingWrong)
})

test('what is allowed in the terminal goes on in both windows', async () => {
  const { terminal, windows, allow } = await threeLookers()
  terminal.send('y\r')
  await terminal.until('acted')
  for (const window of windows) {
    await window.page.getByText(told).first().waitFor()
    expect(await allow(window).count()).toBe(0)
    expect(await window.end()).toEqual(nothingWrong)
  }
})

test('a run that is cancelled while it waits is over in the terminal and both windows', async () => {
  const { terminal, windows } = await threeLookers()
  const { stdout } = await command(waiting.project, ['runs', 'list', '--status', 'input_required', '--json'])
  const { run_id: id } = JSON.parse(stdout.split('\n')[0] ?? '')
  expect(await command(waiting.project, ['runs', 'cancel', id])).toMatchObject({ code: 0 })
  await terminal.until(/ended elsewhere[\s\S]*Enter sends/)
  for (const window of windows) {
    await window.page
      .locator('.turn')
      .getByText(/cancelled/i)
      .first()
      .waitFor()
    expect(await window.end()).toEqual(nothingWrong)
  }
})
