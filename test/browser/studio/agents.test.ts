import { tool } from 'ai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const operator = 'a-key-of-an-operator'
const keys = [operator, { key: 'key-of-ann-is-this', userId: 'ann' }]

let chromium: TestBrowser
let server: RunningTestServer
let locked: RunningTestServer

const refunds = () =>
  agent({
    description: 'Gives money back.',
    model: [scriptedModel('No.'), scriptedModel('No.')],
    instructions: 'Never <b>refund</b> without the order.',
    tools: {
      refund: tool({ description: 'Pays.', inputSchema: z.object({ order: z.number() }), execute: () => 'done' }),
    },
    toolApproval: { refund: 'user-approval' },
    knowledge: { limit: 4, filters: { topic: 'orders' } },
  })

beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      refunds: refunds(),
      desk: team({ mode: 'sequence', members: ['refunds', 'echo'] }),
      report: workflow({
        input: z.object({ topic: z.string() }),
        async run({ input, step, approve }) {
          const facts = await step('facts', () => input.topic)
          await approve('publish', { facts })
          return step('write', () => facts)
        },
      }),
    },
  )
  locked = await startServer({ auth: { keys } }, { refunds: refunds() })
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close(), locked?.close()])
})

const open = (path: string, options = {}) => visit(chromium, server.url, path, options)

test('a long name stays in its card on the first page, and ends with dots in the list', async () => {
  const long = 'anagentwhosename'.repeat(5)
  const named = await startServer({}, { [long]: agent({ description: 'word '.repeat(80), run: () => 'yes' }) })
  const wide = (what: string) =>
    `[...document.querySelectorAll('${what}')].filter((element) => element.scrollWidth > element.clientWidth).length`
  for (const width of [1280, 375]) {
    const { page, ...visited } = await visit(chromium, named.url, '/studio', { viewport: { width, height: 800 } })
    const cards = page.getByRole('group', { name: 'Who is asked' })
    await cards.getByText(long).waitFor()
    expect((await cards.boundingBox())?.width).toBeLessThan(width)
    expect(await page.evaluate(wide('.agents, .agent'))).toBe(0)
    await page.goto(`${named.url}/studio/agents`)
    await page.getByRole('link', { name: long }).waitFor()
    expect(await page.evaluate(wide('.agent-link'))).toBe(0)
    expect(await visited.end()).toEqual(nothingWrong)
  }
  await named.close()
})

test('an agent shows when it runs by itself, and is run at once', async () => {
  const nightly = { cron: '0 3 * * *', timeZone: 'Europe/Berlin', agent: 'echo', input: 'good night' }
  const scheduled = await startServer(
    {},
    {},
    { schedules: { nightly, off: { ...nightly, enabled: false }, rests: nightly } },
  )
  await scheduled.call('PUT', '/api/v1/schedules/rests', { paused: true })
  const { page, ...visited } = await visit(chromium, scheduled.url, '/studio/agents/echo', {})
  const shown = page.getByRole('region', { name: 'agent echo' })
  await shown.getByRole('button', { name: 'Run nightly now' }).click()
  await shown.getByText('nightly has started.').waitFor()
  await shown.getByRole('link', { name: 'good night' }).waitFor()
  for (const state of ['off', 'paused'])
    expect(await shown.getByText(`0 3 * * * Europe/Berlin, next: ${state}`).count()).toBe(1)
  // As other times of the page, in the time zone of the reader.
  expect(await shown.locator('time[datetime$="Z"]').first().textContent()).toMatch(/^([A-Z][a-z]{2} \d+, )?\d\d:\d\d$/)
  expect(await visited.end()).toEqual(nothingWrong)
  const other = await visit(chromium, scheduled.url, '/studio/agents/docs', {})
  await other.page.getByRole('region', { name: 'agent docs' }).waitFor()
  expect(await other.page.getByRole('button', { name: /^Run .* now$/ }).count()).toBe(0)
  expect(await other.end()).toEqual(nothingWrong)
  await scheduled.close()
})

