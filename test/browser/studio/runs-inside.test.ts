import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { asks, begin, grid, modelCall, openRun, right, row, statusOf } from '../../support/browser/run-page.ts'
import { nothingWrong } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

/** What works waits here, until a test lets it go on. */
let goOn = Promise.withResolvers<void>()

/** Own code may name its calls as another run does. */
const told = (name: string) =>
  agent({
    async *run() {
      const messages = [{ role: 'user', content: `This was told to ${name}.` }]
      yield { type: 'model_call_start', call_id: 'c', model: name, messages }
      yield `I am ${name}.`
      yield { type: 'model_call_end', call_id: 'c', usage: null, finish_reason: 'stop', duration_ms: 1 }
    },
  })

let chromium: TestBrowser
let server: RunningTestServer

beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      left: agent({ run: () => modelCall('l', () => goOn.promise) }),
      right,
      crew: team({ mode: 'parallel', members: ['left', 'right'] }),
      outer: team({ mode: 'sequence', members: ['crew'] }),
      asks,
      one: told('one'),
      two: told('two'),
      both: team({ mode: 'parallel', members: ['one', 'two'] }),
      broken: agent({ run: () => Promise.reject(new Error('out of order')) }),
      halts: team({ mode: 'sequence', members: ['right', 'broken'] }),
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

test('a member that works is unfolded where it works, live, at any depth, in two windows', async () => {
  const run = await start('outer')
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
  // What each member cost is told after its run has ended.
  await expect.poll(() => grid(one.page).textContent()).not.toContain('–')
  expect(await treeOf(grid(one.page))).toMatchInlineSnapshot(`
    "- treegrid "Steps of the run, … s":
      - row "run outer Fold … s" [expanded] [level=1]:
        - gridcell "run outer Fold":
          - text: run outer
          - button "Fold"
        - gridcell "… s"
      - row "step crew ∑ 2,408 tokens in (2,000 cached), 192 out (40 reasoning) $0.0027 Fold … s" [expanded] [level=2]:
        - gridcell "step crew ∑ 2,408 tokens in (2,000 cached), 192 out (40 reasoning) $0.0027 Fold":
          - text: step crew ∑ 2,408 tokens in (2,000 cached), 192 out (40 reasoning) $0.0027
          - button "Fold"
        - gridcell "… s"
      - row "step left ∑ 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013 Fold … s" [expanded] [level=3]:
        - gridcell "step left ∑ 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013 Fold":
          - text: step left ∑ 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013
          - button "Fold"
        - gridcell "… s"
      - row "model call openai/gpt-5 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013 … s" [level=4] [selected]:
        - gridcell "model call openai/gpt-5 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013"
        - gridcell "… s"
      - row "step right ∑ 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013 Unfold … s" [level=3]:
        - gridcell "step right ∑ 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013 Unfold":
          - text: step right ∑ 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013
          - button "Unfold"
        - gridcell "… s"
      - row "end completed" [level=2]:
        - gridcell "end completed"
        - gridcell"
  `)
  expect(await lookAt(one.page)).toEqual([])
  expect([await one.end(), await other.end()]).toEqual([nothingWrong, nothingWrong])
})

test('a member is opened as a conversation of its own, with its tools, its members and what it says, live', async () => {
  const run = await start('outer')
  const { page, ...visited } = await open(run)
  await row(page, /^step crew/).click()
  await page.getByRole('link', { name: 'The whole conversation of crew' }).click()
  await page.getByRole('heading', { name: 'crew' }).waitFor()
  await page.getByRole('region', { name: 'What it was told' }).getByText('go').waitFor()
  await page.getByRole('region', { name: 'right' }).waitFor()
  const left = page.getByRole('region', { name: 'left' })
  await left.getByRole('link', { name: 'Its conversation' }).click()
  await page.getByRole('heading', { name: 'left' }).waitFor()
  goOn.resolve()
  await page.getByRole('region', { name: 'What it said' }).getByText('from inside').waitFor()
  await page.locator('.status.completed').waitFor()
  expect(await lookAt(page)).toEqual([])
  await page.getByRole('link', { name: 'The run around it' }).click()
  await page.getByRole('heading', { name: 'crew' }).waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})

