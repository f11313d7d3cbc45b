import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const key = 'a-key-for-the-studio'
/** One black pixel. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg==',
  'base64',
)
const hostileName = 'evil\u202egnp.exe'

let chromium: TestBrowser
let server: RunningTestServer
beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    { auth: { keys: [key] }, limits: { fileSize: '2KB' } },
    {
      count: agent({
        async *run({ parts }) {
          const files = parts.filter((part) => part.type === 'file')
          yield `${files.length} files: ${files.map((part) => ('size' in part ? part.size : 0)).join(', ')}`
        },
      }),
      draws: agent({
        // biome-ignore lint/suspicious/noExplicitAny: parts of every kind
        async *run(): AsyncGenerator<any> {
          yield { type: 'file', media_type: 'image/png', name: 'dot.png', data: pixel }
          yield { type: 'file', media_type: 'text/plain', name: hostileName, data: Buffer.from('MZ') }
          yield {
            type: 'file',
            media_type: 'image/svg+xml',
            name: 'a.svg',
            data: Buffer.from('<svg onload="alert(1)"/>'),
          }
          yield { type: 'file', media_type: 'image/png', name: 'broken.png', data: Buffer.from('no picture') }
          yield { type: 'file', media_type: 'image/png', name: 'far.png', url: 'https://evil.example/far.png' }
          yield { type: 'data', data: { content: pixel.toString('base64').repeat(20), note: 'short' } }
        },
      }),
      letter: workflow({
        async run({ ask }) {
          await ask('draws', 'a dot')
          return 'It is sent.'
        },
      }),
      brief: agent({ sideEffects: false, run: () => 'Yes.' }),
      long: workflow({
        async run({ ask }) {
          for (let times = 0; times < 200; times++) await ask('dot', 'a dot')
          return 'It is drawn.'
        },
      }),
      dot: agent({
        // biome-ignore lint/suspicious/noExplicitAny: a part
        async *run(): AsyncGenerator<any> {
          yield { type: 'file', media_type: 'image/png', name: 'dot.png', data: pixel }
        },
      }),
    },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

async function open(path = '/studio') {
  const visited = await visit(chromium, server.url, path)
  await visited.page.getByLabel('This server asks for an API key.').fill(key)
  await visited.page.getByRole('button', { name: 'Open' }).click()
  return visited
}

/** The browser reports the one answer that asked for the key. */
async function endOf(visited: Pick<Awaited<ReturnType<typeof visit>>, 'end'>, more = /401/) {
  const { errors, ...rest } = await visited.end()
  return { ...rest, errors: errors.filter((error) => !more.test(error)) }
}

async function begin(page: Page, agentId: string) {
  await page.getByRole('radio', { name: new RegExp(`^${agentId} `) }).check()
  return page.getByLabel(`Message to ${agentId}`)
}

const drop = (files: string) =>
  `(() => { const all = new DataTransfer(); ${files}
    document.querySelector('main').dispatchEvent(new DragEvent('drop', { dataTransfer: all, bubbles: true, cancelable: true })) })()`

