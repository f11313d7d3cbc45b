import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EmittedEvent } from '../../../src/core/event.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
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
      fails: agent({
        async *run(): AsyncGenerator<EmittedEvent> {
          yield { type: 'tool_call', call_id: 'a', name: 'look', input: {} }
          yield { type: 'tool_result', call_id: 'a', name: 'look', error: { message: 'no such shop' }, duration_ms: 1 }
          yield { type: 'tool_call', call_id: 'b', name: 'tidy', input: {} }
          yield { type: 'tool_result', call_id: 'b', name: 'tidy', output: 1, duration_ms: 1 }
          throw new Error('nothing to tidy')
        },
      }),
      slow: agent({
        async *run() {
          yield 'one '
          await goOn.promise
        },
      }),
      cached: agent({ cache: { ttl: '1h' }, run: () => 'the same' } as Parameters<typeof agent>[0]),
    },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

interface Begun {
  run_id: string
  session_id: string
}
async function begin(id: string, more: object = {}): Promise<Begun> {
  return (await server.call('POST', `/api/v1/agents/${id}/run`, { input: 'go', background: true, ...more })).json
}
const open = ({ session_id, run_id }: Begun) => visit(chromium, server.url, `/studio/s/${session_id}/r/${run_id}`)
const run = (page: Page) => page.getByRole('region', { name: /^Run/ })
const ended = ({ run_id }: Begun) =>
  expect.poll(async () => (await server.call('GET', `/api/v1/runs/${run_id}`)).json.completed_at).not.toBeNull()

test('the step that failed is chosen when all events are there, not before', async () => {
  const begun = await begin('fails')
  await ended(begun)
  const { page, ...visited } = await visit(chromium, server.url, '/studio')
  await page.addInitScript(`{ const real = window.fetch; const { promise, resolve } = Promise.withResolvers()
    window.rest_ = resolve
    window.fetch = async (url, ...more) => {
      const answer = await real(url, ...more)
      if (!url.includes('/events')) return answer
      const text = await answer.text()
      const cut = text.indexOf('\\n\\n') + 2
      const parts = [text.slice(0, cut), promise.then(() => text.slice(cut))]
      const body = new ReadableStream({
        async pull(controller) {
          const part = await parts.shift()
          if (part === undefined) controller.close()
          else controller.enqueue(new TextEncoder().encode(part))
        },
      })
      return new Response(body, answer)
    } }`)
  await page.goto(`${server.url}/studio/s/${begun.session_id}/r/${begun.run_id}`)
  await run(page).getByRole('tab', { name: 'Events 1' }).waitFor()
  // Draws it with the one event that is there.
  await run(page).getByRole('tab', { name: 'Compact' }).click()
  await run(page).getByRole('tab', { name: 'Timeline' }).click()
  await page.evaluate('rest_()')
  const failed = page.getByRole('row', { name: /^tool call look failed/ })
  await expect.poll(() => failed.getAttribute('aria-selected')).toBe('true')
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a run that failed says why, and the step that failed is chosen', async () => {
  const begun = await begin('fails')
  await ended(begun)
  const { page, ...visited } = await open(begun)
  await run(page).getByRole('status').filter({ hasText: 'Failed (' }).waitFor()
  const failed = page.getByRole('row', { name: /^tool call look failed/ })
  await expect.poll(() => failed.getAttribute('aria-selected')).toBe('true')
  expect(await treeOf(run(page).getByRole('treegrid'))).toMatchInlineSnapshot(`
    "- treegrid "Steps of the run, … s":
      - row "run fails failed Fold … s" [expanded] [level=1]:
        - gridcell "run fails failed Fold":
          - text: run fails failed
          - button "Fold"
        - gridcell "… s"
      - row "tool call look failed no such shop … s" [level=2] [selected]:
        - gridcell "tool call look failed no such shop"
        - gridcell "… s"
      - 'row "tool call tidy {} … s" [level=2]':
        - 'gridcell "tool call tidy {}"'
        - gridcell "… s"
      - row "end The agent threw an error (Error). The server's log has the details. failed" [level=2]:
        - gridcell "end The agent threw an error (Error). The server's log has the details. failed"
        - gridcell"
  `)
  expect(await lookAt(page)).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a run that is opened while it is queued says so, and shows its steps as soon as it works', async () => {
  goOn = Promise.withResolvers()
  const first = await begin('slow')
  const second = await begin('slow', { session_id: first.session_id })
  const { page, ...visited } = await open(second)
  await run(page).getByText('Queued: the run before it in this session is under way.').waitFor()
  expect(await lookAt(page)).toEqual([])
  goOn.resolve()
  await page.getByRole('row', { name: /^end completed/ }).waitFor()
  await run(page).locator('.status.completed').waitFor()
  expect(await run(page).getByText('Queued').count()).toBe(0)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a run that was cancelled says the reason', async () => {
  goOn = Promise.withResolvers()
  const begun = await begin('slow')
  const { page, ...visited } = await open(begun)
  await page.getByRole('row', { name: /^run slow running/ }).waitFor()
  await server.call('POST', `/api/v1/runs/${begun.run_id}/cancel`, { reason: 'not_needed' })
  await run(page).getByText('Cancelled: not needed.').waitFor()
  await page.getByRole('row', { name: /^end cancelled/ }).waitFor()
  expect(await lookAt(page)).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
})