test('runs inside a run that has ended are read when they are unfolded, with what they cost', async () => {
  const run = await start('asks')
  await expect.poll(() => statusOf(server, run)).toBe('input_required')
  const { page, ...visited } = await open(run)
  await row(page, /^step right/).click()
  const before = visited.urls.filter((url) => /\/events\b/.test(url)).length
  await page.keyboard.press('ArrowRight')
  await row(page, /^model call/).waitFor()
  expect(visited.urls.filter((url) => /\/events\b/.test(url)).length).toBe(before + 1)
  expect(await treeOf(grid(page))).toMatchInlineSnapshot(`
    "- treegrid "Steps of the run, … s":
      - row "run asks waiting Fold … s" [expanded] [level=1]:
        - gridcell "run asks waiting Fold":
          - text: run asks waiting
          - button "Fold"
        - gridcell "… s"
      - row "step prepare Fold … s" [expanded] [level=2]:
        - gridcell "step prepare Fold":
          - text: step prepare
          - button "Fold"
        - gridcell "… s"
      - row "step read … s" [level=3]:
        - gridcell "step read"
        - gridcell "… s"
      - row "step right ∑ 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013 Fold … s" [expanded] [level=2] [selected]:
        - gridcell "step right ∑ 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013 Fold":
          - text: step right ∑ 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013
          - button "Fold"
        - gridcell "… s"
      - row "model call openai/gpt-5 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013 … s" [level=3]:
        - gridcell "model call openai/gpt-5 1,204 tokens in (1,000 cached), 96 out (20 reasoning) $0.0013"
        - gridcell "… s"
      - row "waits Approve 'Shall it be sent?'? …" [level=2]:
        - gridcell "waits Approve 'Shall it be sent?'?"
        - gridcell "…""
  `)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('the keys of the grid move the focus, fold and unfold; brackets move from anywhere in the run', async () => {
  const run = await start('asks')
  await expect.poll(() => statusOf(server, run)).toBe('input_required')
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
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Compact')
  expect(await visited.end()).toEqual(nothingWrong)
})

test('the inspector shows steps of a run inside, by any of its events, and leads to all of them', async () => {
  const run = await start('asks')
  await expect.poll(() => statusOf(server, run)).toBe('input_required')
  const { json } = await server.call('GET', `/api/v1/runs?parent_run_id=${run.run_id}`)
  const inside = json.runs[0].run_id
  // Its last piece of text.
  const { page, ...visited } = await open(run, `/e/4?run=${inside}`)
  const inspector = page.getByRole('region', { name: /^model: / })
  await inspector.getByText(/^call 1 of 1 · seq 2 · stop · /).waitFor()
  await expect.poll(() => row(page, /^model call/).getAttribute('aria-selected')).toBe('true')
  await inspector.getByRole('tab', { name: 'Gave' }).click()
  await inspector.getByText('from inside').waitFor()
  expect(new URL(page.url()).search).toBe(`?run=${inside}&view=gave`)
  expect(await lookAt(page)).toEqual([])
  await inspector.getByRole('tab', { name: 'Prompt' }).click()
  await inspector.getByRole('button', { name: 'events of the run' }).click()
  await page
    .getByRole('region', { name: `Run ${inside}` })
    .getByRole('tab', { name: 'Events 6' })
    .waitFor()
  await page.getByRole('listbox', { name: 'Events of the run' }).getByText('from').waitFor()
  expect(visited.urls.filter((url) => url.includes('/trace')).every((url) => url.includes(inside))).toBe(true)
  await page.getByRole('tab', { name: 'Timeline' }).click()
  expect(await visited.end()).toEqual(nothingWrong)
})

test('the prompt is that of the run that is looked at, also when two runs name their calls alike', async () => {
  const run = await start('both')
  await expect.poll(() => statusOf(server, run)).toBe('completed')
  const { page, ...visited } = await open(run)
  for (const name of ['one', 'two']) {
    await row(page, new RegExp(`^step ${name}`)).click()
    await page.keyboard.press('ArrowRight')
  }
  await row(page, /^model call one/).click()
  const prompt = page.getByRole('tabpanel', { name: 'Prompt' })
  await page.getByRole('tab', { name: 'Prompt' }).click()
  await prompt.getByText('This was told to one.').waitFor()
  await row(page, /^model call two/).click()
  await prompt.getByText('This was told to two.').waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})

test('the step that failed is found from a turn while a step of a run inside is open', async () => {
  const { page, ...visited } = await open(await start('halts'))
  await page.locator('.run .status.failed').waitFor()
  await row(page, /^step right/).click()
  await page.keyboard.press('ArrowRight')
  await row(page, /^model call openai/).click()
  await expect.poll(() => new URL(page.url()).searchParams.has('run')).toBe(true)
  await page.getByRole('article').getByRole('link', { name: 'The step that failed' }).click()
  await expect.poll(() => row(page, /^step broken/).getAttribute('aria-selected')).toBe('true')
  expect(new URL(page.url()).searchParams.has('run')).toBe(false)
  expect(await lookAt(page)).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
})
