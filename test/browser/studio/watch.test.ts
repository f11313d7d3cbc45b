import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'
import { openWatchedModel, type WatchedModel } from '../../support/studio/watched-model.ts'

const config = (instructions: string) => `import { appendFile } from 'node:fs/promises'
import { agent, defineConfig, tool } from 'agentserve'
import { z } from 'zod'
const note = (tool) => appendFile(new URL('made.txt', import.meta.url), tool + '\\n')
export default defineConfig({
  model: { baseURL: process.env.MODEL_URL, model: 'scripted' },
  agents: {
    desk: agent({
      instructions: '${instructions}',
      tools: {
        book: tool({
          description: 'Books a table.',
          inputSchema: z.object({ seats: z.number() }),
          execute: async ({ seats }) => { await note('book ' + seats); return seats + ' seats booked' },
        }),
      },
    }),
    own: agent({ async *run() { await note('own'); yield 'mine' } }),
  },
})
`

let chromium: TestBrowser
let project: Project
let server: RunningServer
let model: WatchedModel

beforeAll(async () => {
  chromium = await openBrowser()
  model = await openWatchedModel()
  project = await createProject({ 'agent.config.ts': config('Say hours.'), 'made.txt': '' })
  const url = `${model.url}/v1`
  server = await serve(project, 'dev', [], { MODEL_URL: url, OLLAMA_HOST: model.url })
})
afterAll(async () => {
  await chromium?.close()
  await server?.stop()
  await Promise.all([model?.close(), project?.remove()])
})

const save = (instructions: string) => project.write('agent.config.ts', config(instructions))

/** Before anything watches. */
async function saved(instructions: string): Promise<void> {
  await save(instructions)
  const read = async () => (await (await fetch(`${server.url}/api/v1/agents/desk?include=config`)).json()) as unknown
  await expect.poll(read).toMatchObject({ config: { instructions } })
}
const made = async () => (await project.read('made.txt')).trim().split('\n').filter(Boolean)

