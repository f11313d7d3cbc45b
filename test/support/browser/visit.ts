import type { BrowserContextOptions, Page } from 'playwright-core'
import type { TestBrowser } from './browser.ts'

export const nothingWrong = { foreign: [], violations: [], errors: [] }

/** A page in a context of its own, with all that goes wrong in it; `end` closes it and tells. */
export async function visit(chromium: TestBrowser, origin: string, path: string, options: BrowserContextOptions = {}) {
  const context = await chromium.browser.newContext(options)
  const urls: string[] = []
  const errors: string[] = []
  const violations: string[] = []
  context.on('request', (request) => urls.push(request.url()))
  context.on('weberror', (event) => errors.push(event.error().message))
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text())
  })
  await context.exposeFunction('tellViolation', (violation: string) => violations.push(violation))
  await context.addInitScript(`document.addEventListener('securitypolicyviolation', (event) =>
    tellViolation(event.effectiveDirective + ' ' + event.blockedURI))`)
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  findWhatIsSeen(page)
  await page.goto(origin + path)
  return {
    page,
    urls,
    /** Of the requests so far. */
    paths: () => urls.map((url) => new URL(url).pathname),
    async end() {
      await context.close()
      const foreign = urls.filter((url) => !/^(?:data|blob):/.test(url) && new URL(url).origin !== origin)
      return { foreign, violations, errors }
    },
  }
}

/** An answer that has come is on the page, and in the log for screen readers: the text of the page is found by its text. */
function findWhatIsSeen(page: Page): void {
  const { getByText } = page
  page.getByText = (...given) => getByText.apply(page, given).and(page.locator(':not([role=log])'))
}
