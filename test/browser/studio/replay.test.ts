import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EmittedEvent } from '../../../src/core/event.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt } from '../../support/browser/look.ts'
import { paced } from '../../support/browser/paced.ts'
import { focusTrouble } from '../../support/browser/reach.ts'
import { asks, begin, modelCall, openRun, right, row, statusOf } from '../../support/browser/run-page.ts'
import { nothingWrong } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer

beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      right,
      asks,
      tells: agent({
        async *run(): AsyncGenerator<EmittedEvent> {
          yield* modelCall('a')
          const call = { call_id: 't', name: 'lookup' }
          yield { type: 'tool_call', ...call, input: { year: 2026 } }
          yield { type: 'tool_result', ...call, output: 'all', duration_ms: 5 }
          yield { type: 'text_delta', text: ' and after' }
        },
      }),
      crew: team({ mode: 'sequence', members: ['right'] }),
    },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

/** A run of `id` whose events come every so many milliseconds. */
async function runOf(id: string, everyMs: number) {
  const run = await begin(server, id)
  await expect.poll(() => statusOf(server, run)).toBe('completed')
  return paced(server, run.session_id, everyMs)
}

const bar = (page: Page) => page.getByRole('group', { name: 'Replay' })
const button = (page: Page, name: string) => bar(page).getByRole('button', { name, exact: true })
const moment = (page: Page) => page.getByRole('slider', { name: 'Moment' })
const told = (page: Page) => moment(page).getAttribute('aria-valuetext')
const answer = async (page: Page) => (await page.locator('.turn .answered .markdown').allTextContents()).join('').trim()

// run_start, model_call_start, "from ", "inside", model_call_end, tool_call, tool_result, " and after", run_end.
const count = 9

test('a run is played at the pace at which it was, in the turn and in its steps', async () => {
  const { page, ...visited } = await openRun(chromium, server, await runOf('tells', 400))
  await row(page, /^end completed/).waitFor()
  // However busy the machine is: all that was shown, one after the other.
  await page.evaluate(`{ window.shown = new Set(); new MutationObserver(() => {
    const textOf = (place) => document.querySelector(place)?.textContent.trim() ?? ''
    shown.add(textOf('.turn .answered'))
    for (const one of document.querySelectorAll('[role=treegrid] [role=row]')) shown.add(one.textContent)
  }).observe(document.body, { childList: true, characterData: true, subtree: true }) }`)
  const began = Date.now()
  await button(page, 'Replay').click()
  await button(page, 'Pause').waitFor()
  expect(await answer(page)).not.toContain('after')
  await button(page, 'Play').waitFor()
  const took = Date.now() - began
  // Eight times 400 ms.
  expect(took).toBeGreaterThan(3000)
  const shown = (await page.evaluate('[...shown]')) as string[]
  expect(shown).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/as it was then.*from$/),
      expect.stringMatching(/as it was then.*from inside$/),
      expect.stringMatching(/model call.*running/),
      expect.stringMatching(/tool call.*lookup.*running/),
    ]),
  )
  expect(await answer(page)).toBe('from inside and after')
  expect(await page.getByText('as it was then').count()).toBe(0)
  await page.getByRole('combobox', { name: 'Speed' }).selectOption('4×')
  const again = Date.now()
  await button(page, 'Play').click()
  await button(page, 'Pause').waitFor()
  await button(page, 'Play').waitFor()
  expect(Date.now() - again).toBeLessThan(took)
  await button(page, 'End the replay').focus()
  await page.keyboard.press('Enter')
  await button(page, 'Replay').waitFor()
  expect(await focusTrouble(page)).toBe('')
  expect(await visited.end()).toEqual(nothingWrong)
})

