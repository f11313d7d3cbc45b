import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { focused, focusTrouble, outOfReach } from '../../support/browser/reach.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer
let hours = 'nine'
let asked = 0
/** Until it is resolved, `gated` does not answer. */
let gate = Promise.resolve()

beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      desk: agent({ run: () => `The office opens at ${hours}.` }),
      moody: agent({ run: () => (asked++ % 2 === 0 ? 'Yes.' : 'No.') }),
      gated: agent({
        async *run() {
          await gate
          yield 'Through.'
        },
      }),
      words: agent({ model: scriptedModel(() => ({ text: 'Wide.', usage: { input_tokens: 30, output_tokens: 4 } })) }),
    },
    { withTests: true },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

async function ask(agentId: string): Promise<string> {
  return (await server.call('POST', `/api/v1/agents/${agentId}/run`, { input: 'When do you open?' })).json.session_id
}

async function save(agentId: string, name: string): Promise<void> {
  const answer = await server.call('POST', '/api/v1/dev/tests', { session_id: await ask(agentId), name })
  expect(answer.status).toBe(201)
}

const rowOf = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(`^(?:Select )?test/${name} `) })

test('a conversation becomes a test from its menu, never over another, and the page says so', async () => {
  const { page, ...visited } = await visit(chromium, server.url, '/studio/tests')
  await page.getByRole('heading', { name: 'No tests' }).waitFor()
  expect(await lookAt(page)).toEqual([])
  await page.goto(`${server.url}/studio/s/${await ask('desk')}`)
  await page.getByRole('button', { name: 'Session…' }).click()
  const menu = page.getByRole('dialog', { name: 'Session' })
  await menu.getByLabel('Save as test').fill('../opening')
  await menu.getByLabel('Save as test').press('Enter')
  await menu.getByRole('alert').getByText('must be 1 to 100 letters').waitFor()
  await menu.getByLabel('Save as test').fill('opening')
  await menu.getByLabel('Save as test').press('Enter')
  const link = menu.getByRole('link', { name: 'test/opening' })
  await link.waitFor()
  expect(await lookAt(page)).toEqual([])
  await menu.getByRole('button', { name: 'Save the test' }).click()
  await menu.getByRole('alert').getByText('Choose another name').waitFor()
  await menu.getByLabel('Save as test').fill('opening-2')
  await menu.getByLabel('Save as test').press('Enter')
  await menu.getByRole('link', { name: 'test/opening-2' }).click()
  await page.getByRole('region', { name: 'Test test/opening-2' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/studio/tests/test%2Fopening-2')
  expect(await page.title()).toBe('Tests · agentserve studio')
  const { errors, ...rest } = await visited.end()
  expect({ ...rest, errors: errors.filter((error) => !/40[09]/.test(error)) }).toEqual(nothingWrong)
})

test('a test that fails shows what changed word by word, and is rebuilt only after a question', async () => {
  hours = 'ten'
  const { page, ...visited } = await visit(chromium, server.url, '/studio/tests')
  await page.getByRole('button', { name: 'Run all' }).click()
  await page.getByRole('status').getByText('0 passed, 2 failed').waitFor()
  await page.getByRole('link', { name: 'test/opening', exact: true }).click()
  const opened = page.getByRole('region', { name: 'Test test/opening', exact: true })
  const change = opened.getByRole('region', { name: 'Turn 1: content' })
  expect(await change.locator('del').textContent()).toBe('nine')
  expect(await change.locator('ins').textContent()).toBe('ten')
  expect(await treeOf(opened)).toMatchInlineSnapshot(`
    "- region "Test test/opening":
      - heading "test/opening" [level=3]
      - link "Close":
        - /url: /studio/tests
      - paragraph: desk · 1 turn
      - button "Run this test"
      - button "Score new answers"
      - button "Rebuild…"
      - alert
      - status: failed · … s
      - 'region "Turn 1: content"':
        - 'heading "Turn 1: content" [level=4]'
        - text: The office opens at
        - deletion: nine
        - insertion: ten
        - text: .
      - list"
  `)
  expect(await lookAt(page)).toEqual([])
  const file = () => readFile(join(server.folder, 'test/opening.session.json'), 'utf8')
  const before = await file()
  await opened.getByRole('button', { name: 'Rebuild…' }).click()
  expect(await focused(page)).toBe('button Rebuild')
  await opened.getByRole('button', { name: 'Cancel' }).click()
  expect(await file()).toBe(before)
  await opened.getByRole('button', { name: 'Rebuild…' }).press('Enter')
  await page.keyboard.press('Enter')
  await opened.getByText('rebuilt').waitFor()
  expect(await file()).toContain('opens at ten')
  await opened.getByRole('button', { name: 'Run this test' }).click()
  await page.getByRole('status').getByText('1 passed, 0 failed').waitFor()
  expect(await rowOf(page, 'opening').getByText('passed').count()).toBe(1)
  expect(await rowOf(page, 'opening').getByText('failed').count()).toBe(2)
  // Whatever was run before.
  const modes: unknown[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/dev/tests/run')) modes.push(JSON.parse(request.postData() ?? '{}').mode)
  })
  await opened.getByRole('button', { name: 'Score new answers' }).click()
  await opened.getByRole('button', { name: 'Run this test' }).click()
  await expect.poll(() => modes).toEqual(['scores', 'replay'])
  await page.getByRole('status').getByText('1 passed, 0 failed').waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})

test('two hundred tests are run, compared and filtered, and a flaky one is shown as flaky', async () => {
  await save('moody', 'moody')
  await save('words', 'words')
  const text = await readFile(join(server.folder, 'test/words.session.json'), 'utf8')
  for (let number = 4; number < 200; number++)
    await writeFile(join(server.folder, `test/words-${number}.session.json`), text)
  const { page, ...visited } = await visit(chromium, server.url, '/studio/tests')
  await page.getByText('200 tests').waitFor()
  await page.getByLabel('Times').fill('3')
  await page.getByLabel('Times').press('Tab')
  await page.getByRole('button', { name: 'Run all' }).click()
  await page
    .getByRole('status')
    .getByText(/, 1 flaky/)
    .waitFor({ timeout: 120_000 })
  await page.getByText('198 passed, 1 failed, 1 flaky').waitFor()
  expect(
    await rowOf(page, 'moody')
      .getByText(/flaky [12] of 3/)
      .count(),
  ).toBe(1)
  expect(await page.getByRole('row').count()).toBe(201)
  await page.getByLabel('Show').selectOption('flaky')
  expect(await page.getByRole('row').count()).toBe(2)
  expect(await lookAt(page)).toEqual([])
  await page.getByLabel('Show').selectOption('failed')
  await rowOf(page, 'opening-2').waitFor()
  expect(await page.getByRole('row').count()).toBe(2)
  await page.getByLabel('Show').selectOption('all')
  await page.getByLabel('Tests with this text').fill('WORDS-19')
  expect(await page.getByRole('row').count()).toBe(12)
  await page.getByRole('button', { name: 'Run the 11 shown' }).waitFor()
  await page.getByLabel('Select test/words-19', { exact: true }).check()
  await page.getByLabel('Select test/words-190').check()
  // A field without a number is one time.
  await page.getByLabel('Times').fill('')
  await page.getByLabel('Times').press('Tab')
  await page.getByRole('button', { name: 'Run selected (2)' }).click()
  await page.getByRole('status').getByText('2 passed, 0 failed').waitFor()
  expect(await rowOf(page, 'words-19').getByText('passed').count()).toBe(2)
  await page.getByLabel('Tests with this text').fill('nothing like it')
  await page.getByText('No test is as the filters say.').waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
}, 180_000)

test('the keyboard alone reaches all of it, and everything is seen at 1440 and 390 px', async () => {
  const { page, ...visited } = await visit(chromium, server.url, '/studio')
  await page.getByRole('button', { name: 'New chat' }).focus()
  await page.keyboard.press('g')
  await page.keyboard.press('t')
  await page.getByLabel('Tests with this text').focus()
  await page.keyboard.type('opening')
  await page.keyboard.press('Tab')
  for (let more = 0; more < 20 && !(await focused(page)).startsWith('a test/'); more++) await page.keyboard.press('Tab')
  expect(await focused(page)).toBe('a test/opening-2')
  await page.keyboard.press('j')
  expect(await focused(page)).toBe('a test/opening')
  expect(await focusTrouble(page)).toBe('')
  await page.keyboard.press('k')
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'Test test/opening-2' }).waitFor()
  expect(await outOfReach(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('region', { name: 'Test test/opening-2' }).waitFor({ state: 'detached' })
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await outOfReach(page)).toEqual([])
  await page.getByRole('link', { name: 'test/opening-2' }).click()
  expect(await focused(page)).toBe('h3 test/opening-2')
  expect(await outOfReach(page)).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
})

