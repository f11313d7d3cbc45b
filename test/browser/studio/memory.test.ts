import type { CDPSession } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EmittedEvent } from '../../../src/core/event.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer

beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      talker: agent({
        async *run() {
          for (let place = 0; place < 1_000; place++) {
            yield `word ${place} `
            if (place % 100 === 0) await new Promise(setImmediate)
          }
        },
      }),
      long: agent({
        async *run(): AsyncGenerator<EmittedEvent> {
          for (let place = 0; place < 100; place++) {
            yield { type: 'tool_call', call_id: `t${place}`, name: `tool ${place}`, input: {} }
            yield {
              type: 'tool_result',
              call_id: `t${place}`,
              name: `tool ${place}`,
              output: 'x'.repeat(500),
              duration_ms: 1,
            }
          }
        },
      }),
    },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

/** In the page: opens each run of the session, looks at a step of it, and closes it. */
const openEach = `(async () => {
  const until = async (found) => {
    for (;;) {
      const one = found()
      if (one) return one
      await new Promise(requestAnimationFrame)
    }
  }
  const turns = () => [...document.querySelectorAll('.turn button')].filter((one) => one.textContent.includes('completed'))
  await until(() => turns().length === 10)
  for (const turn of turns()) {
    turn.click()
    const row = await until(() => document.querySelectorAll('.run .step.tool')[1])
    row.click()
    await until(() => document.querySelector('.inspector .panel .json'))
    document.querySelector('.run [aria-label="Close the run"]').click()
    await until(() => document.querySelector('.run') === null)
  }
  return turns().length
})()`

/** After everything that nobody holds has gone. `nodes`: those of the page, and those that are only held by something. */
async function held(devtools: CDPSession) {
  for (let time = 0; time < 3; time++) await devtools.send('HeapProfiler.collectGarbage')
  const { metrics } = await devtools.send('Performance.getMetrics')
  const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN
  return { nodes: of('Nodes'), listeners: of('JSEventListeners'), heap: of('JSHeapUsedSize') }
}

test('fifty runs opened one after the other leave nothing behind', async () => {
  const { json: first } = await server.call('POST', '/api/v1/agents/long/run', { input: 'go' })
  for (let place = 1; place < 10; place++)
    await server.call('POST', '/api/v1/agents/long/run', { input: 'go', session_id: first.session_id })
  const { page, ...visited } = await visit(chromium, server.url, `/studio/s/${first.session_id}`)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable')
  const openAll = () => page.evaluate(openEach)
  expect(await openAll()).toBe(10)
  const before = await held(devtools)
  for (let round = 0; round < 5; round++) await openAll()
  const after = await held(devtools)
  expect(after.nodes).toBeLessThan(3500)
  expect(after.nodes - before.nodes).toBeLessThan(100)
  expect(after.listeners - before.listeners).toBeLessThan(20)
  expect(after.heap - before.heap).toBeLessThan(5_000_000)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('six thousand events that come while a run is looked at leave nothing behind', async () => {
  const { json } = await server.call('POST', '/api/v1/agents/echo/run', { input: 'go' })
  const { session_id } = json
  // As many turns as are mounted: each that comes takes the place of one.
  for (let turn = 1; turn < 50; turn++)
    await server.call('POST', '/api/v1/agents/echo/run', { input: '**go**', session_id })
  const { page, ...visited } = await visit(chromium, server.url, `/studio/s/${session_id}`)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable')
  const stream = async (input: string) => {
    await server.call('POST', '/api/v1/agents/talker/run', { input, session_id, background: true })
    const turn = page.getByRole('article', { name: input, exact: true })
    await turn.getByRole('button', { expanded: false }).click()
    await page.getByRole('row', { name: /completed$/ }).waitFor()
    await page.getByRole('button', { name: 'Close the run' }).click()
    await page.locator('section.run').waitFor({ state: 'detached' })
  }
  await stream('run 0')
  const before = await held(devtools)
  for (let run = 1; run <= 6; run++) await stream(`run ${run}`)
  const after = await held(devtools)
  expect(after.nodes).toBeLessThan(3500)
  expect(after.nodes - before.nodes).toBeLessThan(100)
  expect(after.heap - before.heap).toBeLessThan(2_500_000)
  expect(await visited.end()).toEqual(nothingWrong)
})
