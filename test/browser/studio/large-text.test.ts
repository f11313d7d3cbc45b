import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { outOfReach } from '../../support/browser/reach.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type Begun, startWholeStudio, type WholeStudio } from '../../support/browser/whole-studio.ts'

let chromium: TestBrowser
let studio: WholeStudio
const runs: Record<string, Begun> = {}
beforeAll(async () => {
  chromium = await openBrowser()
  studio = await startWholeStudio()
  for (const agentId of ['desk', 'refunds', 'both'])
    runs[agentId] = await studio.ask(agentId, `When does ${agentId} open?`)
})
afterAll(async () => {
  await Promise.all([chromium?.close(), studio?.server.close()])
})

/** Every page, and what is there when all of it has come. */
const places: readonly [name: string, path: () => string, seen: string][] = [
  ['the list', () => '/studio', '.session'],
  ['a new chat', () => '/studio/new', 'textarea'],
  ['a conversation that waits', () => `/studio/s/${runs.refunds?.session_id}`, '.asking .primary'],
  ['a run with its inspector', () => `${runOf('desk')}/e/6?view=prompt`, '.inspector .prompt'],
  ['the passages of a run', () => `${runOf('desk')}/e/6?view=passages`, '.inspector table'],
  ['a run with others inside', () => runOf('both'), '.step.tool, .step.step, .step.model'],
  ['the knowledge base', () => '/studio/knowledge', '.library-list .session'],
  ['a search in it', () => '/studio/knowledge?q=office', '.hits td'],
  ['an agent', () => '/studio/agents/refunds', '.library-side .facts'],
  ['a search', () => '/studio/search?q=when', '.hit'],
]
const runOf = (agentId: string) => `/studio/s/${runs[agentId]?.session_id}/r/${runs[agentId]?.run_id}`

async function look(page: Page, path: string, seen: string): Promise<string[]> {
  await page.goto(studio.server.url + path)
  await page.locator(seen).first().waitFor()
  return outOfReach(page)
}

describe.each([
  { size: 'at 320 px', viewport: { width: 320, height: 640 }, text: 16 },
  { size: 'with text of 200 % at 1440 px', viewport: { width: 1440, height: 900 }, text: 32 },
  { size: 'with text of 200 % at 2560 px', viewport: { width: 2560, height: 1400 }, text: 32 },
])('$size', ({ viewport, text }) => {
  test('nothing is cut or covered, and the page never scrolls sideways', async () => {
    const { page, end } = await visit(chromium, studio.server.url, '/docs', { viewport })
    // As a person sets it in the browser.
    const browser = await page.context().newCDPSession(page)
    await browser.send('Page.setFontSizes', { fontSizes: { standard: text, fixed: text } })
    const found: Record<string, string[]> = {}
    for (const [name, path, seen] of places) found[name] = await look(page, path(), seen)
    expect(found).toEqual(Object.fromEntries(places.map(([name]) => [name, []])))
    expect(await page.evaluate('getComputedStyle(document.body).fontSize')).toBe(`${(text * 14) / 16}px`)
    expect(await end()).toEqual(nothingWrong)
  })
})
