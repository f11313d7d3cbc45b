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

/** What `look` finds on each page. */
async function onEachPage(page: Page, look: (page: Page) => Promise<string[]>): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const [name, path, seen] of places) {
    await page.goto(studio.server.url + path())
    await page.locator(seen).first().waitFor()
    const wrong = await look(page)
    if (wrong.length > 0) found[name] = wrong
  }
  return found
}

describe.each([
  { size: 'at 320 px', viewport: { width: 320, height: 640 }, text: 16 },
  { size: 'at 768 px', viewport: { width: 768, height: 1024 }, text: 16 },
  { size: 'at 1100 px', viewport: { width: 1100, height: 700 }, text: 16 },
  { size: 'with text of 200 % at 1440 px', viewport: { width: 1440, height: 900 }, text: 32 },
  { size: 'with text of 200 % at 2560 px', viewport: { width: 2560, height: 1400 }, text: 32 },
])('$size', ({ viewport, text }) => {
  test('nothing is cut or covered, and the page never scrolls sideways', async () => {
    const { page, end } = await visit(chromium, studio.server.url, '/docs', { viewport })
    // As a person sets it in the browser.
    const browser = await page.context().newCDPSession(page)
    await browser.send('Page.setFontSizes', { fontSizes: { standard: text, fixed: text } })
    expect(await onEachPage(page, outOfReach)).toEqual({})
    expect(await page.evaluate('getComputedStyle(document.body).fontSize')).toBe(`${(text * 14) / 16}px`)
    expect(await end()).toEqual(nothingWrong)
  })
})

const drawn = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))'

test('text of another size, set after the page has come, is not cut or covered', async () => {
  const viewport = { width: 1440, height: 900 }
  const { page, end } = await visit(chromium, studio.server.url, '/docs', { viewport })
  const browser = await page.context().newCDPSession(page)
  const resize = async (text: number) => {
    await browser.send('Page.setFontSizes', { fontSizes: { standard: text, fixed: text } })
    await page.evaluate(drawn)
  }
  const look = async () => {
    await resize(32)
    const larger = await outOfReach(page)
    await resize(16)
    return [...larger, ...(await outOfReach(page))]
  }
  expect(await onEachPage(page, look)).toEqual({})
  expect(await end()).toEqual(nothingWrong)
})

/* As WCAG 2.2 has it in 1.4.12. */
const spaced = `(() => {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important } ' +
    'p { margin-bottom: 2em !important }')
  document.adoptedStyleSheets = [sheet]
})()`

test.each([
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
])('who spaces the text more reads all of it at $width px', async (viewport) => {
  const { page, end } = await visit(chromium, studio.server.url, '/docs', { viewport })
  const look = async () => {
    await page.evaluate(spaced)
    return outOfReach(page)
  }
  expect(await onEachPage(page, look)).toEqual({})
  expect(await end()).toEqual(nothingWrong)
})

/* In the page: what is pressed and lower or narrower than that. A link in a line of text is as high as the line, and a field is pressed by its label too. */
const tooSmall = (px: number) => `(() => {
  const found = []
  for (const one of document.querySelectorAll('a[href], button, input, select, textarea, summary, [role=option], [role=row]')) {
    if (!one.checkVisibility() || one.closest('.hidden, .skip') !== null) continue
    if (one.matches('a, summary') && getComputedStyle(one).display === 'inline') continue
    const { width, height } = (one.closest('label') ?? one).getBoundingClientRect()
    if (Math.min(width, height) < ${px} - 0.5) found.push(one.outerHTML.slice(0, 120) + ' ' + width + ' × ' + height)
  }
  return found
})()`

test.each([
  { device: 'on a phone', viewport: { width: 390, height: 844 }, px: 44 },
  { device: 'on a desk', viewport: { width: 1440, height: 900 }, px: 24 },
])('$device all that is pressed has at least $px px', async ({ viewport, px }) => {
  const { page, end } = await visit(chromium, studio.server.url, '/docs', { viewport })
  expect(await onEachPage(page, () => page.evaluate(tooSmall(px)) as Promise<string[]>)).toEqual({})
  expect(await end()).toEqual(nothingWrong)
})
