import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { docsPage, docsScript } from '../../src/web/docs-page.ts'
import { pageStyle } from '../../src/web/page-style.ts'
import type { TestBrowser } from '../../test/support/browser/browser.ts'
import { createProject, serve } from '../../test/support/program.ts'

/** In CSS pixels; the picture has as many. */
export const viewport = { width: 1200, height: 800 }

export interface DocsPagePicture {
  png: Uint8Array
  /** Of all that makes the page look as it does: another one means that the picture has to be made again. */
  digest: string
}

/** The documentation page of a new project in a real browser, with the operation that runs an agent open. */
export async function docsPagePicture({ browser }: TestBrowser): Promise<DocsPagePicture> {
  const project = await createProject()
  try {
    const server = await serve(project)
    try {
      const page = await browser.newPage({ viewport, reducedMotion: 'reduce' })
      await page.goto(`${server.url}/docs`)
      const operation = page.locator('#operations-Agents-runAgent')
      await operation.locator('.opblock-summary-control').click()
      await operation.getByRole('button', { name: 'Execute' }).waitFor()
      await page.mouse.move(0, 0)
      await page.evaluate(
        `document.activeElement.blur(); document.getElementById('operations-tag-Agents').scrollIntoView()`,
      )
      const shown: string[] = await page.evaluate(visibleTexts)
      const { version } = createRequire(import.meta.url)('swagger-ui-dist/package.json') as { version: string }
      const digest = createHash('sha256')
      for (const part of [docsPage('/studio', 'API key'), docsScript, pageStyle, version, ...shown])
        digest.update(`${part}\0`)
      return { png: await page.screenshot({ animations: 'disabled' }), digest: digest.digest('hex') }
    } finally {
      await server.stop()
    }
  } finally {
    await project.remove()
  }
}

/** Runs in the page: the texts that are in sight, from the top. */
const visibleTexts = `[...document.querySelectorAll('h1, h2, h3, p, a, span, label')]
  .filter((element) => element.children.length === 0 && element.textContent.trim() !== '')
  .filter((element) => { const { top, bottom } = element.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight && bottom > top })
  .map((element) => element.textContent.trim())`
