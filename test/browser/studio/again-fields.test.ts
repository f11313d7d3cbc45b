import { tool } from 'ai'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { formatMs } from '../../../src/core/text/format.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { parseEvents } from '../../runnables/agent-server.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer

const clerkModel = scriptedModel(({ prompt }) =>
  prompt.at(-1)?.role === 'tool'
    ? JSON.stringify(prompt).includes('half past')
      ? 'Half past nine.'
      : 'At nine.'
    : { tool_calls: [{ name: 'clock', input: {} }] },
)

/** What the tries of `dice` say and how many tokens that takes; which try gets which is not said. */
const throws = [
  { text: 'It is one.', output_tokens: 100 },
  { text: 'It is two.', output_tokens: 250 },
  { text: 'It is one.', output_tokens: 100 },
  { text: 'It is three.', output_tokens: 50 },
  { text: 'It is one.', output_tokens: 100 },
]
const diceModel = (name: string) => {
  const left = [...throws]
  const model = scriptedModel(({ number }) => {
    const { text, output_tokens } = (number === 1 ? undefined : left.shift()) ?? {
      text: 'It is one.',
      output_tokens: 100,
    }
    return { text, usage: { input_tokens: 10, output_tokens } }
  })
  return Object.assign(model, { modelId: name })
}

/** Of its tries, two fail before they say anything, and one of the others differs. */
const shaky = () => {
  const left = ['', 'Yes.', 'No.', '', 'Yes.']
  return scriptedModel(({ number }) => {
    const text = number === 1 ? 'Yes.' : left.shift()
    if (!text) throw new Error('out of order')
    return { text }
  })
}

beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    { studio: { again: true } },
    {
      clerk: agent({
        instructions: 'Answer in one sentence.',
        model: clerkModel,
        temperature: 0.9,
        topP: 0.5,
        tools: { clock: tool({ description: 'The time.', inputSchema: z.object({}), execute: () => 'nine' }) },
      }),
      dice: agent({ model: diceModel('priced') }),
      drawer: agent({
        run: () => [
          'It is attached.',
          { type: 'file', media_type: 'text/plain', name: 'hours.txt', data: Buffer.from('nine') },
          { type: 'data', data: { opens: 9 } },
        ],
      }),
      shaky: agent({ model: shaky(), maxRetries: 0 }),
      steady: agent({ model: scriptedModel(() => 'Steady.') }),
      unpriced: agent({ model: diceModel('unpriced') }),
    },
    { prices: { 'scripted/scripted': 'local', 'scripted/priced': { input: 100, output: 1000 } } },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

const ask = async (id: string) =>
  (await server.call('POST', `/api/v1/agents/${id}/run`, { input: 'When does it open?' })).json
const b = (page: Page) => page.getByRole('region', { name: 'B · again' })
/** The calls of the clerk's model since there were so many. */
const callsSince = (count: number) => clerkModel.doStreamCalls.slice(count)

async function open(id: string) {
  const run = await ask(id)
  const visited = await visit(chromium, server.url, `/studio/again/${run.run_id}`)
  await visited.page.getByLabel('Tools and steps after it').selectOption('recorded')
  return { run, ...visited }
}

test('each setting of the form reaches the model, and the record of the try tells it', async () => {
  const { page, end } = await open('clerk')
  const before = clerkModel.doStreamCalls.length
  await page.getByText('Settings', { exact: true }).click()
  const given = { temperature: 0.25, topP: 0.8, topK: 20, maxOutputTokens: 55, seed: 7 }
  for (const [name, value] of Object.entries(given)) await page.getByLabel(name).fill(`${value}`)
  expect(await lookAt(page)).toEqual([])
  await page.getByRole('button', { name: 'Run again' }).click()
  await b(page).getByText('At nine.').waitFor()
  // The call that asks the tool, and the one after it.
  expect(callsSince(before)).toMatchObject([given, given])
  await b(page)
    .getByRole('link', { name: /^clerk …/ })
    .click()
  await page
    .getByRole('row', { name: /^model call/ })
    .last()
    .click()
  await page.getByRole('tab', { name: 'Settings' }).click()
  const panel = page.getByRole('tabpanel', { name: 'Settings' })
  await panel.getByText('temperature:').waitFor()
  for (const [name, value] of Object.entries(given)) expect(await panel.textContent()).toContain(`${name}: ${value}`)
  expect(await end()).toEqual(nothingWrong)
})

