import { execFile, spawn } from 'node:child_process'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { blocks } from '../support/guides.ts'
import { linkJudges, linkOwn, pagePackages } from '../support/judge-packages.ts'
import {
  command,
  createProject,
  environment,
  type Project,
  type RunningServer,
  root,
  serve,
} from '../support/program.ts'

const run = promisify(execFile)
const vite = join(root, 'node_modules/vite/bin/vite.js')

/** Says half of its answer, with what must not become markup, and the rest when the file `go` is there. */
const slow = `
import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { agent } from 'agentserve'
export default agent({
  async *run({ signal }) {
    yield 'Half <img src=x onerror="window.taken = true"> '
    while (!existsSync('go')) await setTimeout(20, undefined, { signal })
    yield 'and the rest.'
  },
})
`

let chromium: TestBrowser
let project: Project
let server: RunningServer
let page: { url: string; stop(): Promise<void> }

beforeAll(async () => {
  project = await createProject()
  expect(await command(project, ['init', '.', '--template', 'chat-ui', '--overwrite'])).toMatchObject({ code: 0 })
  await linkJudges(project.folder, pagePackages)
  await linkOwn(project.folder, ['vite'])
  await project.write('slow.ts', slow)
  const config = await project.read('agent.config.ts')
  const withSlow = config.replace('agents: {', 'agents: {\n    slow,')
  await project.write('agent.config.ts', `import slow from './slow.ts'\n${withSlow}`)
  server = await serve(project)
  expect(await command(project, ['ingest', 'docs'])).toMatchObject({ code: 0 })
  page = await startVite(server.url)
  chromium = await openBrowser()
}, 120_000)

afterAll(async () => {
  await chromium?.close()
  await page?.stop()
  await server?.stop()
  await project?.remove()
})

test('the page shows an answer with its sources', async () => {
  const { page, said } = await visit('docs')
  await say(page, 'How long is the library open on Saturdays?')
  await said(/fourteen/)
  expect(await page.locator('article.assistant cite').first().textContent()).toContain('docs/opening-hours.md')
})

test('a reload in the middle of an answer continues it, and text never becomes markup', async () => {
  const { page, said, errors } = await visit('slow')
  await say(page, 'Speak')
  await said(/^Half <img src=x onerror="window.taken = true"> $/)
  await page.reload()
  await said(/^Half <img src=x onerror="window.taken = true"> $/)
  await project.write('go', '')
  await said(/^Half <img src=x onerror="window.taken = true"> and the rest.$/)
  await page.getByRole('status').getByText('ready').waitFor()
  await page.reload()
  await said(/and the rest.$/)
  expect(await page.locator('article').count()).toBe(2)
  expect(await page.locator('article img').count()).toBe(0)
  expect(await page.evaluate('window.taken')).toBeUndefined()
  expect(errors).toEqual([])
})

test('stop ends the run, not only its stream', async () => {
  await rm(join(project.folder, 'go'), { force: true })
  const { page, said } = await visit('slow')
  await say(page, 'Speak')
  await said(/^Half/)
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('status').getByText('ready').waitFor()
  const [newest = ''] = (await command(project, ['runs', '--json'])).stdout.split('\n')
  expect(JSON.parse(newest)).toMatchObject({ entity_id: 'slow', status: 'cancelled' })
})

test.each([
  { button: 'Approve', after: /This letter was sent:.*We are closed/s },
  { button: 'Deny', after: /output-denied/ },
])('a reload shows what waits for approval, and $button decides it', async ({ button, after }) => {
  const { page, said } = await visit('letter')
  await say(page, 'We are closed on Monday.')
  await page.getByRole('button', { name: button }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: button }).click()
  await said(after)
  await page.getByRole('status').getByText('ready').waitFor()
  expect(await page.locator('article').count()).toBe(2)
})

test('the page says why an agent does not answer', async () => {
  const { page } = await visit('nobody')
  await say(page, 'Hello?')
  await page.getByRole('alert').getByText('nobody').waitFor()
})

test('the page of the guide talks to a server that allows its origin', async () => {
  const inGuide = (language: string, words: string) =>
    blocks.find(
      (block) => block.place.startsWith('docs/chat-ui.md') && block.language === language && block.text.includes(words),
    )?.text ?? ''
  const origin = new URL(page.url).origin
  const config = inGuide('ts', 'allowOrigins').replace('http://localhost:5173', origin)
  const own = await createProject({ 'agent.config.ts': config })
  const other = await serve(own)
  onTestFinished(async () => {
    await other.stop()
    await own.remove()
  })
  await project.write('page/guide.tsx', inGuide('tsx', 'createRoot').replace('http://127.0.0.1:8080', other.url))
  await project.write('guide.html', '<body><script type="module" src="/page/guide.tsx"></script></body>')
  const view = await chromium.browser.newPage()
  onTestFinished(() => view.close())
  await view.goto(`${origin}/guide.html`)
  await view.getByLabel('Message').fill('Hello')
  await view.getByLabel('Message').press('Enter')
  await view.getByText('No model is configured').waitFor()
})

test('the page is built for production', async () => {
  await run(process.execPath, [vite, 'build'], { cwd: project.folder, env: environment({}) })
  expect(await readdir(join(project.folder, 'dist'))).toEqual(['assets', 'index.html'])
}, 60_000)

async function visit(agent: string) {
  const context = await chromium.browser.newContext()
  onTestFinished(() => context.close())
  const view = await context.newPage()
  const errors: string[] = []
  view.on('pageerror', (error) => errors.push(error.message))
  await view.goto(`${page.url}?agent=${agent}`)
  const said = (text: RegExp) =>
    expect.poll(() => view.locator('article.assistant').allTextContents()).toEqual([expect.stringMatching(text)])
  return { page: view, said, errors }
}

async function say(page: Page, text: string) {
  await page.getByLabel('Message').fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
}

/** As `npm run page` does, on a free port. */
async function startVite(agentserve: string) {
  const env = environment({ AGENTSERVE_URL: agentserve, NO_COLOR: '1' })
  const args = [vite, '--port', '0', '--host', '127.0.0.1']
  const child = spawn(process.execPath, args, { cwd: project.folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let shown = ''
  const url = await new Promise<string>((found, fail) => {
    child.once('close', () => fail(new Error(`vite ended: ${shown}`)))
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text
      const [address] = /http:\S+/.exec(shown) ?? []
      if (address !== undefined) found(address)
    })
  })
  return {
    url,
    stop() {
      child.kill()
      return ended
    },
  }
}
