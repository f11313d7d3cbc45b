import { tool } from 'ai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const hostile = '<img src=x onerror="alert(1)"> ![x](https://evil.example/?q=1) \u202egnp.exe'
const picture = Buffer.from(Array.from({ length: 3000 }, (_, place) => (place * 7919) % 251)).toString('base64')

const tools = {
  calendar: tool({
    description: `Tells the days. ${hostile}`,
    inputSchema: z.object({ month: z.number() }),
    execute: ({ month }) => ({ month, open: '09:00', note: hostile, log: 'x'.repeat(3_100_000), picture }),
  }),
  refund: tool({ inputSchema: z.object({ order: z.number() }), execute: () => 'refunded' }),
  broken: tool({
    inputSchema: z.object({}),
    execute: (): string => {
      throw new Error('the lamp is out')
    },
  }),
}

let chromium: TestBrowser
let server: RunningTestServer
beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    { auth: { keys: ['a-key-of-an-operator', { key: 'a-key-without-prompts', scopes: ['run', 'sessions'] }] } },
    {
      helper: agent({
        model: scriptedModel(({ prompt, text }) => {
          const name = /use (\w+)/.exec(text)?.[1]
          if (name === undefined || prompt.at(-1)?.role === 'tool') return `All **done** with ${text}`
          return {
            tool_calls: [
              { name, input: name === 'calendar' ? { month: 11 } : name === 'refund' ? { order: 4711 } : {} },
            ],
          }
        }),
        instructions: 'Answer from the calendar.',
        temperature: 0.2,
        tools,
        toolApproval: { refund: 'user-approval' },
      }),
    },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

const operator = { 'x-api-key': 'a-key-of-an-operator' }

async function run(agentId: string, input: unknown, session_id?: string) {
  const path = `/api/v1/agents/${agentId}/run`
  return (await server.call('POST', path, { input, session_id, background: true }, operator)).json as {
    run_id: string
    session_id: string
  }
}

async function ended(agentId: string, input: unknown, sessionId?: string) {
  const started = await run(agentId, input, sessionId)
  await expect
    .poll(async () => (await server.call('GET', `/api/v1/runs/${started.run_id}`, undefined, operator)).json.status)
    .not.toMatch(/queued|running/)
  return started
}

async function open(
  { session_id, run_id }: { session_id: string; run_id: string },
  below = '',
  key = 'a-key-of-an-operator',
) {
  const visited = await visit(chromium, server.url, '/studio')
  await visited.page.getByLabel('This server asks for an API key.').fill(key)
  await visited.page.getByLabel(/until this tab/).check()
  await visited.page.getByRole('button', { name: 'Open' }).click()
  await visited.page.getByRole('heading', { name: 'New chat' }).waitFor()
  await visited.page.goto(`${server.url}/studio/s/${session_id}/r/${run_id}${below}`)
  const end = async () => {
    const { errors, ...rest } = await visited.end()
    return { ...rest, errors: errors.filter((error) => !error.includes('401')) }
  }
  return { ...visited, inspector: visited.page.locator('.inspector'), end }
}

test('a call tells its numbers, and the prompt with what the call before had folded', async () => {
  const { page, inspector, end } = await open(await ended('helper', 'use calendar'))
  await page
    .getByRole('row', { name: /^model call/ })
    .last()
    .click()
  await inspector.getByText(/^call 2 of 2 · seq \d+ · stop · /).waitFor()
  await inspector.getByText('first 2 messages as in call 1').waitFor()
  expect(await inspector.getByText('Answer from the calendar.').count()).toBe(0)
  expect(await page.locator('body').textContent()).not.toContain(picture.slice(0, 60))
  await inspector.getByRole('button', { name: 'show', exact: true }).click()
  await inspector.getByText('Answer from the calendar.').waitFor()
  expect(await inspector.getByText('new', { exact: true }).count()).toBe(2)
  expect(await lookAt(page)).toEqual([])
  expect(await end()).toEqual(nothingWrong)
})

test('a file in a prompt is its name, type and size, and a long text is cut', async () => {
  const parts = [
    { type: 'text', text: `see ${'long '.repeat(2000)}` },
    { type: 'file', media_type: 'image/png', name: 'a.png', data: picture },
  ]
  const { page, inspector, end } = await open(await ended('helper', { parts }))
  await page.getByRole('row', { name: /^model call/ }).click()
  await inspector.getByText('a.png (image/png, 2.9 KB)').waitFor()
  const before = (await inspector.textContent())?.length ?? 0
  await inspector.getByRole('button', { name: 'show 9.8 KB' }).click()
  expect(((await inspector.textContent())?.length ?? 0) - before).toBeGreaterThan(5000)
  expect(await page.locator('.inspector img').count()).toBe(0)
  expect(await end()).toEqual(nothingWrong)
})

test('tabs are chosen by arrows and numbers, and stay in the address', async () => {
  const { page, inspector, end } = await open(await ended('helper', 'use calendar'))
  await page
    .getByRole('row', { name: /^model call/ })
    .first()
    .click()
  await inspector.getByRole('tab', { name: 'Tools 3' }).waitFor()
  expect(await treeOf(inspector.getByRole('tablist'))).toMatchInlineSnapshot(`
    "- tablist "What to show of the step":
      - tab "Prompt" [selected]
      - tab "Tools 3"
      - tab "Gave"
      - tab "Settings"
      - tab "Raw""
  `)
  await inspector.getByRole('tab', { name: 'Prompt' }).focus()
  await page.keyboard.press('ArrowRight')
  await inspector.getByText('called', { exact: true }).waitFor()
  expect(await inspector.getByRole('listitem').first().textContent()).toContain('Tells the days.')
  expect(page.url()).toContain('?view=tools')
  await page.keyboard.press('4')
  await inspector.getByRole('tabpanel', { name: 'Settings' }).getByText('temperature').waitFor()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('End')
  expect(page.url()).toContain('?view=raw')
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Raw')
  expect(await inspector.getByRole('tab').evaluateAll((tabs) => tabs.length)).toBe(5)
  const panel = await inspector.getByRole('tab', { name: 'Raw' }).getAttribute('aria-controls')
  expect(await inspector.getByRole('tabpanel').getAttribute('id')).toBe(panel)
  expect(await lookAt(page)).toEqual([])
  expect(await end()).toEqual(nothingWrong)
})

test('a tool shows its input and output side by side, large values cut, files as their size', async () => {
  const { page, inspector, end } = await open(await ended('helper', 'use calendar'))
  await page.getByRole('row', { name: /^tool call/ }).click()
  await inspector.getByText(/^tool calendar · seq/).waitFor()
  await inspector.getByRole('region', { name: 'Input' }).getByText('month').waitFor()
  const output = inspector.getByRole('region', { name: 'Output' })
  await output.getByText('(base64, 2.9 KB)').waitFor()
  expect(await page.evaluate('document.body.textContent.length')).toBeLessThan(20_000)
  expect(await lookAt(page)).toEqual([])
  await output.getByRole('button', { name: /^show 100.0 KB more of 3.0 MB/ }).click()
  await expect.poll(async () => (await output.textContent())?.length ?? 0).toBeGreaterThan(100 * 1024)
  expect(await page.locator('.inspector img').count()).toBe(0)
  expect(await end()).toEqual(nothingWrong)
})

test('a call that was refused says by whom, and one that failed says why', async () => {
  const asked = await ended('helper', 'use refund')
  const { page, inspector, end } = await open(asked)
  await page.getByRole('row', { name: /^tool call/ }).click()
  await inspector.getByText(/waits for a person/).waitFor()
  await page.getByRole('row', { name: /^waits/ }).click()
  await inspector.getByText(/^Allow the tool/).waitFor()
  expect(await lookAt(page)).toEqual([])
  await server.call('POST', `/api/v1/runs/${asked.run_id}/resume`, { approved: false }, operator)
  await inspector.getByText(/^wait · seq \d+ · refused by a person after/).waitFor()
  await page.getByRole('row', { name: /^tool call/ }).click()
  await inspector.getByText(/^tool refund · seq \d+ · refused by a person/).waitFor()
  await page.goto(page.url().replace(/\/s\/.*/, ''))
  const broken = await ended('helper', 'use broken')
  await page.goto(`${server.url}/studio/s/${broken.session_id}/r/${broken.run_id}`)
  await page.getByRole('row', { name: /^tool call/ }).click()
  await inspector.getByRole('region', { name: 'Error' }).getByText('the lamp is out').waitFor()
  expect(await end()).toEqual(nothingWrong)
})

test('without the scope for prompts their tabs are absent, and it says which scope they need', async () => {
  const { page, inspector, end } = await open(await ended('helper', 'use calendar'), '', 'a-key-without-prompts')
  await page
    .getByRole('row', { name: /^model call/ })
    .first()
    .click()
  await inspector.getByText(/scope prompts/).waitFor()
  expect(await inspector.getByRole('tab').allTextContents()).toEqual(['Gave', 'Raw'])
  expect(await lookAt(page)).toEqual([])
  expect(await end()).toEqual(nothingWrong)
})

test('a prompt that can not be put together again says so, and leads to the events', async () => {
  const first = await ended('helper', 'one')
  await ended('helper', 'two', first.session_id)
  const copy = await server.call('GET', `/api/v1/sessions/${first.session_id}/export?events=true`, undefined, operator)
  const lines = copy.text.replaceAll('with one', 'with something else')
  const path = '/api/v1/sessions/import?new_ids=true'
  const { json, text } = await server.call('POST', path, lines, { ...operator, 'content-type': 'application/x-ndjson' })
  expect(text).toContain('session_id')
  const { run_id } = json.runs.at(-1)
  const { page, inspector, end } = await open({ session_id: json.session_id, run_id })
  await page.getByRole('row', { name: /^model call/ }).click()
  await inspector.getByText('Some messages of the prompt are gone').waitFor()
  expect(await lookAt(page)).toEqual([])
  await inspector.getByRole('button', { name: 'events of the run' }).click()
  const list = page.getByRole('listbox', { name: 'Events of the run' })
  await list.getByRole('option', { name: /model_call_start/ }).waitFor()
  expect(await end()).toEqual(nothingWrong)
})
