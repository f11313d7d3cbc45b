import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { ServerError } from '../../src/client/transport/error.ts'
import { openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { openCuttingProxy } from '../support/client/cutting-proxy.ts'
import { parseImports } from '../support/floors.ts'
import { createProject, type Project, type RunningServer, root, serve } from '../support/program.ts'

/* `agentserve/client` as the bundler of a page takes it from the package, in a browser, and a server on another origin. */

declare global {
  var createClient: (options: { url: string; apiKey?: string; silenceMs?: number }) => Client
}

const apiKey = 'a-key-of-this-test-0123456789'
const configFor = (origin: string) => `
import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { agent, defineConfig, workflow } from 'agentserve'

export default defineConfig({
  server: { allowOrigins: ['${origin}'], auth: { keys: ['${apiKey}'] } },
  agents: {
    echo: agent({ run: ({ text }) => text }),
    count: agent({
      async *run({ signal }) {
        for (let number = 1; number <= 40; number++) {
          if (number === 20) while (!existsSync('go')) await setTimeout(20, undefined, { signal })
          yield number + ' '
        }
      },
    }),
  },
  workflows: {
    letter: workflow({
      async run({ text, approve, step }) {
        await approve('Send it?', { text })
        return step('send', () => 'Sent: ' + text)
      },
    }),
  },
})
`

/** A page on an origin of its own, which makes the client of the package global. */
interface Site {
  url: string
  /** Of the bundle. */
  script: string
  close(): Promise<void>
}

let project: Project
let server: RunningServer
let site: Site
let chromium: TestBrowser

beforeAll(async () => {
  project = await createProject({
    'page.ts': "import { createClient } from 'agentserve/client'\nObject.assign(window, { createClient })",
    'index.html': '<!doctype html><script type="module" src="/page.ts"></script>',
  })
  site = await openSite(project.folder)
  await project.write('agent.config.ts', configFor(site.url))
  server = await serve(project)
  chromium = await openBrowser()
}, 120_000)

afterAll(async () => {
  await chromium?.close()
  await server?.stop()
  await site?.close()
  await project?.remove()
})

async function openSite(folder: string): Promise<Site> {
  await build({ root: folder, logLevel: 'error', configFile: false })
  const assets = join(folder, 'dist/assets')
  const [name = ''] = await readdir(assets)
  const files: Record<string, [type: string, content: string]> = {
    '/': ['text/html', await readFile(join(folder, 'dist/index.html'), 'utf8')],
    [`/assets/${name}`]: ['text/javascript', await readFile(join(assets, name), 'utf8')],
  }
  const pages = createServer((request, response) => {
    const [type, content] = files[request.url ?? ''] ?? ['text/plain', '']
    response.writeHead(content === '' ? 404 : 200, { 'content-type': type }).end(content)
  })
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(pages.address() as AddressInfo).port}`,
    script: files[`/assets/${name}`]?.[1] ?? '',
    async close() {
      pages.closeAllConnections()
      await new Promise((resolve) => pages.close(resolve))
    },
  }
}

async function visit(): Promise<Page> {
  const page = await chromium.browser.newPage()
  onTestFinished(() => page.close())
  await page.goto(site.url)
  await page.waitForFunction('window.createClient')
  return page
}

test('the build and the bundle of a page have nothing of Node, and at most 15 KB', async () => {
  const shipped = await readFile(join(root, 'dist/client.browser.js'), 'utf8')
  for (const script of [shipped, site.script]) {
    expect(/node:|undici|\bBuffer\b|\brequire\(|\bprocess\./.exec(script)?.[0]).toBeUndefined()
    expect(gzipSync(script).length).toBeLessThanOrEqual(15_000)
  }
  expect(parseImports(shipped)).toEqual([])
})

test('the browser build exports what the other one does', async () => {
  const [here, there] = await Promise.all(
    ['dist/client.js', 'dist/client.browser.js'].map((file) => import(join(root, file)) as Promise<object>),
  )
  expect(Object.keys(there ?? {}).sort()).toEqual(Object.keys(here ?? {}).sort())
})

test('a page on another origin runs an agent, and continues its session', async () => {
  const page = await visit()
  const said = await page.evaluate(
    async ({ url, apiKey }) => {
      const client = createClient({ url, apiKey })
      const { content, session_id } = await client.agents.run('echo', { input: 'Hello' })
      const again = await client.agents.run('echo', { input: 'Again', session_id })
      const { runs } = await client.sessions.history(session_id)
      return [content, again.content, runs.length]
    },
    { url: server.url, apiKey },
  )
  expect(said).toEqual(['Hello', 'Again', 2])
})

test('a stream arrives as it is said, and goes on after a cut without losing or doubling anything', async () => {
  const proxy = await openCuttingProxy(server.url)
  onTestFinished(() => proxy.close())
  const page = await visit()
  const before = page.evaluate(
    async ({ url, apiKey }) => {
      const stream = await createClient({ url, apiKey }).agents.stream('count', { input: 'Go' })
      const seen = { text: '', numbers: [] as number[] }
      Object.assign(globalThis, { seen })
      for await (const event of stream) {
        seen.numbers.push(event.seq)
        if (event.type === 'text_delta') seen.text += event.text
      }
      const { status } = await stream.result()
      return { ...seen, status }
    },
    { url: proxy.url, apiKey },
  )
  await page.waitForFunction("window.seen?.text.endsWith('19 ')")
  proxy.cutAfter(0)
  await project.write('go', '')
  const { text, numbers, status } = await before
  expect(proxy.hasCut).toBe(true)
  expect([status, text]).toEqual(['completed', Array.from({ length: 40 }, (_, place) => `${place + 1} `).join('')])
  expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other))
})

test('a page approves what a run waits for', async () => {
  const page = await visit()
  const done = await page.evaluate(
    async ({ url, apiKey }) => {
      const client = createClient({ url, apiKey })
      const paused = await client.agents.run('letter', { input: 'Dear all' })
      const [waiting] = paused.waiting ?? []
      const resumed = await client.runs.resume(paused.run_id, { approved: true })
      return [paused.status, waiting?.kind, resumed.status, resumed.content]
    },
    { url: server.url, apiKey },
  )
  expect(done).toEqual(['input_required', 'approval', 'completed', 'Sent: Dear all'])
})

test('errors are those of the server, with what the page may read of its answer', async () => {
  const page = await visit()
  const errors = await page.evaluate(
    async ({ url, apiKey }) => {
      const told = async (work: Promise<unknown>) =>
        work.then(
          () => undefined,
          ({ code, status, requestId }: ServerError) => [code, status, typeof requestId],
        )
      const client = createClient({ url, apiKey })
      return [
        await told(client.agents.run('nobody', { input: 'Hello?' })),
        await told(createClient({ url, apiKey: 'wrong' }).agents.list()),
      ]
    },
    { url: server.url, apiKey },
  )
  expect(errors).toEqual([
    ['agent_not_found', 404, 'string'],
    ['unauthorized', 401, 'string'],
  ])
})

test('a page of an origin that is not allowed gets nothing', async () => {
  const stranger = await openSite(project.folder)
  onTestFinished(() => stranger.close())
  const page = await chromium.browser.newPage()
  onTestFinished(() => page.close())
  await page.goto(stranger.url)
  await page.waitForFunction('window.createClient')
  const error = await page.evaluate(
    async ({ url, apiKey }) =>
      createClient({ url, apiKey })
        .agents.run('echo', { input: 'Hello' })
        .then(
          () => 'answered',
          ({ code, status }: ServerError) => [code, status],
        ),
    { url: server.url, apiKey },
  )
  expect(error).toEqual(['unavailable', undefined])
})
