import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EmittedEvent } from '../../../src/core/event.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const usage = {
  input_tokens: 1204,
  output_tokens: 96,
  total_tokens: 1300,
  cached_input_tokens: 1000,
  reasoning_tokens: 20,
}

/** What works waits here, until a test lets it go on. */
let goOn = Promise.withResolvers<void>()
const many = { words: 0 }

async function* modelCall(call_id: string, between?: () => Promise<void>): AsyncGenerator<EmittedEvent> {
  yield { type: 'model_call_start', call_id, model: 'openai/gpt-5' }
  yield { type: 'text_delta', text: 'from ' }
  await between?.()
  yield { type: 'text_delta', text: 'inside' }
  yield { type: 'model_call_end', call_id, usage, finish_reason: 'stop', duration_ms: 5, first_text_ms: 1 }
}

let chromium: TestBrowser
let server: RunningTestServer

beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      left: agent({ run: () => modelCall('l', () => goOn.promise) }),
      right: agent({ run: () => modelCall('r') }),
      crew: team({ mode: 'parallel', members: ['left', 'right'] }),
      outer: team({ mode: 'sequence', members: ['crew'] }),
      asks: workflow({
        async run({ step, ask, approve }) {
          await step('prepare', () => step('read', () => 1))
          await ask('right', 'x')
          await approve('Shall it be sent?')
          return step('send', () => 'sent')
        },
      }),
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

async function begin(id: string): Promise<{ run_id: string; session_id: string }> {
  goOn = Promise.withResolvers<void>()
  return (await server.call('POST', `/api/v1/agents/${id}/run`, { input: 'go', background: true })).json
}
const statusOf = async ({ run_id }: { run_id: string }) =>
  (await server.call('GET', `/api/v1/runs/${run_id}`)).json.status
const open = ({ session_id, run_id }: { session_id: string; run_id: string }, more = '') =>
  visit(chromium, server.url, `/studio/s/${session_id}/r/${run_id}${more}`)
const grid = (page: Page) => page.getByRole('treegrid')
const row = (page: Page, name: RegExp) => grid(page).getByRole('row', { name })

test('a member that works is unfolded where it works, live, at any depth, in two windows', async () => {
  const run = await begin('outer')
  const one = await open(run)
  await row(one.page, /^step crew/).click()
  await one.page.keyboard.press('x')
  await row(one.page, /^step left/).click()
  await one.page.keyboard.press('ArrowRight')
  const call = row(one.page, /^model call openai\/gpt-5 running/)
  await call.waitFor()
  expect(await call.getAttribute('aria-level')).toBe('4')
  await call.click()
  const other = await open(
    run,
    new URL(one.page.url()).pathname.replace(/.*\/r\/[^/]+/, '') + new URL(one.page.url()).search,
  )
  goOn.resolve()
  for (const { page } of [one, other]) {
    await page.locator('.run .status.completed').waitFor()
    await row(page, /^model call openai\/gpt-5 1,204 tokens in \(1,000 cached\), 96 out \(20 reasoning\) \$/).waitFor()
  }
  expect(await treeOf(grid(one.page))).toMatchInlineSnapshot(`
    "- treegrid "Steps of the run, … s":
      - row "run outer Fold … s" [expanded] [level=1]:
        - gridcell "run outer Fold":
          - text: run outer
          - button "Fold"
        - gridcell
        - gridcell "… s"
      - row "step crew ∑ 2,408 tokens in (2,000 cached), 192 out (40 reasoning) $0.0027 Fold … s" [expanded] [level=2]:
        - gridcell "step crew ∑ 2,408 tokens in (2,000 cached), 192 out (40 reasoning) $0.0027 Fold":
          - text: step crew ∑ 2,408 tokens in (2,000 cached), 192 out (40 reasoning) $0.0027
          - button "Fold"
        - gridcell
        - gridcell "… s"
      - row "step left ∑ 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013 Fold … s" [expanded] [level=3]:
        - gridcell "step left ∑ 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013 Fold":
          - text: step left ∑ 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013
          - button "Fold"
        - gridcell
        - gridcell "… s"
      - row "model call openai/gpt-5 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013 … s" [level=4] [selected]:
        - gridcell "model call openai/gpt-5 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013"
        - gridcell
        - gridcell "… s"
      - row "step right ∑ 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013 Unfold … s" [level=3]:
        - gridcell "step right ∑ 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013 Unfold":
          - text: step right ∑ 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013
          - button "Unfold"
        - gridcell
        - gridcell "… s"
      - row "end completed" [level=2]:
        - gridcell "end completed"
        - gridcell
        - gridcell"
  `)
  expect(await lookAt(one.page)).toEqual([])
  expect([await one.end(), await other.end()]).toEqual([nothingWrong, nothingWrong])
})

