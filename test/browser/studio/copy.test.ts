import { execFile } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { linkJudges, linkOwn, pagePackages } from '../../support/judge-packages.ts'
import { createProject, environment, root } from '../../support/program.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const key = 'a-key-that-is-copied-nowhere'
const hostile = `it's "quoted" $HOME $(echo run) \`echo run\` \\ \${1}\n\u2028 </script> \u{1f600}`
const run = promisify(execFile)

let chromium: TestBrowser
let server: RunningTestServer
beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    { auth: { keys: [key] } },
    { says: agent({ model: scriptedModel(({ text }) => `It is: ${text}`), instructions: 'Say it.' }) },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

const call = (method: string, path: string, body?: unknown) => server.call(method, path, body, { 'x-api-key': key })

/** A second turn of a session, opened; what is copied comes into the page's variable. */
async function open({ clipboard }: { clipboard: boolean | 'real' }) {
  const first = (await call('POST', '/api/v1/agents/says/run', { input: 'hello' })).json
  const { json } = await call('POST', '/api/v1/agents/says/run', { input: hostile, session_id: first.session_id })
  const visited = await visit(chromium, server.url, '/studio')
  const { page } = visited
  if (clipboard === 'real') await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  else
    await page.addInitScript(
      `Object.defineProperty(navigator, 'clipboard', { value: ${
        clipboard
          ? `{ write: async ([item]) => {
          window.during = window.event?.type
          window.copied = await (await item.getType('text/plain')).text()
        } }`
          : 'undefined'
      } })`,
    )
  await page.getByLabel('This server asks for an API key.').fill(key)
  await page.getByLabel(/until this tab/).check()
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByRole('heading', { name: 'New chat' }).waitFor()
  await page.goto(`${server.url}/studio/s/${json.session_id}/r/${json.run_id}`)
  await page.getByRole('row', { name: /^model call/ }).click()
  await page.getByRole('button', { name: 'Copy', exact: true }).waitFor()
  const end = async () => {
    const { errors, ...rest } = await visited.end()
    return { ...rest, errors: errors.filter((error) => !error.includes('401')) }
  }
  return { page, end, sessionId: json.session_id as string }
}

async function copied(page: Page, keys: string): Promise<string> {
  await page.evaluate('window.copied = undefined')
  for (const one of keys.split(' ')) await page.keyboard.press(one)
  await expect.poll(() => page.evaluate('window.copied')).toBeTypeOf('string')
  return (await page.evaluate('window.copied')) as string
}

/** What was asked last in the session. */
async function lastAsked(sessionId: string): Promise<[content: string, turns: number]> {
  const { json } = await call('GET', `/api/v1/sessions/${sessionId}/history`)
  const asked = json.messages.filter(({ role }: { role: string }) => role === 'user')
  return [asked.at(-1).content, asked.length]
}

test('what is copied as curl and as TypeScript asks the same once more', async () => {
  const { page, end, sessionId } = await open({ clipboard: true })
  const curl = await copied(page, 'c u')
  // Later, Safari would refuse it.
  expect(await page.evaluate('window.during')).toBe('keydown')
  await run('/bin/sh', ['-c', `${curl.trimEnd()} --fail --silent`], { env: environment({ AGENTSERVE_API_KEY: key }) })
  expect(await lastAsked(sessionId)).toEqual([hostile, 3])
  const program = await copied(page, 'c t')
  const project = await createProject({ 'ask.ts': program })
  const { stdout } = await run(process.execPath, ['ask.ts'], {
    cwd: project.folder,
    env: environment({ AGENTSERVE_API_KEY: key }),
  })
  expect(stdout).toBe(`It is: ${hostile}\n`)
  expect(await lastAsked(sessionId)).toEqual([hostile, 4])
  await project.copy(join(root, 'templates/shared/tsconfig.json'), 'project.json')
  await project.write('tsconfig.json', '{ "extends": "./project.json", "include": ["ask.ts"] }')
  for (const name of ['@types', 'undici-types'])
    await symlink(join(root, 'node_modules', name), join(project.folder, 'node_modules', name), 'dir')
  expect(await typeErrors(project.folder)).toBe('')
  await project.remove()
  expect(curl + program).not.toContain(key)
  expect(await end()).toEqual(nothingWrong)
}, 60_000)

