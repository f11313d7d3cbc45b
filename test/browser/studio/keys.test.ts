import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer
beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer()
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

test('the keys are told, Escape closes what is open, and the focus is where it was', async () => {
  const { page, ...visited } = await visit(chromium, server.url, '/studio')
  await page.getByRole('button', { name: 'New chat' }).focus()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  expect(await lookAt(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('New chat')
  expect(await visited.end()).toEqual(nothingWrong)
})

test('keys write in fields, and do nothing once they are turned off, also after a visit', async () => {
  const { page, ...visited } = await visit(chromium, server.url, '/studio')
  await page.getByRole('textbox', { name: /Message/ }).pressSequentially('n?gc')
  expect(await page.getByRole('textbox', { name: /Message/ }).inputValue()).toBe('n?gc')
  await page.getByRole('button', { name: 'New chat' }).focus()
  await page.keyboard.press('?')
  await page.getByRole('checkbox', { name: /Single keys/ }).uncheck()
  await page.keyboard.press('Escape')
  await page.reload()
  await page.getByRole('button', { name: 'New chat' }).focus()
  await page.keyboard.press('?')
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(await visited.end()).toEqual(nothingWrong)
})
