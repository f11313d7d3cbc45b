import { afterAll, beforeAll, expect, it } from 'vitest'
import { openBrowser, type TestBrowser } from '../support/browser/browser.ts'

let opened: TestBrowser

beforeAll(async () => {
  opened = await openBrowser()
})

afterAll(() => opened?.close())

it('the browser of the tests finds its fonts in its own folder: a word has a width', async () => {
  const page = await opened.browser.newPage()
  await page.setContent(
    '<span style="font: 20px sans-serif">width</span><span style="font: 20px monospace">mono</span>',
  )
  const boxes = await Promise.all((await page.locator('span').all()).map((span) => span.boundingBox()))
  expect(boxes.map((box) => (box?.width ?? 0) > 20)).toEqual([true, true])
  await page.close()
})