test('the keys play and pause, and go from event to event, forth and back', async () => {
  const { page, ...visited } = await openRun(chromium, server, await runOf('tells', 1000))
  await row(page, /^run tells/).click()
  const end = `8.00 s of 8.00 s, event ${count} of ${count}`
  await page.keyboard.press(',')
  await expect.poll(() => told(page)).toBe(`7.00 s of 8.00 s, event 8 of ${count}`)
  await page.keyboard.press(',')
  await expect.poll(() => answer(page)).toBe('from inside')
  await row(page, /^tool call lookup \{"year":2026\} \d/).waitFor()
  await page.keyboard.press(',')
  await row(page, /^tool call lookup running/).waitFor()
  for (let times = 0; times < 3; times++) await page.keyboard.press(',')
  await expect.poll(() => answer(page)).toBe('from')
  await page.getByRole('tab', { name: 'Events 3' }).waitFor()
  expect(await page.locator('.run .status.running').count()).toBe(1)
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 })
    expect(await lookAt(page)).toEqual([])
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  // The bar of what was under way ends where the moment is: two of eight seconds.
  const track = await row(page, /^run tells/)
    .locator('.track')
    .boundingBox()
  const shown = await row(page, /^run tells/)
    .locator('.bar-of-step')
    .boundingBox()
  expect((shown?.width ?? 0) / (track?.width ?? 1)).toBeCloseTo(0.25, 1)
  for (let times = 0; times < 20; times++) await page.keyboard.press(',')
  await expect.poll(() => told(page)).toBe(`0 ms of 8.00 s, event 1 of ${count}`)
  await page.keyboard.press('.')
  await expect.poll(() => told(page)).toBe(`1.00 s of 8.00 s, event 2 of ${count}`)
  await page.keyboard.press('Space')
  await button(page, 'Pause').waitFor()
  await expect.poll(() => answer(page)).toBe('from')
  await page.keyboard.press('Space')
  await button(page, 'Play').waitFor()
  const paused = await told(page)
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  expect(await told(page)).toBe(paused)
  await moment(page).focus()
  await page.keyboard.press('End')
  await expect.poll(() => told(page)).toBe(end)
  await page.keyboard.press('PageDown')
  await expect.poll(() => told(page)).toBe(`7.20 s of 8.00 s, event 8 of ${count}`)
  // Of a field of text they are text.
  await page.getByRole('textbox', { name: /^Message/ }).fill('a')
  await page.keyboard.type(' ,.')
  expect(await told(page)).toBe(`7.20 s of 8.00 s, event 8 of ${count}`)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('Space presses the button that has the focus, and nothing else', async () => {
  const { page, ...visited } = await openRun(chromium, server, await runOf('tells', 1000))
  await page.getByRole('tab', { name: 'Compact' }).focus()
  await page.keyboard.press('Space')
  await page.getByRole('list', { name: 'Steps of the run' }).waitFor()
  await button(page, 'Replay').focus()
  await page.keyboard.press('Space')
  await button(page, 'Pause').waitFor()
  await page.getByRole('listitem').filter({ hasText: 'under way' }).first().waitFor()
  await page.keyboard.press('Space')
  await button(page, 'Play').waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})

test('after a minute in which the tab had no frames it goes on from where it was, and ends with the run', async () => {
  const { page, ...visited } = await openRun(chromium, server, await runOf('tells', 1000))
  await page.evaluate(`{ let asked = 0; let held; let hiddenMs = 0; const real = requestAnimationFrame
    window.requestAnimationFrame = (call) => {
      asked++
      const later = (now) => call(now + hiddenMs)
      return held === undefined ? real(later) : held.push(later)
    }
    window.hide_ = () => { held = [] }
    window.see_ = () => { hiddenMs = 60_000; held.forEach((call) => real(call)); held = undefined }
    window.frames_ = async () => { const before = asked; await new Promise((done) => real(() => real(() => real(done)))); return asked - before } }`)
  await button(page, 'Replay').click()
  await row(page, /^model call openai\/gpt-5 running/).waitFor()
  expect(await page.evaluate('frames_()')).toBeGreaterThan(0)
  await page.evaluate('hide_()')
  const hidden = await told(page)
  await page.evaluate('see_()')
  await expect.poll(() => told(page)).not.toBe(hidden)
  await button(page, 'Pause').click()
  expect(await told(page)).not.toContain(`event ${count} of`)
  await button(page, 'Play').click()
  await page.getByRole('button', { name: 'Close the run' }).click()
  expect(await page.evaluate('frames_()')).toBe(0)
  await expect.poll(() => answer(page)).toBe('from inside and after')
  expect(await visited.end()).toEqual(nothingWrong)
})