test('another run of tests, and a file that is none, are told in words; Stop ends the run', async () => {
  await save('gated', 'gated')
  await writeFile(join(server.folder, 'test/broken.session.json'), '{ "agentserve": ')
  const opened = Promise.withResolvers<void>()
  gate = opened.promise
  const first = await visit(chromium, server.url, '/studio/tests/test%2Fgated')
  await first.page.getByRole('button', { name: 'Run this test' }).click()
  await first.page.getByRole('button', { name: 'Stop' }).waitFor()
  const second = await visit(chromium, server.url, '/studio/tests/test%2Fbroken')
  const { page } = second
  const broken = page.getByRole('region', { name: 'Test test/broken' })
  await broken.getByText(/JSON/).waitFor()
  await broken.getByRole('button', { name: 'Run this test' }).click()
  await page.getByRole('alert').getByText('Tests are running. Start the next when they have ended.').waitFor()
  expect(await lookAt(page)).toEqual([])
  await first.page.getByRole('button', { name: 'Stop' }).click()
  await first.page.getByRole('status').getByText('Stopped after 0 of 1').waitFor()
  await expect
    .poll(async () => {
      await broken.getByRole('button', { name: 'Run this test' }).click()
      // It can be pressed again once the run has ended, or was refused.
      await broken.getByRole('button', { name: 'Run this test', disabled: false }).waitFor()
      return page.getByRole('status').getByText('0 passed, 1 failed').count()
    })
    .toBe(1)
  opened.resolve()
  expect(await first.end()).toEqual(nothingWrong)
  const { errors, ...rest } = await second.end()
  expect({ ...rest, errors: errors.filter((error) => !error.includes('409')) }).toEqual(nothingWrong)
})

