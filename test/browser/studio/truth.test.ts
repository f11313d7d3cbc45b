import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { openCuttingProxy } from '../../support/client/cutting-proxy.ts'
import { createProject, type RunningServer, serve } from '../../support/program.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer
/** How many words the agent may say by now, and whether it stops there. */
let said = 0
let isEnough = false
let wake: () => void = () => {}
beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {},
    {
      talker: agent({
        async *run() {
          for (let word = 1; ; word++) {
            while (word > said) {
              if (isEnough) return
              await new Promise<void>((resolve) => {
                wake = resolve
              })
            }
            yield `word${word} `
          }
        },
      }),
    },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

const config = `import { setTimeout as pause } from 'node:timers/promises'
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    talker: agent({
      async *run() {
        for (let word = 1; word <= 100_000; word++) {
          yield \`word\${word} \`
          await pause(10)
        }
      },
    }),
  },
})
`

async function begin(url: string): Promise<{ run: string; path: string }> {
  const response = await fetch(`${url}/api/v1/agents/talker/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: 'talk', background: true }),
  })
  const { run_id, session_id } = (await response.json()) as { run_id: string; session_id: string }
  return { run: `${url}/api/v1/runs/${run_id}`, path: `/studio/s/${session_id}/r/${run_id}` }
}

/** How many words the page shows. */
const wordCount = async (page: Page) => ((await page.locator('.answered').textContent()) ?? '').split('word').length - 1

/** Two frames later, so that no page is left out between two readings. */
const shownRows = `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() =>
  [...document.querySelectorAll('.run [role=option]')].map((row) =>
    [Number(row.ariaPosInSet), Number.parseInt(row.textContent), Number(row.ariaSetSize)]))`

/** The numbers of all rows of the list of events, scrolled from top to bottom. */
async function seqsIn(page: Page): Promise<number[]> {
  await page.getByRole('tab', { name: /^events/i }).click()
  const list = page.getByRole('listbox', { name: 'Events of the run' })
  await list.getByRole('option').first().waitFor()
  const seen = new Map<number, number>()
  const read = () => page.evaluate(shownRows) as Promise<[place: number, seq: number, all: number][]>
  for (let count = 1, pages = 0; seen.size < count && pages < count; pages++) {
    for (const [place, seq, all] of await read()) {
      seen.set(place, seq)
      count = all
    }
    await list.press('PageDown')
  }
  return [...seen].sort(([one], [other]) => one - other).map(([, seq]) => seq)
}

/** The page has what is recorded, and the list of events every number up to the last. */
async function expectTruth(page: Page, run: string): Promise<void> {
  const { content, status } = (await (await fetch(run)).json()) as { content: string; status: string }
  expect(content.length).toBeGreaterThan(50)
  await expect.poll(() => page.locator('.answered .markdown').textContent()).toBe(content.trimEnd())
  await page.getByRole('button', { name: status }).waitFor()
  const text = await (await fetch(`${run}/events`)).text()
  const recorded = [...text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq))
  expect(await seqsIn(page)).toEqual(recorded)
  if (status === 'completed') expect(recorded).toEqual(recorded.map((_, place) => place + 1))
}

/** The live streams of a page that are open. */
function liveOf(page: Page): ReadonlySet<Request> {
  const open = new Set<Request>()
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.endsWith('/live')) open.add(request)
  })
  page.on('requestfinished', (request) => open.delete(request))
  page.on('requestfailed', (request) => open.delete(request))
  return open
}

function say(count: number): void {
  said += count
  wake()
}

function stop(): void {
  isEnough = true
  wake()
}

beforeEach(() => {
  said = 0
  isEnough = false
})

test('a connection that is lost twenty times loses no word and repeats none', async () => {
  const proxy = await openCuttingProxy(server.url)
  const { run, path } = await begin(server.url)
  const { page, ...visited } = await visit(chromium, proxy.url, path)
  const live = liveOf(page)
  say(5)
  await expect.poll(() => wordCount(page)).toBe(5)
  for (let cut = 0; cut < 20; cut++) {
    // In the middle of the fourth event or so.
    proxy.cutAfter(700)
    say(10)
    await expect.poll(() => proxy.hasCut).toBe(true)
    await expect.poll(() => wordCount(page)).toBe(said)
  }
  stop()
  await page.getByRole('button', { name: 'completed' }).waitFor()
  await expectTruth(page, run.replace(server.url, proxy.url))
  await expect.poll(() => live.size).toBe(1)
  const { errors, ...rest } = await visited.end()
  expect({ ...rest, errors: errors.filter((error) => !error.includes('net::ERR_')) }).toEqual(nothingWrong)
  await proxy.close()
}, 60_000)

test('a run that is opened in the middle of its answer is whole, and stays so in a tab that was hidden', async () => {
  const { run, path } = await begin(server.url)
  const { page, ...visited } = await visit(chromium, server.url, path.replace(/\/r\/.*/, ''))
  await page.addInitScript(countCalls)
  await page.reload()
  const live = liveOf(page)
  say(20)
  await expect.poll(() => wordCount(page)).toBe(20)
  await page.getByRole('button', { name: /running/ }).click()
  await page.getByRole('row', { name: /^run/ }).waitFor()
  await expect.poll(() => live.size).toBe(1)
  await look(page, 'hidden')
  await expect.poll(() => live.size).toBe(0)
  await expect.poll(() => callsIn(page)).toMatchObject({ waiting: 0 })
  const before = [await callsIn(page), visited.urls.length]
  say(20)
  await expect.poll(async () => (await fetch(run)).text()).toContain('word40')
  // Nobody sees it: it asks for nothing and waits for nothing, and no browser draws frames of it.
  expect([await callsIn(page), visited.urls.length]).toEqual(before)
  expect(await wordCount(page)).toBe(20)
  await look(page, 'visible')
  await expect.poll(() => wordCount(page)).toBe(40)
  stop()
  await page.getByRole('button', { name: 'completed' }).waitFor()
  await expectTruth(page, run)
  await expect.poll(() => live.size).toBe(1)
  expect(await visited.end()).toEqual(nothingWrong)
}, 30_000)

test('a server that is killed in the middle of an answer and started again leaves what was said', async () => {
  const project = await createProject({ 'agent.config.ts': config })
  let child: RunningServer = await serve(project, 'start')
  const { url } = child
  const { run, path } = await begin(url)
  const { page, ...visited } = await visit(chromium, url, path)
  await expect.poll(() => wordCount(page)).toBeGreaterThan(20)
  await child.kill()
  await page.getByText(/^reconnecting…/).waitFor()
  child = await serve(project, 'start', ['--port', new URL(url).port])
  await page.getByText('live', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'interrupted' }).waitFor()
  await page.getByText('The process ended here.').waitFor()
  await page.locator('.run .status.interrupted').waitFor()
  await expectTruth(page, run)
  const { errors, ...rest } = await visited.end()
  expect({ ...rest, errors: errors.filter((error) => !error.includes('net::ERR_')) }).toEqual(nothingWrong)
  await child.stop()
  await project.remove()
}, 60_000)

/** From the beginning of the page on: what its timers have called, and how many wait or repeat. */
const countCalls = `(() => {
  const calls = (window.calls = { made: 0, waiting: 0 })
  const waiting = new Set()
  for (const [set, clear, isOnce] of [['setTimeout', 'clearTimeout', true], ['setInterval', 'clearInterval', false]]) {
    const [begin, end] = [window[set], window[clear]]
    window[set] = (call, ...more) => {
      const id = begin((...given) => {
        calls.made++
        if (isOnce) waiting.delete(id)
        call(...given)
      }, ...more)
      waiting.add(id)
      return id
    }
    window[clear] = (id) => { waiting.delete(id); end(id) }
  }
  Object.defineProperty(calls, 'waiting', { get: () => waiting.size, enumerable: true })
})()`
const callsIn = (page: Page) => page.evaluate('({ ...window.calls })')

/** As when another tab is looked at: this browser has no window that could be behind one. */
async function look(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`)
}