test('a setting that is left empty stays as it was, zero is a setting, and what is refused is told', async () => {
  const { page, end } = await open('clerk')
  expect(clerkModel.doStreamCalls.at(-1)).toMatchObject({ temperature: 0.9, topP: 0.5 })
  await page.getByText('Settings', { exact: true }).click()
  await page.getByLabel('temperature').fill('0')
  await page.getByLabel('topK').fill('2.5')
  const before = clerkModel.doStreamCalls.length
  await page.getByRole('button', { name: 'Run again' }).click()
  await page.getByRole('alert').filter({ hasText: 'edit.settings.topK must be' }).waitFor()
  expect(await page.getByLabel('temperature').inputValue()).toBe('0')
  expect(callsSince(before)).toEqual([])
  await page.getByLabel('topK').fill('')
  await page.getByRole('button', { name: 'Run again' }).click()
  await b(page).getByText('At nine.').waitFor()
  const sent = callsSince(before).map(({ temperature, topP, topK, seed }) => ({ temperature, topP, topK, seed }))
  const expected = { temperature: 0, topP: 0.5, topK: undefined, seed: undefined }
  expect(sent).toEqual([expected, expected])
  expect(await page.getByRole('alert').allTextContents()).toEqual(
    expect.not.arrayContaining([expect.stringMatching(/./)]),
  )
  expect((await end()).violations).toEqual([])
})