async function ask(agent: string, input: string): Promise<{ run_id: string; session_id: string }> {
  const answer = await fetch(`${server.url}/api/v1/agents/${agent}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input }),
  })
  return (await answer.json()) as { run_id: string; session_id: string }
}
const turn = (page: Page, name: string) => page.getByRole('region', { name })

test('the key w pins a turn; a save shows what changed in its answer, and nothing acts on the world', async () => {
  const { run_id, session_id } = await ask('desk', 'When is a table free?')
  const other = await ask('desk', 'Is there a terrace?')
  const madeBefore = await made()
  expect(madeBefore).toEqual(['book 4', 'book 4'])
  const { page, end } = await visit(chromium, server.url, `/studio/s/${session_id}/r/${run_id}`)
  await page.getByRole('treegrid').waitFor()
  await page.keyboard.press('w')
  await page.getByText('Save a file of the config.').waitFor()
  expect(await lookAt(page)).toEqual([])
  // The other turn with the mouse.
  await page.goto(`${server.url}/studio/s/${other.session_id}/r/${other.run_id}`)
  await page.getByRole('button', { name: 'Watch', exact: true }).click()
  await turn(page, 'Is there a terrace?').waitFor()
  await turn(page, 'When is a table free?').waitFor()

  const asked = model.calls()
  await save('Say weekend.')
  for (const name of ['When is a table free?', 'Is there a terrace?']) {
    await turn(page, name).getByRole('insertion').first().waitFor()
    const answer = turn(page, name).getByRole('region', { name: 'Answer' })
    expect(await answer.getByRole('deletion').allTextContents()).toEqual(['hours'])
    expect(await answer.getByRole('insertion').allTextContents()).toEqual(['weekend'])
    await turn(page, name).getByRole('region', { name: 'Tools' }).getByText('book').waitFor()
    await turn(page, name)
      .getByRole('row', { name: /^Tokens out 20 20 the same/ })
      .waitFor()
    await turn(page, name).getByRole('row', { name: /^Cost/ }).waitFor()
  }
  await page.getByText(/Saved .*: 2 of 2 answered\./).waitFor()
  // Each run calls the model twice: the record answers the tool between.
  expect(model.calls() - asked).toBe(4)
  await page.getByText('4 model calls made').waitFor()
  expect(await made()).toEqual(madeBefore)
  expect(await lookAt(page)).toEqual([])
  const sessions = await (await fetch(`${server.url}/api/v1/sessions/${session_id}`)).json()
  expect((sessions as { run_count: number }).run_count).toBe(1)

  // What can't be loaded is told; the last answer stays.
  await project.write('agent.config.ts', 'export default {')
  await page.getByText('The agents could not be loaded.').waitFor()
  expect(await turn(page, 'Is there a terrace?').getByRole('insertion').allTextContents()).toEqual(['weekend'])
  expect(await lookAt(page)).toEqual([])
  await save('Say evening.')
  await turn(page, 'Is there a terrace?').getByText('evening').waitFor()
  await page.getByLabel('Compare with').selectOption('the save before')
  const answer = turn(page, 'Is there a terrace?').getByRole('region', { name: 'Answer' })
  await expect.poll(() => answer.getByRole('deletion').allTextContents()).toEqual(['weekend'])

  await turn(page, 'Is there a terrace?').getByRole('link', { name: 'Side by side' }).press('Enter')
  await page.getByRole('region', { name: /^B/ }).getByText('evening').waitFor()
  // A try can be pinned too: what it said is what later saves are compared with.
  await page.getByRole('button', { name: 'Watch file saves' }).press('Enter')
  await expect.poll(() => turn(page, 'Is there a terrace?').count()).toBe(2)
  for (const _pinned of [1, 2]) {
    await turn(page, 'Is there a terrace?').first().getByRole('button', { name: 'Unpin' }).press('Enter')
  }
  await expect.poll(() => turn(page, 'Is there a terrace?').count()).toBe(0)
  await page.reload()
  await turn(page, 'When is a table free?').waitFor()
  expect(await made()).toEqual(madeBefore)
  expect(await end()).toEqual(nothingWrong)
})

test('a tool that is called in another way waits, and code of its own is not run again', async () => {
  await saved('Say hours.')
  const { run_id, session_id } = await ask('desk', 'Book it.')
  const own = await ask('own', 'Go on.')
  const madeBefore = await made()
  const { page, end } = await visit(chromium, server.url, `/studio/s/${session_id}/r/${run_id}`)
  await page.getByRole('button', { name: 'Watch', exact: true }).click()
  await turn(page, 'Book it.').waitFor()
  await page.goto(`${server.url}/studio/s/${own.session_id}/r/${own.run_id}`)
  await page.getByRole('button', { name: 'Watch', exact: true }).click()
  await turn(page, 'Go on.').waitFor()
  await save('Say hours. For 7.')
  await turn(page, 'Book it.').getByText('waits for you').waitFor()
  await turn(page, 'Go on.').getByText('answers with code of its own').waitFor()
  expect(await lookAt(page)).toEqual([])
  // A later save gives it up.
  await save('Say weekend.')
  await turn(page, 'Book it.').getByRole('insertion').first().waitFor()
  const list = await (await fetch(`${server.url}/api/v1/runs?status=input_required&again=true`)).json()
  expect((list as { runs: unknown[] }).runs).toEqual([])
  expect(await made()).toEqual(madeBefore)
  const { errors, ...rest } = await end()
  // The server refuses to repeat code of an agent's own.
  expect({ ...rest, errors: errors.filter((error) => !error.includes('400')) }).toEqual(nothingWrong)
})

test('another model is asked, and a try is saved as a test of the project', async () => {
  await saved('Say hours.')
  const { run_id } = await ask('desk', 'Which model?')
  const { page, end } = await visit(chromium, server.url, `/studio/again/${run_id}`)
  await page.getByRole('textbox', { name: 'Model' }).fill('ollama/other')
  await page.getByLabel('Instructions').fill('Say other.')
  await page.getByLabel('Tools and steps after it').selectOption('recorded')
  await page.getByRole('button', { name: 'Run again' }).click()
  const b = page.getByRole('region', { name: /^B/ })
  await b.getByText('It is open: other.').waitFor()
  await page.getByRole('row', { name: /^Model compatible\/scripted ollama\/other another/ }).waitFor()
  expect(model.asked().at(-1)).toBe('other')
  expect(await lookAt(page)).toEqual([])
  await b.getByLabel('Save as test').fill('other-model')
  await b.getByRole('button', { name: 'Save the test' }).dblclick()
  await b.getByRole('link', { name: 'other-model' }).waitFor()
  expect(await project.read('test/other-model.session.json')).toContain('It is open: other.')
  expect(await end()).toEqual(nothingWrong)
})

test('of two windows one watches, and the other says so and can take over', async () => {
  await saved('Say hours.')
  const { run_id, session_id } = await ask('desk', 'Two windows?')
  const { page, end } = await visit(chromium, server.url, `/studio/s/${session_id}/r/${run_id}`)
  const watch = async (one: Page) => {
    await one.getByRole('button', { name: 'Watch', exact: true }).click()
    await turn(one, 'Two windows?').waitFor()
  }
  await watch(page)
  const second = await page.context().newPage()
  await second.goto(`${server.url}/studio/s/${session_id}/r/${run_id}`)
  await watch(second)
  await second.getByText('Another window of this browser watches').waitFor()
  expect(await lookAt(second)).toEqual([])
  const before = model.calls()
  await save('Say weekend.')
  await page.bringToFront()
  await turn(page, 'Two windows?').getByRole('insertion').first().waitFor()
  expect(model.calls() - before).toBe(2)
  await second.bringToFront()
  await second.getByRole('button', { name: 'Watch here' }).press('Enter')
  await page.getByText('Another window of this browser watches').waitFor()
  await save('Say evening.')
  await turn(second, 'Two windows?').getByText('evening').waitFor()
  expect(model.calls() - before).toBe(4)
  // It goes on here once the other is closed.
  await second.close()
  await expect.poll(() => page.getByText('Another window of this browser watches').count()).toBe(0)
  await save('Say morning.')
  await turn(page, 'Two windows?').getByText('morning').waitFor()
  expect(model.calls() - before).toBe(6)
  expect(await end()).toEqual(nothingWrong)
})

test('ten turns can be pinned, and no more', async () => {
  const { run_id, session_id } = await ask('desk', 'The eleventh')
  const { page, end } = await visit(chromium, server.url, '/studio')
  const others = Array.from({ length: 10 }, () => ask('desk', 'One of ten'))
  const ids = (await Promise.all(others)).map((one) => one.run_id)
  await page.evaluate(`sessionStorage.setItem('agentserve.pins', '${ids.join()}')`)
  await page.goto(`${server.url}/studio/s/${session_id}/r/${run_id}`)
  await page.getByRole('treegrid').waitFor()
  await page.keyboard.press('w')
  await page.getByText('At most 10 turns are watched').waitFor()
  expect(await turn(page, 'The eleventh').count()).toBe(0)
  expect(await turn(page, 'One of ten').count()).toBe(10)
  await turn(page, 'One of ten').first().getByRole('button', { name: 'Unpin' }).click()
  await expect.poll(() => page.getByText('At most 10 turns are watched').count()).toBe(0)
  expect(await end()).toEqual(nothingWrong)
})
