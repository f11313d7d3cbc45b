import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'

const config = (agents: string) => `import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  knowledge: { sources: ['hours.md'] },
  agents: { ${agents} },
})
`
const docs = "docs: agent({ knowledge: true, description: 'Answers from the documents.' })"
const slow = `slow: agent({ async *run({ signal }) {
    yield 'one '
    await new Promise((_, stop) => signal.addEventListener('abort', () => stop(signal.reason)))
  } })`

let chromium: TestBrowser
let project: Project
let server: RunningServer

beforeAll(async () => {
  chromium = await openBrowser()
  project = await createProject({
    'agent.config.ts': config(`${docs}, ${slow}`),
    'hours.md': '# Opening hours\n\nFrom November to March the office opens at nine.\n',
  })
  server = await serve(project)
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.stop()])
  await project?.remove()
})

test('on the first visit the agents are told, where they are written, and what to ask', async () => {
  const { page, ...visited } = await visit(chromium, server.url, '/studio')
  const asked = page.getByRole('button', { name: 'What does “Opening hours” say?' })
  await expect
    .poll(async () => {
      if ((await asked.count()) === 0) await page.reload()
      return asked.count()
    })
    .toBe(1)
  expect(await lookAt(page)).toEqual([])
  expect(await treeOf(page.getByRole('main'))).toMatchInlineSnapshot(`
    "- main:
      - heading "New chat" [level=2]
      - group "Who is asked":
        - text: Who is asked
        - radio "docs agent Answers from the documents." [checked]
        - strong: docs
        - text: agent Answers from the documents.
        - radio "slow agent"
        - strong: slow
        - text: agent
      - paragraph:
        - text: "No model is configured, so the offline model answers: it quotes your documents. One line in the config,"
        - code: "model: …"
        - text: ", changes that."
      - paragraph:
        - text: Defined in
        - code: agent.config.ts
        - text: . Saving the file reloads the agents.
      - button "What does “Opening hours” say?"
      - paragraph:
        - text: or
        - link "look at a session in a file":
          - /url: /studio/file
      - text: Message to docs
      - textbox "Message to docs":
        - /placeholder: Message docs
      - button "Send" [disabled]
      - button "Attach…"
      - status"
  `)
  await asked.click()
  await page.getByRole('article').getByText('the office opens at nine').waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a config that is broken is shown with its line over what goes on, until it is mended', async () => {
  const { page, ...visited } = await visit(chromium, server.url, '/studio')
  await page.getByText('live', { exact: true }).waitFor()
  await project.write('agent.config.ts', config(`${docs.replace('description', 'dscription')}, ${slow}`))
  const banner = page.getByRole('alert').filter({ hasText: 'could not be loaded' })
  await banner.waitFor()
  expect(await lookAt(page)).toEqual([])
  expect(await treeOf(banner)).toMatchInlineSnapshot(`
    "- alert:
      - paragraph:
        - strong: The agents could not be loaded.
        - text: "agent.config.ts:4: agent(): \`dscription\` is not a setting; did you mean 'description'?"
      - text: "2 | export default defineConfig({ 3 | knowledge: { sources: ['hours.md'] }, > 4 | agents: { docs: agent({ knowledge: true, dscription: 'Answers from the documents.' }), slow: agent({ async *run({ signal }) { | ^ 5 | yield 'one ' 6 | await new Promise((_, stop) => signal.addEventListener('abort', () => stop(signal.reason)))"
      - paragraph: The last good config keeps serving."
  `)
  // Tests load the file as it is; those that were played are still shown.
  const tests = await visit(chromium, server.url, '/studio/tests')
  await tests.page.getByRole('alert').filter({ hasText: 'agent.config.ts:4' }).waitFor()
  await tests.page.getByText('No test can run until the config is mended.').waitFor()
  expect(await lookAt(tests.page)).toEqual([])
  await page.reload()
  await banner.waitFor()
  await page.getByLabel('Message to docs').fill('When does the office open?')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('article').getByText('the office opens at nine').waitFor()
  await project.write('agent.config.ts', config(`${docs}, ${slow}, added: agent({ run: () => 'new' })`))
  await banner.waitFor({ state: 'detached' })
  await tests.page.getByText('The config loads again').waitFor()
  expect(await tests.end()).toEqual(nothingWrong)
  await page.goto(`${server.url}/studio/new`)
  await page.getByRole('radio', { name: /^added/ }).waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a run that its process left shows what was streamed, once, after the server is back', async () => {
  const { page, ...visited } = await visit(chromium, server.url, '/studio/new')
  await page.getByRole('radio', { name: /^slow/ }).check()
  await page.getByLabel('Message to slow').fill('go')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('article').getByText('one', { exact: true }).waitFor()
  await page.getByLabel('Message to slow').fill('the next question')
  await server.kill()
  await page.getByText(/^reconnecting/).waitFor()
  await project.write('agent.config.ts', config(''))
  server = await serve(project, 'dev', ['--port', new URL(server.url).port])
  await page.getByText('live', { exact: true }).waitFor()
  await page.getByRole('button', { name: /interrupted/ }).waitFor()
  expect(await page.getByRole('article').getByText('one', { exact: true }).count()).toBe(1)
  expect(await page.getByLabel('Message to slow').inputValue()).toBe('the next question')
  const { errors, ...rest } = await visited.end()
  expect({ ...rest, errors: errors.filter((error) => !error.includes('ERR_')) }).toEqual(nothingWrong)
})

test('without agents the page says how to get one, and shows it once it is saved', async () => {
  const { page, ...visited } = await visit(chromium, server.url, '/studio/new')
  await page.getByRole('heading', { name: 'No agents' }).waitFor()
  expect(await lookAt(page)).toEqual([])
  expect(await treeOf(page.getByRole('main'))).toMatchInlineSnapshot(`
    "- main:
      - heading "No agents" [level=2]
      - paragraph:
        - text: Add one to
        - code: agent.config.ts
        - text: "and save the file: it is loaded at once.""
  `)
  await project.write('agent.config.ts', config(docs))
  await page.getByRole('radio', { name: /^docs/ }).waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})
