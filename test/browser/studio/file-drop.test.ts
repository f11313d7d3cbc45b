import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EmittedEvent } from '../../../src/core/event.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt } from '../../support/browser/look.ts'
import { pacedExport } from '../../support/browser/paced.ts'
import { modelCall, row } from '../../support/browser/run-page.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const hostile = '<img src=x onerror=alert(1)> <script>alert(2)</script> ![x](https://evil.example/?q=1)'

let chromium: TestBrowser
let server: RunningTestServer
/** Two turns, of which the server has nothing any more. */
let copy: string
let told = 0

beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      tells: agent({
        async *run(): AsyncGenerator<EmittedEvent> {
          yield* modelCall('a')
          yield { type: 'tool_call', call_id: 't', name: 'lookup', input: { year: 2026 } }
          yield { type: 'tool_result', call_id: 't', name: 'lookup', output: hostile, duration_ms: 5 }
          yield { type: 'text_delta', text: ` of turn ${++told} ${hostile}` }
        },
      }),
    },
  )
  const first = await server.call('POST', '/api/v1/agents/tells/run', { input: 'first' })
  const session_id = first.json.session_id
  await server.call('POST', '/api/v1/agents/tells/run', { input: 'second', session_id })
  copy = await pacedExport(server, session_id, 1000)
  await server.call('DELETE', `/api/v1/sessions/${session_id}`)
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

/** As a person does who drags a file onto the page. */
const drop = (page: Page, name: string, text: string, place = '.shell') =>
  page.evaluate(
    `((name, text, place) => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([text], name))
      const at = document.querySelector(place)
      const over = new DragEvent('dragover', { dataTransfer, bubbles: true, cancelable: true })
      at.dispatchEvent(over)
      const drop = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true })
      at.dispatchEvent(drop)
      return [over.defaultPrevented, drop.defaultPrevented]
    })(${JSON.stringify(name)}, ${JSON.stringify(text)}, ${JSON.stringify(place)})`,
  )

const turns = (page: Page) => page.getByRole('article')
const sent = (visited: { urls: string[] }, from: number) =>
  visited.urls.slice(from).filter((url) => url.includes('/api/') && !url.includes('/live'))