test('runs inside a run that has ended are read when they are unfolded, with what they cost', async () => {
  const run = await begin('asks')
  await expect.poll(() => statusOf(run)).toBe('input_required')
  const { page, ...visited } = await open(run)
  await row(page, /^step right/).click()
  const before = visited.urls.filter((url) => /\/events\b/.test(url)).length
  await page.keyboard.press('ArrowRight')
  await row(page, /^model call/).waitFor()
  expect(visited.urls.filter((url) => /\/events\b/.test(url)).length).toBe(before + 1)
  expect(await treeOf(grid(page))).toMatchInlineSnapshot()
  expect(await visited.end()).toEqual(nothingWrong)
})

test('the keys of the grid move the focus, fold and unfold; brackets move from anywhere in the run', async () => {
  const run = await begin('asks')
  await expect.poll(() => statusOf(run)).toBe('input_required')
  const { page, ...visited } = await open(run)
  await row(page, /^run asks/).click()
  const focused = () => page.evaluate("document.activeElement.querySelector('.label').textContent")
  for (const [key, where] of [
    ['j', 'step prepare'],
    ['ArrowDown', 'step read'],
    ['ArrowLeft', 'step prepare'],
    ['ArrowLeft', 'step prepare'],
    ['ArrowDown', 'step right'],
    ['End', 'Shall it be sent?'],
    ['Home', 'run asks'],
    ['k', 'run asks'],
  ]) {
    await page.keyboard.press(key ?? '')
    await expect.poll(focused).toContain(where)
  }
  expect(await row(page, /^step prepare/).getAttribute('aria-expanded')).toBe('false')
  await page.getByRole('tab', { name: 'Compact' }).focus()
  await page.keyboard.press(']')
  await expect.poll(() => row(page, /^step prepare/).getAttribute('aria-selected')).toBe('true')
  await page.keyboard.press('x')
  await row(page, /^step read/).waitFor()
  await page.keyboard.press(']')
  await page.keyboard.press('[')
  await expect.poll(() => row(page, /^step prepare/).getAttribute('aria-selected')).toBe('true')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Compact')
  expect(await visited.end()).toEqual(nothingWrong)
})

test('minutes of waiting for an answer are cut out of the axis, and said', async () => {
  const run = await begin('asks')
  await expect.poll(() => statusOf(run)).toBe('input_required')
  const answered = await server.call('POST', `/api/v1/runs/${run.run_id}/resume`, { approved: true, background: false })
  expect(answered.json.status).toBe('completed')
  const copy = await server.call('GET', `/api/v1/sessions/${run.session_id}/export`)
  const later = await importLater(copy.text)
  const { page, ...visited } = await open(later)
  await page.getByText('+ 7 min 0 s of waiting').waitFor()
  expect(await page.locator('.axis .cut').getAttribute('title')).toBe('7 min 0 s of waiting are left out')
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
  const run = await begin('tooled')
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
  const other = await begin('retried')
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
  const run = await begin('long')
  await expect.poll(() => statusOf(run)).toBe('completed')
  const { page, ...visited } = await open(run)
  await row(page, /^tool call tool 0 /).waitFor()
  expect(await grid(page).getAttribute('aria-rowcount')).toBe('2002')
  await row(page, /^run long/).click()
  await page.keyboard.press('End')
  await row(page, /^end completed/).waitFor()
  await page.keyboard.press('k')
  await expect.poll(() => row(page, /^tool call tool 1999 /).getAttribute('aria-selected')).toBe('true')
  expect(await grid(page).getByRole('row').count()).toBeLessThan(120)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('text that comes draws nothing again in the run but the number of its events', async () => {
  const run = await begin('talks')
  const { page, ...visited } = await open(run)
  await row(page, /^model call/).waitFor()
  await page.locator('.track .text').waitFor()
  await page.evaluate(`window.drawn = []; new MutationObserver((all) => drawn.push(...all.map(({ target, type }) =>
    type + ' ' + (target.closest ?? target.parentElement.closest).call(target.closest ? target : target.parentElement, '[role=tab], .timeline, .run').className)))
    .observe(document.querySelector('.run'), { childList: true, characterData: true, subtree: true })`)
  many.words = 500
  goOn.resolve()
  await page.getByRole('tab', { name: 'Events 504' }).waitFor()
  const drawn = (await page.evaluate('drawn')) as string[]
  expect(drawn.filter((one) => one.includes('timeline'))).toEqual([])
  await server.call('POST', `/api/v1/runs/${run.run_id}/cancel`, {})
  expect(await visited.end()).toEqual(nothingWrong)
})
