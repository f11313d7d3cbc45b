import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EmittedEvent } from '../../../src/core/event.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt } from '../../support/browser/look.ts'
import { asks, begin, grid, modelCall, openRun, right, row, statusOf } from '../../support/browser/run-page.ts'
import { nothingWrong } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

/** What works waits here, until a test lets it go on. */
let goOn = Promise.withResolvers<void>()
const many = { words: 0 }

let chromium: TestBrowser
let server: RunningTestServer

beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      right,
      asks,
      tooled: agent({
        async *run(): AsyncGenerator<EmittedEvent> {
          const call = { call_id: 't', name: 'import' }
          yield { type: 'tool_call', ...call, input: { year: 2026 } }
          yield { type: 'tool_progress', ...call, output: 'half of it' }
          await goOn.promise
          yield { type: 'tool_result', ...call, output: 'all', duration_ms: 5 }
        },
      }),
      retried: agent({
        async *run(): AsyncGenerator<EmittedEvent> {
          yield { type: 'model_call_start', call_id: 'a', model: 'own/small' }
          yield { type: 'model_call_end', call_id: 'a', usage: null, finish_reason: 'error', duration_ms: 1 }
          yield* modelCall('b')
          yield { type: 'step_start', step_id: 'g', name: 'no secrets' }
          yield {
            type: 'step_end',
            step_id: 'g',
            status: 'failed',
            error: { message: 'It names a key.' },
            duration_ms: 1,
          }
        },
      }),
      long: agent({
        async *run(): AsyncGenerator<EmittedEvent> {
          for (let place = 0; place < 2000; place++) {
            yield { type: 'tool_call', call_id: `t${place}`, name: `tool ${place}`, input: {} }
            yield { type: 'tool_result', call_id: `t${place}`, name: `tool ${place}`, output: 1, duration_ms: 1 }
          }
        },
      }),
      talks: agent({
        async *run(): AsyncGenerator<EmittedEvent> {
          yield { type: 'model_call_start', call_id: 'c', model: 'own/small' }
          yield { type: 'text_delta', text: 'first' }
          await goOn.promise
          for (let word = 0; word < many.words; word++) yield { type: 'text_delta', text: ` ${word}` }
          yield { type: 'data', data: 'all is said' }
          await new Promise(() => {})
        },
      }),
    },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

const start = (id: string) => {
  goOn = Promise.withResolvers<void>()
  return begin(server, id)
}
const open = (...run: [run: Awaited<ReturnType<typeof begin>>, more?: string]) => openRun(chromium, server, ...run)

test('minutes of waiting for an answer are cut out of the axis, and said', async () => {
  const run = await start('asks')
  await expect.poll(() => statusOf(server, run)).toBe('input_required')
  const answered = await server.call('POST', `/api/v1/runs/${run.run_id}/resume`, { approved: true, background: false })
  expect(answered.json.status).toBe('completed')
  const copy = await server.call('GET', `/api/v1/sessions/${run.session_id}/export`)
  const later = await importLater(copy.text)
  const { page, ...visited } = await open(later)
  await page.getByText(/^\+ 7 min \d s of waiting/).waitFor()
  expect(await page.locator('.axis .cut').getAttribute('title')).toMatch(/^7 min \d s of waiting are left out$/)
  const sent = await row(page, /^step send/)
    .locator('.bar-of-step')
    .boundingBox()
  const prepared = await row(page, /^step prepare/)
    .locator('.bar-of-step')
    .boundingBox()
  const whole = await row(page, /^run asks/)
    .locator('.bar-of-step')
    .boundingBox()
  // Short as they are, they can be seen, and the last one is at the right end.
  for (const bar of [sent, prepared]) expect(bar?.width).toBeGreaterThanOrEqual(3)
  expect((sent?.x ?? 0) - (prepared?.x ?? 0)).toBeGreaterThan((whole?.width ?? 0) / 10)
  expect(await lookAt(page)).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
})