test('an agent shows all that it is set up with, and leads to a chat, a search and its sessions', async () => {
  await server.call('POST', '/api/v1/agents/refunds/run', { input: 'my money' })
  const { page, ...visited } = await open('/studio')
  await page.getByRole('button', { name: 'New chat' }).focus()
  await page.keyboard.press('g')
  await page.keyboard.press('a')
  await page.getByRole('link', { name: /^echo/ }).focus()
  for (const _ of [1, 2]) await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  const shown = page.getByRole('region', { name: 'agent refunds' })
  await shown.getByRole('link', { name: 'my money' }).waitFor()
  expect(await treeOf(shown)).toMatchInlineSnapshot(`
    "- region "agent refunds":
      - heading "refunds" [level=3]
      - text: agent
      - link "New chat":
        - /url: /studio?agent=refunds
      - paragraph: Gives money back.
      - term: Id
      - definition:
        - text: refunds
        - button "Copy the id": copy
      - term: Model
      - definition: scripted/scripted
      - term: Fallback models
      - definition: scripted/scripted
      - term: Knowledge
      - definition:
        - text: "searched before each answer, 4 passages, filters {\\"topic\\":\\"orders\\"}"
        - link "Search as it does":
          - /url: /studio/knowledge?limit=4&filters=%7B%22topic%22%3A%22orders%22%7D
      - term: Memory
      - definition: 20 earlier runs, a summary
      - heading "Instructions" [level=4]
      - text: Never <b>refund</b> without the order.
      - heading "1 tool" [level=4]
      - list:
        - listitem:
          - strong: refund
          - text: "approval: always"
          - paragraph: Pays.
          - group: "input: {5}"
      - heading "Newest sessions" [level=4]
      - list:
        - listitem:
          - link "my money":
            - /url: /studio/s/ses_…?agent=refunds
          - text: completed
          - time: …"
  `)
  expect(await treeOf(page.getByRole('region', { name: 'Graph' }))).toMatchInlineSnapshot(`
    "- region "Graph":
      - figure "Graph of refunds":
        - list:
          - listitem: agent refunds , leads to refund, knowledge
          - listitem: tool refund
          - listitem:
            - link "search knowledge":
              - /url: /studio/knowledge"
  `)
  expect(await lookAt(page)).toEqual([])
  await shown.getByRole('link', { name: 'Search as it does' }).click()
  await page.getByRole('searchbox', { name: 'Search the documents' }).waitFor()
  expect(await page.getByLabel('Filters').inputValue()).toBe('{"topic":"orders"}')
  await page.goBack()
  await shown.getByRole('link', { name: 'New chat' }).click()
  await page.getByLabel('Message to refunds').waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a team is drawn with its members, which are links', async () => {
  const { page, ...visited } = await open('/studio/agents/desk')
  const graph = page.getByRole('region', { name: 'Graph' })
  await graph.getByRole('link', { name: 'agent echo', exact: true }).waitFor()
  expect(await treeOf(graph)).toMatchInlineSnapshot(`
    "- region "Graph":
      - figure "Graph of desk":
        - list:
          - listitem: team desk , leads to refunds
          - listitem:
            - link "agent refunds , leads to echo":
              - /url: /studio/agents/refunds
          - listitem:
            - link "agent echo":
              - /url: /studio/agents/echo"
  `)
  expect(await lookAt(page)).toEqual([])
  await graph.getByRole('link', { name: 'agent echo', exact: true }).click()
  await page.getByRole('region', { name: 'agent echo' }).waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a workflow shows its last run as soon as it has one, and how it goes on', async () => {
  const { page, ...visited } = await open('/studio/agents/report')
  await page.getByText('It has not run yet').waitFor()
  expect(await treeOf(page.locator('main'))).toMatchInlineSnapshot(`
    "- main:
      - heading "Agents" [level=2]
      - navigation "Agents":
        - region "agents":
          - heading "agents" [level=3]
          - list:
            - listitem:
              - link "echo":
                - /url: /studio/agents/echo
                - strong: echo
            - listitem:
              - link "docs":
                - /url: /studio/agents/docs
                - strong: docs
            - listitem:
              - link "refunds Gives money back.":
                - /url: /studio/agents/refunds
                - strong: refunds
                - text: Gives money back.
        - region "teams":
          - heading "teams" [level=3]
          - list:
            - listitem:
              - link "desk":
                - /url: /studio/agents/desk
                - strong: desk
        - region "workflows":
          - heading "workflows" [level=3]
          - list:
            - listitem:
              - link "report":
                - /url: /studio/agents/report
                - strong: report
      - region "Graph":
        - paragraph: It has not run yet. Its steps are shown after its first run.
      - region "workflow report":
        - heading "report" [level=3]
        - text: workflow
        - link "New chat":
          - /url: /studio?agent=report
        - term: Id
        - definition:
          - text: report
          - button "Copy the id": copy
        - term: Model
        - definition: none of its own
        - group:
          - text: "input schema: {5} $schema: http://json-schema.org/draft-07/schema# type: object"
          - group: "properties: {1}"
          - group: "required: [1]"
          - text: "additionalProperties: false"
        - heading "Newest sessions" [level=4]
        - paragraph: None yet."
  `)
  const { json } = await server.call('POST', '/api/v1/agents/report/run', { input: { topic: 'tea' } })
  const graph = page.getByRole('region', { name: 'Graph' })
  await graph.getByRole('link', { name: /^question/ }).waitFor()
  expect(await treeOf(graph)).toMatchInlineSnapshot(`
    "- region "Graph":
      - paragraph:
        - text: waits for you
        - link "Its last run":
          - /url: /studio/s/ses_…/r/run_…
      - figure "Graph of report":
        - list:
          - listitem: workflow report , leads to facts
          - listitem:
            - link "step facts , done, leads to Approve 'publish'?":
              - /url: /studio/s/ses_…/r/run_…/e/2
          - listitem:
            - link "question Approve 'publish'? , waiting":
              - /url: /studio/s/ses_…/r/run_…/e/4"
  `)
  expect(await lookAt(page)).toEqual([])
  await server.call('POST', `/api/v1/runs/${json.run_id}/resume`, { approved: true })
  await graph.getByRole('link', { name: /^step write/ }).waitFor()
  await graph.getByRole('link', { name: /^step facts/ }).click()
  await page.getByRole('region', { name: `Run ${json.run_id}` }).waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})

