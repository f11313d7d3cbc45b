import { tool } from 'ai'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const pay = tool({ inputSchema: z.object({ order: z.number() }), execute: ({ order }) => `paid ${order}` })
const schema = z.object({
  name: z.string().min(2).describe('As in the passport.'),
  seats: z.int().min(1).max(9).default(2),
  class: z.enum(['first', 'second']),
  meal: z.boolean().optional(),
  address: z.object({ city: z.string() }),
  tags: z.array(z.string()).max(2).optional(),
})

let chromium: TestBrowser
let server: RunningTestServer
beforeAll(async () => {
  chromium = await openBrowser()
  const model = (orders: readonly number[]) =>
    scriptedModel(({ prompt }) => {
      const last = prompt.at(-1)
      if (last?.role === 'tool')
        return `Told: ${JSON.stringify(last.content.flatMap((part) => ('output' in part ? part.output : [])))}`
      return { tool_calls: orders.map((order) => ({ name: 'pay', input: { order } })) }
    })
  const asking = (schema: object | undefined) =>
    agent({
      // biome-ignore lint/suspicious/noExplicitAny: a JSON schema
      async *run({ resumed }): AsyncGenerator<any> {
        if (resumed === undefined) yield { type: 'input_required', prompt: 'Who travels?', ...(schema && { schema }) }
        else yield `It is ${JSON.stringify(resumed.input)}`
      },
    })
  server = await startServer(
    {},
    {
      one: agent({ model: model([4711]), tools: { pay }, toolApproval: { pay: 'user-approval' } }),
      two: agent({ model: model([1, 2]), tools: { pay }, toolApproval: { pay: 'user-approval' } }),
      form: asking(z.toJSONSchema(schema)),
      written: asking({ type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
      text: asking(undefined),
    },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

async function paused(agentId: string) {
  const { json } = await server.call('POST', `/api/v1/agents/${agentId}/run`, { input: 'please' })
  expect(json.status).toBe('input_required')
  const path = `/studio/s/${json.session_id}`
  const visited = await visit(chromium, server.url, path)
  const card = visited.page.getByRole('region', { name: 'Waits for you' })
  await card.waitFor()
  return { ...visited, card, path, runId: json.run_id as string }
}
const answerTo = async (runId: string) => (await server.call('GET', `/api/v1/runs/${runId}`)).json.content
const focused = (page: Page) =>
  page.evaluate("document.activeElement.closest('article, .asking')?.className ?? document.activeElement.tagName")

test('a card takes no focus, and A allows while the focus is in it; then the turn has the focus', async () => {
  const { page, card, runId, ...visited } = await paused('one')
  expect(await treeOf(card)).toMatchInlineSnapshot(`
    "- region "Waits for you":
      - group "pay Allow the tool 'pay' to run?":
        - strong: pay
        - text: Allow the tool 'pay' to run?
        - group: "{1} order: 4711"
        - button "Allow"
        - button "Refuse…""
  `)
  expect(await lookAt(page)).toEqual([])
  expect(await focused(page)).toBe('BODY')
  await page.keyboard.press('A')
  expect(await card.getByRole('button', { name: 'Allow' }).isEnabled()).toBe(true)
  await card.getByRole('button', { name: 'Allow' }).focus()
  await page.keyboard.press('A')
  await page.getByText('paid 4711').waitFor()
  await expect.poll(() => focused(page)).toBe('turn')
  const told = page.getByRole('list', { name: 'Questions of the run' })
  expect(await treeOf(told)).toMatchInlineSnapshot(`
    "- list "Questions of the run":
      - listitem:
        - paragraph:
          - strong: pay
          - text: ": allowed"
          - time: …
        - group: What it was about"
  `)
  await expect.poll(() => answerTo(runId)).toContain('paid 4711')
  expect(await visited.end()).toEqual(nothingWrong)
})

test('R asks for a reason first, which the model and the record are told', async () => {
  const { page, card, runId, ...visited } = await paused('one')
  await card.getByRole('button', { name: 'Refuse…' }).focus()
  await page.keyboard.press('R')
  await page.keyboard.type('not A Friday')
  expect(await lookAt(page)).toEqual([])
  await card.getByRole('button', { name: 'Refuse', exact: true }).click()
  await page.getByText('refused: not A Friday').waitFor()
  await expect.poll(() => answerTo(runId)).toContain('not A Friday')
  expect(await visited.end()).toEqual(nothingWrong)
})

test('several questions are answered at once, and each can be changed before', async () => {
  const { page, card, runId, ...visited } = await paused('two')
  const first = card.locator('.asking').nth(0)
  const second = card.locator('.asking').nth(1)
  await first.getByRole('button', { name: 'Allow' }).click()
  await card.getByText('1 of 2 answered. They are sent together.').waitFor()
  expect(await page.evaluate("[...document.querySelectorAll('.asking')].indexOf(document.activeElement)")).toBe(1)
  await first.getByRole('button', { name: 'Change' }).click()
  await first.getByRole('button', { name: 'Refuse…' }).click()
  await first.getByRole('button', { name: 'Refuse', exact: true }).click()
  expect(await lookAt(page)).toEqual([])
  await second.getByRole('button', { name: 'Allow' }).click()
  await page.getByRole('list', { name: 'Questions of the run' }).getByText('refused').waitFor()
  await expect.poll(() => answerTo(runId)).toContain('paid 2')
  expect(await answerTo(runId)).not.toContain('paid 1')
  expect(await visited.end()).toEqual(nothingWrong)
})

test('of two windows that answer at once one is taken, and the other is told so in words', async () => {
  const one = await paused('one')
  const other = await visit(chromium, server.url, one.path)
  await other.page.getByRole('button', { name: 'Refuse…' }).click()
  // The second window has not heard of the first answer when it gives its own.
  await other.page.route('**/api/v1/runs/*/resume', async (route) => {
    await one.page.getByRole('button', { name: 'Allow' }).click()
    await one.page.getByRole('article').getByText('paid 4711').waitFor()
    await route.continue()
  })
  const answered = other.page.waitForResponse(/\/resume$/)
  await other.page.getByRole('button', { name: 'Refuse', exact: true }).click()
  expect((await answered).status()).toBe(409)
  await other.page.getByText('Somebody else answered first. Your answer was not used.').waitFor()
  await other.page.getByRole('article').getByText('paid 4711').waitFor()
  await other.page.getByRole('list', { name: 'Questions of the run' }).getByText('allowed').waitFor()
  expect(await lookAt(other.page)).toEqual([])
  expect(await one.end()).toEqual(nothingWrong)
  const { errors, ...rest } = await other.end()
  expect({ ...rest, errors: errors.filter((error) => !error.includes('409')) }).toEqual(nothingWrong)
})

test('a form is made of a schema, says what is wrong at its field, and answers', async () => {
  const { page, card, runId, ...visited } = await paused('form')
  expect(await treeOf(card)).toMatchInlineSnapshot(`
    "- region "Waits for you":
      - group "Who travels?":
        - strong: Who travels?
        - group "Your answer":
          - text: Your answer name
          - textbox "name"
          - paragraph: As in the passport.
          - text: seats
          - spinbutton "seats": "2"
          - paragraph: At least 1. At most 9.
          - text: class
          - combobox "class":
            - option "–" [selected]
            - option "first"
            - option "second"
          - text: meal (optional)
          - combobox "meal (optional)":
            - option "–" [selected]
            - option "yes"
            - option "no"
          - group "address":
            - text: address city
            - textbox "city"
          - group "tags (optional)":
            - text: tags (optional)
            - button "Add to tags"
        - button "Answer""
  `)
  await card.getByRole('button', { name: 'Answer' }).click()
  expect(await card.locator('.wrong').filter({ hasText: 'Please' }).count()).toBe(3)
  await expect.poll(() => page.evaluate('document.activeElement.validity.valueMissing')).toBe(true)
  expect(await card.getByLabel('name').getAttribute('aria-invalid')).toBe('true')
  expect(await lookAt(page)).toEqual([])
  await card.getByLabel('name').fill('A')
  await card.getByLabel('seats').fill('10')
  await card.getByRole('button', { name: 'Answer' }).click()
  await card.getByText(/Please lengthen this text to 2 characters/).waitFor()
  await card.getByText('Value must be less than or equal to 9.').waitFor()
  expect(await lookAt(page)).toEqual([])
  await card.getByLabel('name').fill('Ann')
  await card.getByLabel('seats').fill('3')
  await card.getByLabel('class').selectOption('second')
  await card.getByLabel('city').fill('Bern')
  await card.getByRole('button', { name: 'Add to tags' }).click()
  await card.getByLabel('1', { exact: true }).fill('window')
  await card.getByRole('button', { name: 'Answer' }).click()
  const given = { name: 'Ann', seats: 3, class: 'second', address: { city: 'Bern' }, tags: ['window'] }
  await page.getByText(`It is ${JSON.stringify(given)}`).waitFor()
  await expect.poll(() => answerTo(runId)).toBe(`It is ${JSON.stringify(given)}`)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('what a form can not express is JSON, read first here and then by the server, whose words are shown', async () => {
  const { page, card, ...visited } = await paused('written')
  const field = card.getByLabel('Your answer, as JSON')
  await field.fill('{"a":')
  await card.getByRole('button', { name: 'Answer' }).click()
  await card.getByText(/This is not JSON/).waitFor()
  await field.fill('{"c": 1}')
  await card.getByRole('button', { name: 'Answer' }).click()
  await card
    .getByRole('alert')
    .filter({ hasText: /must|schema/ })
    .waitFor()
  expect(await lookAt(page)).toEqual([])
  expect(await field.inputValue()).toBe('{"c": 1}')
  await field.fill('{"b": 1}')
  await card.getByRole('button', { name: 'Answer' }).click()
  await page.getByText('It is {"b":1}').waitFor()
  const { errors, ...rest } = await visited.end()
  expect({ ...rest, errors: errors.filter((error) => !error.includes('400')) }).toEqual(nothingWrong)
})

test('a question without a schema is answered by text', async () => {
  const { page, card, ...visited } = await paused('text')
  expect(await lookAt(page)).toEqual([])
  await card.getByLabel('Your answer').fill('Ann')
  await card.getByRole('button', { name: 'Answer' }).click()
  await page.getByText('It is "Ann"').waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})