test('with reduced motion the moment moves once a second, and not with each frame', async () => {
  const { page, ...visited } = await openRun(chromium, server, await runOf('tells', 500))
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await button(page, 'Replay').click()
  await moment(page).waitFor()
  await page.evaluate(`window.moved = 0; new MutationObserver((all) => { moved += all.length })
    .observe(document.querySelector('.replay input'), { attributeFilter: ['aria-valuetext'] })`)
  await button(page, 'Play').waitFor()
  expect(await page.evaluate('moved')).toBeLessThanOrEqual(5)
  expect(await page.evaluate('moved')).toBeGreaterThanOrEqual(3)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('minutes in which a run waited for a person are passed over', async () => {
  const run = await begin(server, 'asks')
  await expect.poll(() => statusOf(server, run)).toBe('input_required')
  await server.call('POST', `/api/v1/runs/${run.run_id}/resume`, { approved: true, background: false })
  const { text } = await server.call('GET', `/api/v1/sessions/${run.session_id}/export`)
  const paused = Date.parse(/"paused":\{[^}]*"at":"([^"]+)"/.exec(text)?.[1] ?? '')
  const moved = text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) =>
    Date.parse(at) <= paused ? at : new Date(Date.parse(at) + 420_000).toISOString(),
  )
  const type = { 'content-type': 'application/x-ndjson' }
  const { json } = await server.call('POST', '/api/v1/sessions/import?new_ids=true', moved, type)
  const { json: listed } = await server.call('GET', `/api/v1/sessions/${json.session_id}/runs`)
  const { run_id } = listed.runs.find((one: { parent_run_id: unknown }) => one.parent_run_id === null)
  const { page, ...visited } = await openRun(chromium, server, { run_id, session_id: json.session_id })
  const step = row(page, /^step right/)
  await step.click()
  await page.keyboard.press('x')
  await row(page, /^model call openai\/gpt-5/).waitFor()
  await button(page, 'Replay').click()
  await button(page, 'Play').waitFor({ timeout: 20_000 })
  await row(page, /^end completed/).waitFor()
  // Back before the question: what is inside a step is there as far as it was.
  await moment(page).focus()
  await page.keyboard.press('Home')
  await expect.poll(() => row(page, /^model call/).count()).toBe(0)
  await page.keyboard.press('End')
  await row(page, /^model call openai\/gpt-5/).waitFor()
  // Nobody is asked again.
  await page.keyboard.press('Home')
  for (let times = 0; times < 12; times++) await page.keyboard.press('.')
  expect(await page.getByRole('button', { name: /^Allow/ }).count()).toBe(0)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('the run of a member is as far as it was when its step is unfolded during the replay', async () => {
  const { page, ...visited } = await openRun(chromium, server, await runOf('crew', 200))
  await row(page, /right/).first().waitFor()
  await moment(page).count()
  await page.keyboard.press(',')
  await moment(page).waitFor()
  await row(page, /^run crew/).click()
  while (((await told(page)) ?? '').includes('event 1 of') === false) await page.keyboard.press(',')
  expect(await row(page, /right/).count()).toBe(0)
  while ((await row(page, /right/).count()) === 0) await page.keyboard.press('.')
  await row(page, /right/).first().click()
  await page.keyboard.press('x')
  await page.keyboard.press('.')
  await moment(page).focus()
  await page.keyboard.press('End')
  await row(page, /^model call openai\/gpt-5/).waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})