test('the model is told the messages as they were changed, and the settings with them', async () => {
  const { page, end } = await open('clerk')
  await from(page, /^model call/)
  await page.getByRole('button', { name: 'Change the messages' }).click()
  const field = page.getByLabel('Messages of the call')
  const text = await field.inputValue()
  expect(JSON.parse(text).map(({ role }: { role: string }) => role)).toEqual(['system', 'user', 'assistant', 'tool'])
  const before = clerkModel.doStreamCalls.length
  await field.fill(text.slice(1))
  await page.getByRole('button', { name: 'Run again' }).click()
  await page.getByText('The messages are no list in JSON.').waitFor()
  expect(await field.inputValue()).toBe(text.slice(1))
  await field.fill('{}')
  await page.getByRole('button', { name: 'Run again' }).click()
  await page.getByText('edit.messages must be a list').waitFor()
  expect(callsSince(before)).toEqual([])
  await field.fill(text.replace('"nine"', '"half past nine"').replace('When does it open?', 'When on <b>Sunday</b>?'))
  await page.getByText('Settings', { exact: true }).click()
  await page.getByLabel('seed').fill('11')
  await page.getByRole('button', { name: 'Run again' }).click()
  await b(page).getByText('Half past nine.').waitFor()
  const [call, ...others] = callsSince(before)
  expect(others).toEqual([])
  expect(call).toMatchObject({ seed: 11, temperature: 0.9 })
  expect(call?.prompt.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool'])
  expect(call?.prompt[1]).toMatchObject({ content: [{ type: 'text', text: 'When on <b>Sunday</b>?' }] })
  expect(JSON.stringify(call?.prompt[3])).toContain('half past nine')
  const prompt = page.getByRole('region', { name: 'Prompt' })
  await prompt.getByLabel('Of model call').selectOption('2')
  await prompt.getByText('2 messages are the same.').waitFor()
  expect((await prompt.getByRole('insertion').allTextContents()).join(' ')).toMatch(/<b>Sunday<\/b>.*half past/)
  expect(await lookAt(page)).toEqual([])
  const { errors, ...rest } = await end()
  // The server refused what is no list.
  expect({ ...rest, errors: errors.filter((error) => !error.includes('400')) }).toEqual(nothingWrong)
})

test('a prompt that was not in the record yet is read again once the run has ended', async () => {
  const { page, end } = await open('steady')
  let refused = 0
  await page.route(/\/trace\?call=/, (route) => {
    if (refused++ === 0)
      return route.fulfill({ status: 404, json: { error: { code: 'call_not_found', message: 'Gone.' } } })
    return route.continue()
  })
  await page.getByRole('button', { name: 'Run again' }).click()
  const prompt = page.getByRole('region', { name: 'Prompt' })
  await prompt.getByText('1 message is the same: nothing differs.').waitFor()
  expect(refused).toBe(4)
  expect(await prompt.getByRole('alert').count()).toBe(0)
  // One that is gone for good is told, and not read for ever.
  await page.unroute(/\/trace\?call=/)
  await page.route(/\/trace\?call=/, (route) => route.fulfill({ json: { calls: [] } }))
  await page.reload()
  await prompt.getByRole('alert').getByText('Some messages of the prompt are gone.').waitFor()
  expect(await prompt.getByText('Reading…').count()).toBe(0)
  expect((await end()).violations).toEqual([])
})

test('after ×5 the spread tells the different answers, and of each try what was measured', async () => {
  const { run, page, end } = await open('dice')
  await page.getByRole('button', { name: 'Again ×5' }).click()
  const spread = page.getByRole('region', { name: 'Spread' })
  // 10 tokens in are $0.001, 50 to 250 out $0.05 to $0.25.
  await spread.getByText('3 different answers in 5 runs, cost $0.05 to $0.25').waitFor()
  const ids = new URL(page.url()).searchParams.get('try')?.split(',') ?? []
  const tries = await Promise.all(ids.map(async (id) => (await server.call('GET', `/api/v1/runs/${id}`)).json))
  expect(tries.map(({ usage }) => usage.output_tokens).sort()).toEqual([100, 100, 100, 250, 50])
  expect(run.usage.output_tokens).toBe(100)
  const kinds = [...new Set(tries.map(({ content }) => content))]
  const changes: Record<number, string> = { 50: '−50 %', 100: 'the same', 250: '+150 %' }
  const rows = spread.getByRole('button')
  for (const [place, { run_id, content, cost, usage }] of tries.entries()) {
    const answer = `answer ${kinds.indexOf(content) + 1} · ${formatMs(await tookMs(run_id))}`
    const told = `${answer} · $${cost.usd.toFixed(2)} · tokens out ${changes[usage.output_tokens]}`
    await expect.poll(() => rows.nth(place).textContent()).toContain(told)
  }
  const two = tries.findIndex(({ content }) => content === 'It is two.')
  await rows.nth(two).press('Enter')
  await b(page).getByText('It is two.').waitFor()
  expect(await rows.nth(two).getAttribute('aria-pressed')).toBe('true')
  const cells = page.getByRole('row', { name: /^Cost/ }).getByRole('cell')
  expect(await cells.allTextContents()).toEqual(['$0.10', '$0.25', '+149 %'])
  expect(await lookAt(page)).toEqual([])
  const hold = Promise.withResolvers<void>()
  await page.route(`**/runs/${ids[0]}/events*`, async (route) => {
    await hold.promise
    await route.continue()
  })
  await page.reload()
  await expect.poll(() => rows.filter({ hasText: 'completed' }).count()).toBe(5)
  expect(await spread.getByRole('status').textContent()).toContain('Under way…')
  hold.resolve()
  await spread.getByText('3 different answers in 5 runs, cost $0.05 to $0.25').waitFor()
  await page.getByRole('button', { name: 'Drop' }).click()
  await spread.getByText(/answers in 4 runs/).waitFor()
  expect(await rows.count()).toBe(4)
  expect(await end()).toEqual(nothingWrong)
})

test('the spread tells no cost when one is not known', async () => {
  const { page, end } = await open('unpriced')
  await page.getByRole('button', { name: 'Again ×5' }).click()
  const spread = page.getByRole('region', { name: 'Spread' })
  await spread.getByText('3 different answers in 5 runs', { exact: true }).waitFor()
  expect(await spread.getByRole('button').allTextContents()).toEqual(
    Array(5).fill(expect.stringMatching(/ answer [123] · \d+ ms · – · tokens out /)),
  )
  expect(await end()).toEqual(nothingWrong)
})

test('a try that failed without a word is none of the different answers', async () => {
  const { page, end } = await open('shaky')
  await page.getByRole('button', { name: 'Again ×5' }).click()
  const spread = page.getByRole('region', { name: 'Spread' })
  await spread.getByText(/^2 different answers in 5 runs, no text in 2/).waitFor()
  const rows = await spread.getByRole('button').allTextContents()
  expect(rows.filter((row) => /completed answer [12] ·/.test(row))).toHaveLength(3)
  expect(rows.filter((row) => /failed no text ·/.test(row))).toHaveLength(2)
  expect(await lookAt(page)).toEqual([])
  expect(await end()).toEqual(nothingWrong)
})

test('both lanes show the files and the data of their run', async () => {
  const { page, end } = await open('drawer')
  await page.getByLabel('Tools and steps after it').selectOption('live')
  await page.getByRole('button', { name: 'Run again' }).click()
  for (const name of ['A · as it was', 'B · again']) {
    const lane = page.getByRole('region', { name })
    await lane.getByText('It is attached.').waitFor()
    await lane.getByText('opens: 9').waitFor()
    const saved = page.waitForEvent('download')
    await lane.getByRole('button', { name: 'Save hours.txt' }).click()
    expect((await saved).suggestedFilename()).toBe('hours.txt')
  }
  expect(await lookAt(page)).toEqual([])
  expect(await end()).toEqual(nothingWrong)
})

/** From the first event of a run to its last. */
async function tookMs(runId: string): Promise<number> {
  const { text } = await server.call('GET', `/api/v1/runs/${runId}/events`)
  const at = parseEvents(text).map((event) => Date.parse(event.at))
  return (at.at(-1) ?? 0) - (at[0] ?? 0)
}

/** Chooses the last place to run from whose name fits. */
async function from(page: Page, name: RegExp) {
  const list = page.getByRole('combobox', { name: /^From/ })
  const label = (await list.locator('option').allTextContents()).findLast((option) => name.test(option))
  await list.selectOption({ label: label ?? '' })
}
