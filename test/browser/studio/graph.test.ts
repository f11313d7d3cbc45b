import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EmittedEvent } from '../../../src/core/event.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer
let goOn = Promise.withResolvers<void>()

beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      flow: workflow({
        async run({ step }) {
          await step('fetch', () => 1)
          const both = [step('prices', () => goOn.promise), step('stock', () => goOn.promise)]
          await Promise.all(both)
          for (let round = 0; round < 2; round++) await step('check', () => round)
          return step('report', () => 'done')
        },
      }),
      loops: agent({
        async *run(): AsyncGenerator<EmittedEvent> {
          for (let place = 0; place < 12; place++) {
            yield { type: 'model_call_start', call_id: `c${place}`, model: 'own/small' }
            yield { type: 'model_call_end', call_id: `c${place}`, usage: null, finish_reason: 'stop', duration_ms: 1 }
            yield { type: 'tool_call', call_id: `t${place}`, name: '<b>look</b>', input: {} }
            const error = place === 7 ? { error: { message: 'gone' } } : { output: 1 }
            yield { type: 'tool_result', call_id: `t${place}`, name: '<b>look</b>', ...error, duration_ms: 1 }
          }
        },
      }),
    },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

async function open(id: string) {
  goOn = Promise.withResolvers<void>()
  const { json } = await server.call('POST', `/api/v1/agents/${id}/run`, { input: 'go', background: true })
  const visited = await visit(chromium, server.url, `/studio/s/${json.session_id}/r/${json.run_id}`)
  await visited.page.getByRole('tab', { name: 'Graph' }).click()
  return visited
}
const graph = (page: Page) => page.getByRole('figure', { name: /^Graph of the run/ })

/** Nodes that cover each other, by their names. */
const covered = `[...document.querySelectorAll('.graph-node')].flatMap((one, place, all) => all.slice(place + 1).filter((other) => {
  const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()]
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}).map((other) => one.textContent + ' on ' + other.textContent))`

/** Names that are not wholly in their nodes. */
const hidden = `[...document.querySelectorAll('.graph-node')].flatMap((node) => {
  const [box, name] = [node, node.querySelector('.name')].map((one) => one.getBoundingClientRect())
  return name.top >= box.top && name.bottom <= box.bottom && name.right <= box.right ? [] : [node.textContent]
})`

test('a workflow is drawn as it runs: branches beside each other, a loop each time around', async () => {
  const { page, ...visited } = await open('flow')
  await graph(page)
    .getByRole('link', { name: /stock , running$/ })
    .waitFor()
  const [one, other] = await Promise.all(
    ['prices', 'stock'].map((name) =>
      graph(page)
        .getByRole('link', { name: new RegExp(`^step ${name}`) })
        .boundingBox(),
    ),
  )
  expect(one?.y).toBe(other?.y)
  goOn.resolve()
  await graph(page)
    .getByRole('link', { name: /^step report/ })
    .waitFor()
  await page.locator('.run .status.completed').waitFor()
  expect(await treeOf(graph(page))).toMatchInlineSnapshot(`
    "- figure "Graph of the run, each step":
      - list:
        - listitem:
          - link "run flow , done, leads to fetch":
            - /url: /studio/s/ses_…/r/run_…/e/1
        - listitem:
          - link "step fetch , done, leads to prices, stock":
            - /url: /studio/s/ses_…/r/run_…/e/2
        - listitem:
          - link "step prices , done, leads to check":
            - /url: /studio/s/ses_…/r/run_…/e/4
        - listitem:
          - link "step stock , done, leads to check":
            - /url: /studio/s/ses_…/r/run_…/e/5
        - listitem:
          - link "step check , done, leads to check":
            - /url: /studio/s/ses_…/r/run_…/e/8
        - listitem:
          - link "step check , done, leads to report":
            - /url: /studio/s/ses_…/r/run_…/e/10
        - listitem:
          - link "step report , done":
            - /url: /studio/s/ses_…/r/run_…/e/12"
  `)
  expect(await page.evaluate(covered)).toEqual([])
  expect(await page.evaluate(hidden)).toEqual([])
  expect(await page.locator('.graph-edge').count()).toBe(7)
  expect(await lookAt(page)).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a node leads to its step, by keys too, without the page being read again', async () => {
  const { page, ...visited } = await open('flow')
  goOn.resolve()
  const report = graph(page).getByRole('link', { name: /^step report/ })
  await report.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: /report/ }).waitFor()
  expect(await report.getAttribute('aria-current')).toBe('true')
  expect(visited.urls.filter((url) => url.endsWith('/r/') || /\/r\/[^/]+$/.test(url)).length).toBe(1)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('many steps are put together by name, with how often and what went wrong, and can be seen one by one', async () => {
  const { page, ...visited } = await open('loops')
  await page.locator('.run .status.completed').waitFor()
  expect(await treeOf(graph(page))).toMatchInlineSnapshot(`
    "- figure "Graph of the run, steps of one name together":
      - list:
        - listitem:
          - link "run loops , done, leads to own/small":
            - /url: /studio/s/ses_…/r/run_…/e/1
        - listitem:
          - link "model own/small ×12 , done, leads to <b>look</b>":
            - /url: /studio/s/ses_…/r/run_…/e/46
        - listitem:
          - link "tool <b>look</b> ×12 , failed, leads to own/small":
            - /url: /studio/s/ses_…/r/run_…/e/32"
  `)
  await page.getByRole('button', { name: 'Each step' }).click()
  await expect.poll(() => graph(page).getByRole('link').count()).toBe(25)
  expect(await page.evaluate(covered)).toEqual([])
  expect(await lookAt(page)).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
})
