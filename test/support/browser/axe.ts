import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

interface Found {
  id: string
  nodes: { html: string }[]
}

/** What breaks WCAG 2.2 AA on the page as it is now: the rule, and where. Empty when nothing does. */
export async function axe(page: Page): Promise<string[]> {
  // As the debugger does, which no policy of the page forbids.
  await page.evaluate(source)
  const violations = (await page.evaluate(
    `axe.run({ runOnly: { type: 'tag', values: ${JSON.stringify(tags)} } }).then(({ violations }) =>
      violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })))`,
  )) as Found[]
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`))
}
