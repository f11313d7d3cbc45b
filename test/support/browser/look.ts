import type { Locator, Page } from 'playwright-core'
import { axe } from './axe.ts'

const looks = [
  { width: 1440, height: 900, colorScheme: 'light' },
  { width: 1440, height: 900, colorScheme: 'dark' },
  { width: 390, height: 844, colorScheme: 'light' },
  { width: 390, height: 844, colorScheme: 'dark' },
] as const

/** What is wrong with the page as it is now, at 1440 and 390 px, light and dark: rules of WCAG 2.2 AA that it breaks, or that it scrolls sideways. */
export async function lookAt(page: Page): Promise<string[]> {
  const before = page.viewportSize()
  const wrong: string[] = []
  for (const { colorScheme, ...size } of looks) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize(size)
    // A page hears of it with the next frame.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    const found = await axe(page)
    if (!(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'))) found.push('scrolls sideways')
    wrong.push(...found.map((what) => `${size.width} px, ${colorScheme}: ${what}`))
  }
  await page.emulateMedia({ colorScheme: null })
  if (before !== null) await page.setViewportSize(before)
  return wrong
}

/** What a screen reader has of it, with `…` for ids, times and durations, which differ from run to run. */
export async function treeOf(place: Locator): Promise<string> {
  const tree = await place.ariaSnapshot()
  return tree
    .replaceAll(/\b([a-z]{2,6})_[0-9A-Za-z]{10,}\b/g, '$1_…')
    .replaceAll(/…[0-9a-z]{6}\b/g, '…')
    .replaceAll(/\b\d+(?:\.\d+)? (?:ms|s|min|h)\b/g, '… s')
    .replaceAll(/\b(?:now|\d+ (?:seconds?|minutes?) ago)\b/g, '…')
    .replaceAll(/\b\d{1,2}:\d{2}(?::\d{2})?(?: [AP]M)?\b/g, '…')
}