/** The same session, but the answer to the question came seven minutes later. */
async function importLater(text: string): Promise<{ run_id: string; session_id: string }> {
  const asked = text.split('\n').find((line) => line.includes('"run_resumed"')) ?? ''
  const paused = Date.parse(/"paused":\{[^}]*"at":"([^"]+)"/.exec(asked)?.[1] ?? '')
  const moved = text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) =>
    Date.parse(at) <= paused ? at : new Date(Date.parse(at) + 420_000).toISOString(),
  )
  const type = { 'content-type': 'application/x-ndjson' }
  const { json } = await server.call('POST', '/api/v1/sessions/import?new_ids=true', moved, type)
  const { json: listed } = await server.call('GET', `/api/v1/sessions/${json.session_id}/runs`)
  return {
    session_id: json.session_id,
    run_id: listed.runs.find((run: { parent_run_id: unknown }) => run.parent_run_id === null).run_id,
  }
}

test('what a tool says while it works, retries, guardrails: all of it is in the rows', async () => {
  const run = await start('tooled')
  const { page, ...visited } = await open(run)
  await row(page, /^tool call import running \{"year":2026\} so far "half of it"/).waitFor()
  await page.locator('.timeline.is-running').waitFor()
  const end = () =>
    row(page, /^tool call import/)
      .locator('.bar-of-step')
      .boundingBox()
  const before = (await end())?.width ?? 0
  await expect.poll(async () => (await end())?.width).toBeGreaterThan(before)
  expect(await lookAt(page)).toEqual([])
  goOn.resolve()
  await page.locator('.run .status.completed').waitFor()
  await row(page, /^tool call import \{"year":2026\} \d/).waitFor()
  const other = await start('retried')
  await page.goto(`${server.url}/studio/s/${other.session_id}/r/${other.run_id}`)
  await row(page, /^model call own\/small failed error/).waitFor()
  await row(page, /^model call openai\/gpt-5 attempt 2 /).waitFor()
  await row(page, /^step no secrets failed It names a key\./).waitFor()
  expect(
    await row(page, /attempt 2/)
      .locator('.track .text')
      .count(),
  ).toBe(1)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('two thousand steps are a few rows, all of which the keys reach at once', async () => {
  const run = await start('long')
  await expect.poll(() => statusOf(server, run)).toBe('completed')
  const { page, ...visited } = await open(run)
  await row(page, /^tool call tool 0 /).waitFor()
  await expect.poll(() => grid(page).getAttribute('aria-rowcount')).toBe('2002')
  await row(page, /^run long/).click()
  await page.keyboard.press('End')
  await row(page, /^end completed/).waitFor()
  await page.keyboard.press('k')
  await expect.poll(() => row(page, /^tool call tool 1999 /).getAttribute('aria-selected')).toBe('true')
  expect(await grid(page).getByRole('row').count()).toBeLessThan(120)
  const heights = await page.evaluate(
    "['.inspector', 'section.run'].map((one) => document.querySelector(one).clientHeight)",
  )
  const [inspector = 0, column = 0] = heights as number[]
  expect(inspector).toBeGreaterThan(column * 0.4)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('text that comes draws nothing again in the run but the number of its events', async () => {
  const run = await start('talks')
  const { page, ...visited } = await open(run)
  await row(page, /^model call/).waitFor()
  await page.locator('.track .text').waitFor()
  await page.evaluate(`window.drawn = 0; new MutationObserver((all) => { drawn += all.length })
    .observe(document.querySelector('[role=treegrid]'), { childList: true, characterData: true, subtree: true })`)
  many.words = 500
  goOn.resolve()
  await page.getByRole('tab', { name: 'Events 504' }).waitFor()
  expect(await page.evaluate('drawn')).toBe(0)
  await server.call('POST', `/api/v1/runs/${run.run_id}/cancel`, {})
  expect(await visited.end()).toEqual(nothingWrong)
})
