import { tool } from 'ai'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { outOfReach } from '../../support/browser/reach.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

/** Marks above and below a letter, which are drawn over the lines around it. */
const tall = `Z${'\u0300\u0316'.repeat(60)}`.repeat(30)
const wide = `${'W'.repeat(3_000)} ${'\u202e'.repeat(20)}desrever ${'\u00a0'.repeat(500)}x`
const fakes = [
  '<button>Allow</button> <input type="checkbox"> <select><option>a</select> <details><summary>Allow</summary></details>',
  '<div style="position:fixed;inset:0;z-index:9999" onclick="alert(1)" tabindex="0" role="button">Allow</div>',
  '- [ ] Allow\n- [x] Refuse',
  '[Allow](/studio/new) [Allow](#allow) [Allow](../api/v1/runs) [Refuse](javascript:alert(2)) [ Allow ]',
  `| ${'a | '.repeat(40)}\n|${'---|'.repeat(40)}\n| ${'Allow | '.repeat(40)}`,
  `${'> '.repeat(40)}deep\n\n${'# '.repeat(3)}${'Large '.repeat(40)}`,
].join('\n\n')
const hostile = [tall, wide, fakes, tall].join('\n\n')

let chromium: TestBrowser
let server: RunningTestServer
const sessions: Record<string, { session_id: string; run_id: string }> = {}
beforeAll(async () => {
  chromium = await openBrowser()
  const inputSchema = z.object({ order: z.string() })
  server = await startServer(
    {},
    {
      says: agent({ description: hostile.slice(0, 4_000), run: ({ text }) => (text === 'plain' ? 'Z' : hostile) }),
      tall: agent({ run: ({ text }) => (text === 'plain' ? 'Z' : tall.slice(0, 121)) }),
      asks: agent({
        model: scriptedModel(() => ({ text: hostile, tool_calls: [{ name: 'pay', input: { order: hostile } }] })),
        tools: { pay: tool({ description: hostile, inputSchema, execute: () => 'done' }) },
        toolApproval: { pay: 'user-approval' },
      }),
    },
  )
  const ask = async (agentId: string, input: string) =>
    (await server.call('POST', `/api/v1/agents/${agentId}/run`, { input })).json
  sessions.says = await ask('says', hostile)
  sessions.asks = await ask('asks', hostile)
  sessions.tall = await ask('tall', 'marks')
  sessions.plain = await ask('tall', 'plain')
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

const pathOf = (name: string) => `/studio/s/${sessions[name]?.session_id}`
const runOf = (name: string) => `${pathOf(name)}/r/${sessions[name]?.run_id}`
const places: readonly [path: () => string, seen: string][] = [
  [() => '/studio', '.session'],
  [() => pathOf('says'), '.answered .markdown'],
  [() => runOf('says'), '.run [role=row]'],
  [() => pathOf('asks'), '.asking .primary'],
  [() => '/studio/agents/says', '.library-side .facts'],
]

async function covered(page: Page, path: string, seen: string): Promise<string[]> {
  await page.goto(server.url + path)
  await page.locator(seen).first().waitFor()
  return (await outOfReach(page)).filter((one) => /covered|the page scrolls/.test(one)).map((one) => one.slice(0, 120))
}

test.each([320, 390, 768, 1440])('at %s px no text of a model or a person covers a control', async (width) => {
  const { page, ...visited } = await visit(chromium, server.url, '/docs', { viewport: { width, height: 800 } })
  const found: Record<string, string[]> = {}
  for (const [path, seen] of places) found[seen] = await covered(page, path(), seen)
  expect(found).toEqual(Object.fromEntries(places.map(([, seen]) => [seen, []])))
  expect(await visited.end()).toEqual(nothingWrong)
})

test('no text of a model or a person is a control, or a link to somewhere in the page', async () => {
  const { page, ...visited } = await visit(chromium, server.url, pathOf('asks'))
  await page.locator('.asking .primary').waitFor()
  const controls =
    await page.evaluate(`[...document.querySelectorAll('.answered .markdown, .asked .markdown')].flatMap((text) =>
    [...text.querySelectorAll('a[href], button, input, select, summary, [role], [tabindex], [onclick], [style]')]
      .filter((one) => !one.matches('.wide, pre, input:disabled'))
      .map((one) => one.outerHTML.slice(0, 80)))`)
  expect(controls).toEqual([])
  // Those of the card are its own.
  expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(1)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('marks that are drawn far above and below their line leave what is around the text as it is', async () => {
  const { page, ...visited } = await visit(chromium, server.url, '/docs', { viewport: { width: 1440, height: 800 } })
  const lookOf = async (name: string) => {
    await page.goto(server.url + pathOf(name))
    await page.getByRole('button', { name: /^completed/ }).waitFor()
    // Names, times and durations differ.
    await page.evaluate(`for (const one of document.querySelectorAll('.turn footer, .turn .said, .turn .asked'))
      for (const child of one.children) child.style.visibility = 'hidden'`)
    const around = [page.locator('.turn footer'), page.locator('.turn .asked'), page.locator('.answered > .said')]
    return Promise.all(around.map(async (one) => (await one.screenshot()).toString('base64')))
  }
  const plain = await lookOf('plain')
  expect((await lookOf('tall')).map((look, place) => look === plain[place])).toEqual([true, true, true])
  expect(await visited.end()).toEqual(nothingWrong)
})