test('files are chosen, dropped or pasted, taken away, sent, and come back as they were', async () => {
  const { page, ...visited } = await open()
  await begin(page, 'count')
  expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
  await page.getByLabel('Files to attach').setInputFiles([
    { name: 'dot.png', mimeType: 'image/png', buffer: pixel },
    { name: 'gone.txt', mimeType: 'text/plain', buffer: Buffer.from('gone') },
  ])
  await page.evaluate(drop(`all.items.add(new File(['A note.'], 'note.txt', { type: 'text/plain' }))`))
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer()
    clipboardData.items.add(new File(['{}'], 'data.json'))
    const pasted = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
    document.querySelector('textarea').dispatchEvent(pasted)
  })()`)
  const list = page.getByRole('list', { name: 'Attached files' })
  await list.getByRole('button', { name: 'Remove gone.txt' }).click()
  expect(await treeOf(list)).toMatchInlineSnapshot(`
    "- list "Attached files":
      - listitem:
        - text: dot.png 70 bytes
        - button "Remove dot.png": Remove
      - listitem:
        - text: note.txt 7 bytes
        - button "Remove note.txt": Remove
      - listitem:
        - text: data.json 2 bytes
        - button "Remove data.json": Remove"
  `)
  expect(await lookAt(page)).toEqual([])
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('3 files: 70, 7, 2').waitFor()
  expect(await list.count()).toBe(0)
  await page.getByRole('img', { name: 'dot.png' }).waitFor()
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save note.txt' }).click()
  const download = await saved
  expect(download.suggestedFilename()).toBe('note.txt')
  const chunks: Buffer[] = []
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer)
  expect(Buffer.concat(chunks).toString()).toBe('A note.')
  expect(visited.urls.join(' ')).not.toContain(key)
  expect(await endOf(visited)).toEqual(nothingWrong)
})

test('pictures are drawn from what the key may read; all else is text and what saves it', async () => {
  const headers = { 'x-api-key': key }
  const { json } = await server.call('POST', '/api/v1/agents/draws/run', { input: 'go' }, headers)
  const { page, ...visited } = await open(`/studio/s/${json.session_id}`)
  await page.getByRole('img', { name: 'dot.png' }).waitFor()
  await page.getByText('its content is no picture').waitFor()
  await page.getByText(/^\(base64, /).waitFor()
  expect(await page.locator('.turn img').count()).toBe(1)
  const drawn = (await page.evaluate("document.querySelector('.turn img').src")) as string
  expect(drawn).toMatch(/^blob:/)
  const text = (await page.locator('.turn').textContent()) ?? ''
  expect(text).not.toContain('\u202e')
  expect(text).toContain('evil\ufffdgnp.exe')
  expect(text).not.toContain(pixel.toString('base64').slice(0, 40))
  const far = page.getByRole('link', { name: 'https://evil.example/far.png' })
  expect(await far.getAttribute('rel')).toBe('noopener noreferrer')
  expect(await lookAt(page)).toEqual([])

  // All files of the session, with their sizes and runs.
  await page.getByRole('button', { name: 'Session…' }).click()
  const files = page.getByRole('dialog', { name: 'Session' }).getByRole('region', { name: 'Files' })
  await files.waitFor()
  expect(await files.getByRole('listitem').allTextContents()).toEqual([
    expect.stringMatching(/^Save dot\.png image\/png, 70 bytes .*made by run …/),
    expect.stringMatching(/^Save evil\ufffdgnp\.exe text\/plain, 2 bytes /),
    expect.stringMatching(/^Save a\.svg image\/svg\+xml, 24 bytes /),
    expect.stringMatching(/^Save broken\.png image\/png, 10 bytes /),
    expect.stringMatching(/^far\.png image\/png, at https:\/\/evil\.example\/far\.png/),
  ])
  expect(await lookAt(page)).toEqual([])
  const saved = page.waitForEvent('download')
  await files.getByRole('button', { name: 'Save dot.png' }).click()
  expect((await saved).suggestedFilename()).toBe('dot.png')
  await files.getByRole('link').first().click()
  await expect.poll(() => page.url()).toContain(json.run_id)
  expect(await endOf(visited)).toEqual(nothingWrong)
})

test('the files of a session are also those that runs inside its turns made, with whose they are', async () => {
  const headers = { 'x-api-key': key }
  const { json } = await server.call('POST', '/api/v1/agents/letter/run', { input: 'go' }, headers)
  const { page, ...visited } = await open(`/studio/s/${json.session_id}`)
  await page.getByText('It is sent.').waitFor()
  await page.getByRole('button', { name: 'Session…' }).click()
  const files = page.getByRole('region', { name: 'Files' })
  await files.getByText('Save dot.png').waitFor()
  expect(await files.getByRole('listitem').count()).toBe(5)
  expect(await files.getByRole('listitem').first().textContent()).toMatch(/^Save dot\.png .*made by draws, run …/)
  expect(await files.getByRole('button', { name: 'Read earlier ones' }).count()).toBe(0)
  expect(await lookAt(page)).toEqual([])
  const saved = page.waitForEvent('download')
  await files.getByRole('button', { name: 'Save dot.png' }).click()
  expect((await saved).suggestedFilename()).toBe('dot.png')
  await files.getByRole('link').first().click()
  await page.getByRole('heading', { name: 'draws' }).waitFor()
  expect(page.url()).toContain('/studio/member/run_')
  expect(await endOf(visited)).toEqual(nothingWrong)
})

test('the files of two hundred runs inside a turn are read with three requests', async () => {
  const headers = { 'x-api-key': key }
  const { json } = await server.call('POST', '/api/v1/agents/long/run', { input: 'go' }, headers)
  const { page, ...visited } = await open(`/studio/s/${json.session_id}`)
  await page.getByText('It is drawn.').waitFor()
  await page.getByRole('button', { name: 'Session…' }).click()
  const files = page.getByRole('region', { name: 'Files' })
  await files.waitFor()
  expect(await files.getByRole('listitem').count()).toBe(200)
  expect(visited.urls.filter((url) => url.includes('/runs?') && url.includes('files=true'))).toHaveLength(3)
  expect(await endOf(visited)).toEqual(nothingWrong)
}, 60_000)

test('of a very long session the newest files are listed, and earlier ones when they are asked for', async () => {
  const headers = { 'x-api-key': key }
  const data = pixel.toString('base64')
  const parts = [{ type: 'file', media_type: 'image/png', name: 'first.png', data }]
  const first = { input: { parts } }
  const { json } = await server.call('POST', '/api/v1/agents/brief/run', first, headers)
  const { session_id } = json
  const ask = () => server.call('POST', '/api/v1/agents/brief/run', { input: 'And?', session_id }, headers)
  for (let turns = 0; turns < 1000; turns += 20)
    for (const { status } of await Promise.all(Array.from({ length: 20 }, ask))) expect(status).toBe(200)
  const { page, ...visited } = await open(`/studio/s/${session_id}`)
  await page.getByRole('button', { name: 'Session…' }).click()
  const files = page.getByRole('region', { name: 'Files' })
  await files.getByText('Only the newest runs were read.').waitFor()
  expect(await files.getByRole('listitem').count()).toBe(0)
  expect(await lookAt(page)).toEqual([])
  await files.getByRole('button', { name: 'Read earlier ones' }).click()
  await files.getByText('Save first.png').waitFor()
  expect(await files.getByText('Only the newest').count()).toBe(0)
  await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe('Files')
  expect(await endOf(visited)).toEqual(nothingWrong)
}, 90_000)

test('what the server says of a file stays with the file and the text, until it is taken away', async () => {
  const { page, ...visited } = await open()
  const field = await begin(page, 'count')
  await field.fill('Look at this')
  const large = { name: 'large.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(3000) }
  await page.getByLabel('Files to attach').setInputFiles([large])
  await page.getByRole('button', { name: 'Send' }).click()
  await page
    .locator('.composer [role=alert]')
    .filter({ hasText: /KB|2,?048/ })
    .waitFor()
  expect(await field.inputValue()).toBe('Look at this')
  expect(await page.getByRole('button', { name: 'Remove large.bin' }).isEnabled()).toBe(true)
  expect(await lookAt(page)).toEqual([])
  await page.getByRole('button', { name: 'Remove large.bin' }).click()
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('0 files:').waitFor()
  expect(await endOf(visited, /401|413|400/)).toEqual(nothingWrong)
})