async function typeErrors(folder: string): Promise<string> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const checked = run(process.execPath, [tsc, '--noEmit'], { cwd: folder }).catch((error: { stdout: string }) => error)
  return (await checked).stdout
}

test('the menu has all forms, is walked through by keys, and gives the focus back', async () => {
  const { page, end } = await open({ clipboard: true })
  const button = page.getByRole('button', { name: 'Copy', exact: true })
  await button.press('Enter')
  const menu = page.getByRole('menu', { name: 'Copy the run as' })
  expect(await menu.getByRole('menuitem').allTextContents()).toEqual([
    'curl c u',
    'TypeScript c t',
    'useChat in React ',
    'Markdown for a model c m',
    'id of the run ',
    'link c l',
  ])
  expect(await lookAt(page)).toEqual([])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Escape')
  await menu.waitFor({ state: 'detached' })
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Copy')
  await button.click()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.getByRole('status').getByText('copied').waitFor()
  expect(await page.evaluate('window.copied')).toBe(page.url())
  expect(page.url()).toMatch(/\/e\/\d+$/)
  await button.click()
  await page.getByRole('menuitem', { name: /useChat/ }).click()
  await expect.poll(() => page.evaluate('window.copied')).toContain('useChat({ transport })')
  const project = await createProject({ 'chat.tsx': (await page.evaluate('window.copied')) as string })
  await project.copy(join(root, 'templates/chat-ui/tsconfig.json'), 'project.json')
  await project.write('tsconfig.json', '{ "extends": "./project.json", "include": ["chat.tsx"] }')
  await linkJudges(project.folder, pagePackages)
  await linkOwn(project.folder, ['@types/node', 'undici-types'])
  expect(await typeErrors(project.folder)).toBe('')
  await project.remove()
  expect(await end()).toEqual(nothingWrong)
}, 60_000)

test('Markdown has the prompts, the answer and the question, and never the key', async () => {
  const { page, end } = await open({ clipboard: true })
  const text = await copied(page, 'c m')
  expect(text).toContain(`## Question\n\n\`\`\`\n${hostile}\n\`\`\``)
  expect(text).toContain('#### Prompt of call 1\n\nsystem:\n\n```\nSay it.\n```')
  expect(text).toContain(`## Answer\n\n\`\`\`\nIt is: ${hostile}\n\`\`\``)
  expect(text).not.toContain(key)
  expect(await end()).toEqual(nothingWrong)
})

test('the clipboard of the browser has the text, and what the server refuses is said', async () => {
  const { page, end } = await open({ clipboard: 'real' })
  const status = page.getByRole('status').getByText(/copied/)
  await page.keyboard.press('c')
  await page.keyboard.press('m')
  await expect.poll(() => status.textContent()).toBe('copied')
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain('# Run of the agent says: completed\n')
  const json = { error: { code: 'run_not_found', message: "There is no run 'x'.", request_id: 'req_1' } }
  await page.route('**/text?*', (route) => route.fulfill({ status: 404, json }))
  await page.keyboard.press('c')
  await page.keyboard.press('u')
  await expect.poll(() => status.textContent()).toBe("not copied: There is no run 'x'.")
  const { errors, ...rest } = await end()
  expect({ ...rest, errors: errors.filter((error) => !error.includes('404')) }).toEqual(nothingWrong)
})

test('without a clipboard the text is shown, selected, to be copied by hand', async () => {
  const { page, end } = await open({ clipboard: false })
  await page.keyboard.press('c')
  await page.keyboard.press('l')
  const field = page.getByRole('dialog', { name: 'Copy by hand' }).getByRole('textbox', { name: 'Text to copy' })
  await field.waitFor()
  const selected = '((it) => it.value?.slice(it.selectionStart, it.selectionEnd))(document.activeElement)'
  await expect.poll(() => page.evaluate(selected)).toBe(page.url())
  expect(await field.getAttribute('readonly')).not.toBeNull()
  expect(await lookAt(page)).toEqual([])
  await page.keyboard.press('Escape')
  await field.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Copy', exact: true }).click()
  await page.getByRole('menuitem', { name: 'id of the run' }).click()
  await expect.poll(() => field.inputValue()).toMatch(/^run_/)
  expect(await end()).toEqual(nothingWrong)
})
