import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { axe } from '../../support/browser/axe.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
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

/** What moves: all that lasts longer than a frame, or goes on for ever. */
const moving = (page: Page) =>
  page.evaluate(`document.getAnimations().filter(({ effect }) => {
    const { duration, iterations } = effect.getComputedTiming()
    return duration > 1 || iterations === Infinity
  }).map(({ animationName, transitionProperty }) => animationName ?? transitionProperty)`)

/** How often the end of a bar that grows is moved in forty frames. */
const movesOfBars = (page: Page) =>
  page.evaluate(`(async () => {
    let moves = 0
    let last
    for (let frame = 0; frame < 40; frame++) {
      await new Promise((done) => requestAnimationFrame(done))
      const now = document.querySelector('.timeline').style.getPropertyValue('--now')
      if (last !== undefined && now !== last) moves++
      last = now
    }
    return moves
  })()`) as Promise<number>

test('who wants less motion sees none while an answer is written and its run grows', async () => {
  const { session_id, run_id } = await studio.begin('slow')
  studio.say('One')
  const path = `/studio/s/${session_id}/r/${run_id}`
  const { page, end } = await visit(chromium, studio.server.url, path)
  await page.locator('.timeline.is-running .bar-of-step').first().waitFor()
  await page.locator('.caret').waitFor()
  expect(await moving(page)).toEqual(['blink'])
  expect(await movesOfBars(page)).toBeGreaterThan(2)
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.reload()
  await page.locator('.timeline.is-running .bar-of-step').first().waitFor()
  await page.locator('.caret').waitFor()
  expect(await moving(page)).toEqual([])
  // At 60 frames a second: once at most, and once for luck.
  expect(await movesOfBars(page)).toBeLessThanOrEqual(2)
  studio.finish()
  await page.getByRole('button', { name: /completed/ }).waitFor()
  for (const next of ['knowledge?q=office', 'agents/desk', 'search?q=go', 'new']) {
    await page.goto(`${studio.server.url}/studio/${next}`)
    await page.getByRole('heading', { level: 2 }).first().waitFor()
    expect(await moving(page), next).toEqual([])
  }
  expect(await end()).toEqual(nothingWrong)
})

/* In the page: how strongly things differ from what they stand on, as WCAG 2.2 counts it. */
const contrasts = `(() => {
  const parse = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number)
  const light = (colour) => {
    const [r, g, b] = parse(colour).map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const ratio = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b)
    return (high + 0.05) / (low + 0.05)
  }
  const backOf = (one) => {
    for (let at = one; at !== null; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at)
      if ((parse(backgroundColor)[3] ?? 1) === 1) return backgroundColor
    }
    return 'rgb(255, 255, 255)'
  }
  const seen = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility())
  const lowest = (selector, of) => Math.min(...seen(selector).map(of))
  return {
    bars: lowest('.bar-of-step', (one) => ratio(getComputedStyle(one).backgroundColor, backOf(one.parentElement))),
    shapes: lowest('.icon path', (one) => ratio(getComputedStyle(one).fill, backOf(one.closest('svg').parentElement))),
    chosen: lowest('[role=row][aria-selected=true], [role=option][aria-selected=true], [role=tab][aria-selected=true], [aria-pressed=true], [aria-current]',
      (one) => ratio(getComputedStyle(one).backgroundColor, backOf(one.parentElement))),
    focus: lowest(':focus-visible', (one) => ratio(getComputedStyle(one).outlineColor, backOf(one))),
    edges: lowest('button:not(.quiet, .link, .fold, [role=tab], [aria-pressed=true])', (one) => ratio(getComputedStyle(one).borderTopColor, backOf(one.parentElement))),
  }
})()`

test.each(['light', 'dark'] as const)(
  'in the %s colours bars, shapes, edges and the focus are seen',
  async (scheme) => {
    const { session_id, run_id } = await studio.ask('refunds', 'refund order 4711')
    const path = `/studio/s/${session_id}/r/${run_id}/e/3`
    const { page, end } = await visit(chromium, studio.server.url, path, { colorScheme: scheme })
    await page.getByRole('button', { name: 'Allow' }).waitFor()
    await page.locator('.inspector .panel').waitFor()
    await page.getByRole('row').first().focus()
    await page.keyboard.press('Shift+Tab')
    const { chosen: _byALine, ...found } = (await page.evaluate(contrasts)) as Record<string, number>
    expect(Object.keys(found)).toEqual(['bars', 'shapes', 'focus', 'edges'])
    for (const [what, ratio] of Object.entries(found)) {
      expect(ratio, what).toBeGreaterThanOrEqual(3)
      expect(ratio, what).toBeLessThan(22)
    }
    expect(await end()).toEqual(nothingWrong)
  },
)

describe.each(['light', 'dark'] as const)('in the forced colours of a %s system', (colorScheme) => {
  test('bars, states, what is chosen and the focus are seen', async () => {
    const { session_id, run_id } = await studio.ask('refunds', 'refund order 4711')
    const path = `/studio/s/${session_id}/r/${run_id}/e/3`
    const { page, end } = await visit(chromium, studio.server.url, path, { colorScheme, forcedColors: 'active' })
    await page.getByRole('button', { name: 'Allow' }).waitFor()
    await page.locator('.inspector .panel').waitFor()
    for (const row of [page.getByRole('row').first(), page.getByRole('row', { selected: true })]) {
      await row.focus()
      await page.keyboard.press('Shift+Tab')
      await page.keyboard.press('Tab')
      expect(await page.locator(':focus-visible').count()).toBe(1)
      const found = (await page.evaluate(contrasts)) as Record<string, number>
      expect(Object.keys(found)).toEqual(['bars', 'shapes', 'chosen', 'focus', 'edges'])
      for (const [what, ratio] of Object.entries(found)) {
        expect(ratio, what).toBeGreaterThanOrEqual(3)
        expect(ratio, what).toBeLessThan(22)
      }
    }
    expect(await axe(page)).toEqual([])
    for (const next of ['knowledge?q=office', 'agents/desk', 'search?q=order', '']) {
      await page.goto(`${studio.server.url}/studio/${next}`)
      await page.getByRole('heading', { level: 2 }).first().waitFor()
      expect(await axe(page), next).toEqual([])
    }
    expect(await end()).toEqual(nothingWrong)
  })
})