test('an agent that is not there is told so', async () => {
  const { page, ...visited } = await open('/studio/agents/nobody')
  await page.getByText('There is no agent').waitFor()
  expect(await treeOf(page.locator('.library-main'))).toMatchInlineSnapshot(`
    "- region "Graph":
      - alert: There is no agent 'nobody'."
  `)
  expect(await lookAt(page)).toEqual([])
  const { errors, ...rest } = await visited.end()
  expect({ ...rest, errors: errors.filter((error) => !error.includes('404')) }).toEqual(nothingWrong)
})

test('on the phone the list, the agent and Back follow each other', async () => {
  const { page, ...visited } = await open('/studio/agents', { viewport: { width: 390, height: 844 } })
  await page.getByRole('link', { name: /^refunds/ }).click()
  await page.getByRole('region', { name: 'agent refunds' }).waitFor()
  expect(await page.getByRole('navigation', { name: 'Agents' }).isVisible()).toBe(false)
  await page.getByRole('link', { name: 'Back to the agents' }).click()
  await page.getByRole('link', { name: /^refunds/ }).waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a user sees what an agent is for and its tools, and nothing of how it is configured', async () => {
  const { page, ...visited } = await visit(chromium, locked.url, '/studio/agents/refunds')
  await page.getByLabel('This server asks for an API key.').fill('key-of-ann-is-this')
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByText('None yet.').waitFor()
  expect(await treeOf(page.getByRole('region', { name: 'agent refunds' }))).toMatchInlineSnapshot(`
    "- region "agent refunds":
      - heading "refunds" [level=3]
      - text: agent
      - link "New chat":
        - /url: /studio?agent=refunds
      - paragraph: Gives money back.
      - term: Id
      - definition:
        - text: refunds
        - button "Copy the id": copy
      - term: Model
      - definition: scripted/scripted
      - heading "1 tool" [level=4]
      - list:
        - listitem:
          - strong: refund
          - paragraph: Pays.
      - heading "Newest sessions" [level=4]
      - paragraph: None yet."
  `)
  expect(visited.urls.filter((url) => url.includes('include=config'))).toEqual([])
  expect(await lookAt(page)).toEqual([])
  await visited.end()
})