test('new answers are scored, and each scorer tells its score and why', async () => {
  await save('words', 'scored')
  const file = join(server.folder, 'test/scored.session.json')
  const saved = JSON.parse(await readFile(file, 'utf8')) as object
  await writeFile(file, JSON.stringify({ ...saved, scorers: { both: { contains: ['wide', 'deep'] } } }))
  const { page, ...visited } = await visit(chromium, server.url, '/studio/tests/test%2Fscored')
  await page.getByLabel('Mode').selectOption('scores')
  await page.getByText('which may cost money').waitFor()
  await page.getByLabel('Tests with this text').fill('scored')
  await page.getByLabel('Select test/scored').check()
  await page.getByRole('button', { name: 'Run selected (1)' }).click()
  const score = page.getByRole('region', { name: 'Test test/scored' }).getByRole('row', { name: /both/ })
  await score.getByText('0.50 failed').waitFor()
  expect(await score.textContent()).toContain('deep')
  expect(await lookAt(page)).toEqual([])
  expect(await visited.end()).toEqual(nothingWrong)
}, 60_000)

test('a server without tests has no tab, and says so at the address', async () => {
  const other = await startServer()
  const { page, ...visited } = await visit(chromium, other.url, '/studio/tests')
  await page.getByRole('heading', { name: 'No tests here' }).waitFor()
  expect(await page.getByRole('navigation', { name: 'Pages' }).getByText('Tests').count()).toBe(0)
  expect(await visited.end()).toEqual(nothingWrong)
  await other.close()
})
