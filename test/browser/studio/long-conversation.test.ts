import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer
beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      hours: agent({
        model: scriptedModel(() => ({
          reasoning: 'Winter is cold.',
          text: 'At **nine** [1]. Not [7].\n\n```ts\nconst open = 9\n```',
        })),
        knowledge: true,
      }),
    },
  )
  const content = '# Opening hours\n\nFrom November to March the office opens at nine in winter.'
  await server.call('POST', '/api/v1/knowledge/content', { content, source: 'docs/hours.md' })
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

test('the sources of a turn lead to their passages, its reasoning is folded, its code coloured', async () => {
  const { json } = await server.call('POST', '/api/v1/agents/hours/run', {
    input: 'When does the office open in winter?',
  })
  const { page, ...visited } = await visit(chromium, server.url, `/studio/s/${json.session_id}`)
  const turn = page.getByRole('article')
  await turn.getByRole('list', { name: 'Sources' }).waitFor()
  await turn.locator('.code-keyword').waitFor()
  expect(await treeOf(turn)).toMatchInlineSnapshot(`
    "- article "When does the office open in winter?":
      - heading "You" [level=3]
      - time: …
      - paragraph: When does the office open in winter?
      - heading "hours" [level=3]
      - time: …
      - group: Reasoning
      - paragraph:
        - text: At
        - strong: nine
        - text: "["
        - link "1":
          - /url: /studio/s/ses_…/r/run_…/e/2?view=passages
        - text: "]. Not [7]."
      - figure "ts Copy code":
        - text: ts
        - button "Copy code": copy
        - code: const open = 9
      - list "Sources":
        - listitem:
          - link "[1] docs/hours.md:1–3":
            - /url: /studio/s/ses_…/r/run_…/e/2?view=passages
      - button "completed … s · 20 tokens · –""
  `)
  expect(await lookAt(page)).toEqual([])
  await turn.locator('a.cite').click()
  await page.waitForURL(/\/e\/\d+\?view=passages$/)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('the colours of code can be read, in light and dark', async () => {
  const code = "// a\nconst b = f('c', 1)"
  const input = `\`\`\`ts\n${code}\n\`\`\`\n\n\`\`\`json\n{"d": 1}\n\`\`\`\n\n\`\`\`diff\n-e\n+f\n\`\`\``
  const { json } = await server.call('POST', '/api/v1/agents/echo/run', { input })
  const { page, ...visited } = await visit(chromium, server.url, `/studio/s/${json.session_id}`)
  for (const kind of ['comment', 'keyword', 'name', 'string', 'value', 'key', 'removed', 'added']) {
    await page.locator(`.code-${kind}`).first().waitFor()
  }
  expect(await page.locator('.code code').first().textContent()).toBe(code)
  expect(await lookAt(page)).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
})

test('of 130 turns fifty are mounted, earlier and later ones on demand', async () => {
  const { json } = await server.call('POST', '/api/v1/agents/echo/run', { input: 'turn 1' })
  for (let turn = 2; turn <= 130; turn++) {
    await server.call('POST', '/api/v1/agents/echo/run', { input: `turn ${turn}`, session_id: json.session_id })
  }
  const { page, ...visited } = await visit(chromium, server.url, `/studio/s/${json.session_id}`)
  const turns = page.getByRole('article')
  const ends = async () => [
    await turns.count(),
    await turns.first().getAttribute('aria-label'),
    await turns.last().getAttribute('aria-label'),
  ]
  await page.getByRole('article', { name: 'turn 130', exact: true }).waitFor()
  expect(await ends()).toEqual([50, 'turn 81', 'turn 130'])
  await page.getByRole('button', { name: 'Earlier turns' }).click()
  await expect.poll(ends).toEqual([50, 'turn 56', 'turn 105'])
  for (const first of ['turn 31', 'turn 6', 'turn 1']) {
    await page.getByRole('button', { name: 'Earlier turns' }).click()
    await expect.poll(async () => (await ends())[1]).toBe(first)
  }
  expect(await page.getByRole('button', { name: 'Earlier turns' }).count()).toBe(0)
  expect(await lookAt(page)).toEqual([])
  // What is new is not mounted beside what is read.
  await server.call('POST', '/api/v1/agents/echo/run', { input: 'turn 131', session_id: json.session_id })
  expect(await ends()).toEqual([50, 'turn 1', 'turn 50'])
  for (const last of ['turn 75', 'turn 100', 'turn 125', 'turn 131']) {
    await page.getByRole('button', { name: 'Later turns' }).click()
    await expect.poll(async () => (await ends())[2]).toBe(last)
  }
  expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(3500)
  expect(await visited.end()).toEqual(nothingWrong)
})