test('an answer from the cache has a badge', async () => {
  await ended(await begin('cached'))
  const again = await begin('cached')
  await ended(again)
  const { page, ...visited } = await open(again)
  await run(page).getByText('from the cache', { exact: true }).waitFor()
  await run(page).getByRole('status').filter({ hasText: 'the same input was answered before' }).waitFor()
  expect(await lookAt(page)).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a run that is not there is told of in words, without tabs of nothing', async () => {
  const begun = await begin('cached')
  const { page, ...visited } = await open({ ...begun, run_id: 'run_that_never_was' })
  await run(page).getByRole('alert').filter({ hasText: "There is no run 'run_that_never_was'" }).waitFor()
  expect(await page.getByRole('tablist', { name: 'How to show the run' }).count()).toBe(0)
  expect(await lookAt(page)).toEqual([])
  const { errors, ...rest } = await visited.end()
  expect({ ...rest, errors: errors.filter((error) => !error.includes('404')) }).toEqual(nothingWrong)
})

test('a run whose process ended has a dashed end, and ends when it was last heard of', async () => {
  const begun = await begin('fails')
  await ended(begun)
  const { text } = await server.call('GET', `/api/v1/sessions/${begun.session_id}/export`)
  const later = await server.call('POST', '/api/v1/sessions/import?new_ids=true', interrupted(text), {
    'content-type': 'application/x-ndjson',
  })
  expect(later.json).toMatchObject({ session_id: expect.any(String) })
  const { json } = await server.call('GET', `/api/v1/sessions/${later.json.session_id}/runs`)
  const { page, ...visited } = await open({ session_id: later.json.session_id, run_id: json.runs[0].run_id })
  await run(page).getByText('The server ended while it was under way.').waitFor()
  await page.getByRole('row', { name: /^run fails interrupted/ }).waitFor()
  expect(await page.locator('.step.run.is-cut').count()).toBe(1)
  expect(await run(page).locator('header.bar').textContent()).not.toMatch(/ min/)
  expect(await lookAt(page)).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
})

/** The same run, but its process ended before it did, and was there again an hour later. */
function interrupted(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      const hour = (at: string) => new Date(Date.parse(at) + 3_600_000).toISOString()
      const ending = /\{"type":"run_error","error":\{[^}]*\},("seq":\d+),"at":"([^"]+)"\}/
      const withEnd = line.replace(ending, (_, seq: string, at: string) => {
        return `{"type":"run_end","status":"interrupted","usage":null,"cache_hit":false,${seq},"at":"${hour(at)}"}`
      })
      return withEnd
        .replace('"status":"failed"', '"status":"interrupted"')
        .replace(/"error":\{"code":[^}]*\}/, '"error":null')
    })
    .join('\n')
}