test('an export that is dropped is shown and played again, and nothing of it is sent', async () => {
  const visited = await visit(chromium, server.url, '/studio')
  const { page } = visited
  await page.getByRole('heading', { name: 'New chat' }).waitFor()
  // The last that the page asks for by itself.
  await expect.poll(() => visited.urls.some((url) => url.endsWith('?include=config'))).toBe(true)
  const before = visited.urls.length
  expect(await drop(page, 'bug.jsonl', copy)).toEqual([true, true])
  await turns(page).nth(1).waitFor()
  expect(await turns(page).count()).toBe(2)
  await page.getByText('from inside of turn 1').waitFor()
  expect(await page.title()).toBe('File · agentserve studio')
  await turns(page)
    .nth(1)
    .getByRole('button', { name: /completed/ })
    .click()
  await row(page, /^tool call lookup/).click()
  await page.getByRole('tabpanel', { name: 'Gave' }).getByText('onerror').waitFor()
  expect(page.url()).toMatch(/\/studio\/file\/r\/run_\w+\/e\/\d+$/)
  await row(page, /^model call/).click()
  await page.getByText('It is not in the file. Import the file to look it up.').waitFor()
  expect(await lookAt(page)).toEqual([])
  // What acts on a run of a server is not there.
  expect(await page.getByRole('button', { name: /^(?:Copy|Stop|Resume|Allow|Session)/ }).count()).toBe(0)
  expect(await page.locator('main textarea').count()).toBe(0)
  await row(page, /^run tells/).click()
  for (let times = 0; times < 3; times++) await page.keyboard.press(',')
  await row(page, /^tool call lookup running/).waitFor()
  await expect.poll(() => turns(page).nth(1).locator('.answered .markdown').textContent()).toBe('from inside')
  await turns(page).nth(1).getByText('as it was then').waitFor()
  expect(await turns(page).nth(0).getByText('of turn 1').count()).toBe(1)
  await page.keyboard.press('Space')
  await row(page, /^end completed/).waitFor()
  await page.goBack()
  await page.goBack()
  await page.keyboard.press('Escape')
  await expect.poll(() => page.url()).toMatch(/\/studio\/file$/)
  await turns(page).nth(1).waitFor()
  expect(sent(visited, before)).toEqual([])
  expect(await page.locator('main img, main script').count()).toBe(0)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('with keys alone: a file is opened, imported, and forked at a turn', async () => {
  const { page, ...visited } = await visit(chromium, server.url, '/studio')
  await page.getByRole('link', { name: 'look at a session in a file' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('nothing is sent').waitFor()
  expect(await lookAt(page)).toEqual([])
  const chosen = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Open a file…' }).focus()
  await page.keyboard.press('Enter')
  await (await chosen).setFiles({ name: 'bug.jsonl', mimeType: '', buffer: Buffer.from(copy) })
  await turns(page).nth(1).waitFor()
  await turns(page)
    .nth(0)
    .getByRole('button', { name: /completed/ })
    .focus()
  await page.keyboard.press('Enter')
  await row(page, /^run tells/).waitFor()
  await page.getByRole('button', { name: 'Import and fork at this turn' }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.url()).toMatch(/\/studio\/s\/ses_\w+$/)
  await turns(page).first().waitFor()
  expect(await turns(page).count()).toBe(1)
  await page.goBack()
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await expect.poll(() => page.url()).toMatch(/\/studio\/s\/ses_\w+$/)
  await turns(page).nth(1).waitFor()
  const { json } = await server.call('GET', '/api/v1/sessions')
  expect(json.sessions).toHaveLength(3)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a file that is none of an export, or only a part of one, is said in words', async () => {
  const { page, ...visited } = await visit(chromium, server.url, '/studio/file')
  await page.getByText('nothing is sent').waitFor()
  const refused = async (name: string, text: string, words: string | RegExp) => {
    await drop(page, name, text)
    await page.getByRole('alert').getByText(words).waitFor()
    expect(await turns(page).count()).toBe(0)
  }
  await refused('photo.png', '\u0089PNG\r\n', 'photo.png, 7 bytes can’t be shown. It is no export of a session.')
  await refused('empty.jsonl', '', 'It is no export of a session.')
  await refused('other.jsonl', '{"type":"run","run":{}}\n', 'It is no export of a session.')
  await refused('nothing.jsonl', 'null\n', 'It is no export of a session.')
  const next = copy.replace('"version":1', '"version":2')
  await refused('next.jsonl', next, 'It is of another version of agentserve')
  expect(await lookAt(page)).toEqual([])
  const lines = copy.trimEnd().split('\n')
  const part = async (text: string, words: string) => {
    await drop(page, 'part.jsonl', text)
    await page.getByRole('status').getByText(words).waitFor()
    await turns(page).first().waitFor()
    expect(await page.getByRole('button', { name: 'Import' }).count()).toBe(0)
  }
  await part(copy.trimEnd().slice(0, -9), `Line ${lines.length} of the file can’t be read. What came before is shown.`)
  await part(lines.slice(0, -1).join('\n'), 'The file is not whole.')
  await part(lines.with(-2, '{').join('\n'), `Line ${lines.length - 1} of the file can’t be read.`)
  const bad = '{"type":"events","run_id":"x","events":[{"type":"retrieval"}]}'
  await part(lines.with(-2, bad).join('\n'), `Line ${lines.length - 1} of the file can’t be read.`)
  await part(lines.with(-1, '{"type":"end","runs":9}').join('\n'), 'The file is not whole.')
  // Fields that no server writes.
  await drop(page, 'strange.jsonl', copy.replaceAll('"status":"completed"', '"status":"strange"'))
  await page.getByText('Something in this file can’t be shown').waitFor()
  await drop(page, 'whole.jsonl', copy)
  await turns(page).nth(1).waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})

test('a file of 300 MB is refused by its size, before it is read', async () => {
  const { page, ...visited } = await visit(chromium, server.url, '/studio/file')
  await page.getByText('nothing is sent').waitFor()
  await page.evaluate(`{
    window.reads = 0
    for (const name of ['text', 'arrayBuffer', 'stream', 'slice']) Blob.prototype[name] = () => { reads++; return Promise.reject(new Error('read')) }
    const dataTransfer = new DataTransfer()
    const file = new File(['x'], 'large.jsonl')
    Object.defineProperty(file, 'size', { value: 300 * 1024 * 1024 })
    dataTransfer.items.add(file)
    Object.defineProperty(dataTransfer, 'files', { value: [file] })
    document.querySelector('.shell').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
  }`)
  await page.getByText(/large\.jsonl, 300\.0 MB can’t be shown\. The page reads at most 200\.0 MB\./).waitFor()
  expect(await page.evaluate('reads')).toBe(0)
  expect(await visited.end()).toEqual(nothingWrong)
})

test('what is dropped on the field of a message goes with it, and an export anywhere else is looked at', async () => {
  const { json } = await server.call('POST', '/api/v1/agents/tells/run', { input: 'third' })
  const { page, ...visited } = await visit(chromium, server.url, `/studio/s/${json.session_id}`)
  await turns(page).first().waitFor()
  await drop(page, 'bug.jsonl', copy, '.composer textarea')
  await page.locator('.attached').getByText('bug.jsonl').waitFor()
  await drop(page, 'notes.txt', 'hello', 'main.conversation .turns')
  await page.locator('.attached').getByText('notes.txt').waitFor()
  expect(page.url()).toContain(json.session_id)
  await drop(page, 'bug.jsonl', copy, 'main.conversation .turns')
  await expect.poll(() => page.url()).toMatch(/\/studio\/file$/)
  await turns(page).nth(1).waitFor()
  await page.reload()
  await page.getByText('Drop the export of a session here').waitFor()
  expect(await visited.end()).toEqual(nothingWrong)
})
