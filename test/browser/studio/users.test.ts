import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { visit } from '../../support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const [annKey, bobKey] = ['key-of-ann-is-this', 'key-of-bob-is-that']
const secret = 'zanzibar'

let chromium: TestBrowser
let server: RunningTestServer
beforeAll(async () => {
  chromium = await openBrowser()
  server = await startServer(
    {
      auth: {
        keys: [
          { key: annKey, userId: 'ann' },
          { key: bobKey, userId: 'bob' },
        ],
      },
    },
    { says: agent({ model: scriptedModel(({ text }) => `I heard ${text}`) }) },
  )
})
afterAll(async () => {
  await Promise.all([chromium?.close(), server?.close()])
})

const run = async (key: string, input: string) =>
  (await server.call('POST', '/api/v1/agents/says/run', { input }, { 'x-api-key': key })).json

/** What the page was sent, whatever it shows. */
async function openAs(key: string, path: string) {
  const visited = await visit(chromium, server.url, path)
  const { page } = visited
  const sent: Promise<string>[] = []
  page.on('response', (response) => {
    // A stream's text is there when it ends, and an aborted one has none: what came by it is looked for in the page.
    if (!response.url().includes('/live')) sent.push(response.text().catch(() => ''))
  })
  await page.getByLabel('This server asks for an API key.').fill(key)
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByText('live', { exact: true }).waitFor()
  return { ...visited, sent: async () => (await Promise.all(sent)).join('\n') }
}

test.each([
  { place: 'the session', to: (of: Ids) => `/studio/s/${of.session_id}` },
  { place: 'the run in it', to: (of: Ids) => `/studio/s/${of.session_id}/r/${of.run_id}` },
  { place: 'a step of it', to: (of: Ids) => `/studio/s/${of.session_id}/r/${of.run_id}/e/3` },
  { place: 'the run by its id', to: (of: Ids) => `/studio/r/${of.run_id}` },
  { place: 'a search for its words', to: () => `/studio/search?q=${secret}` },
  { place: 'the list of those that wait', to: () => '/studio?status=input_required' },
])("another user's link leads to nothing: $place", async ({ to }) => {
  await run(annKey, 'a word of ann')
  const { page, sent, ...visited } = await openAs(annKey, to(await run(bobKey, `the ${secret} of bob`)))
  await page
    .getByText(/not found|no session|no message|nothing here|no waiting/i)
    .first()
    .waitFor()
  const later = await run(bobKey, `the second ${secret}`)
  await run(annKey, 'another word of ann')
  await page.getByRole('link', { name: 'agentserve', exact: true }).click()
  await page.getByText('another word of ann').first().waitFor()
  const [shown, received] = [await page.locator('body').textContent(), await sent()]
  expect(received).toContain('a word of ann')
  for (const text of [shown, received]) {
    // The page's own search has the word that was typed, and nothing around it.
    for (const words of [`the ${secret}`, `second ${secret}`, later.session_id]) expect(text).not.toContain(words)
  }
  const { foreign, violations } = await visited.end()
  expect({ foreign, violations }).toEqual({ foreign: [], violations: [] })
})

interface Ids {
  session_id: string
  run_id: string
}

test('the live stream of one user has nothing of another, also when it is asked to follow the run', async () => {
  const theirs = await run(bobKey, `the ${secret} of bob`)
  const { page, ...visited } = await openAs(annKey, '/studio')
  await page.evaluate(
    `new Promise((opened) => {
      window.came = (async () => {
        const stopping = new AbortController()
        const { body } = await fetch('/api/v1/live?follow=${theirs.run_id}:0&children=true', {
          headers: { 'x-api-key': '${annKey}' },
          signal: stopping.signal,
        })
        let text = ''
        for await (const part of body.pipeThrough(new TextDecoderStream())) {
          text += part
          opened()
          if (text.includes('the last word of ann')) break
        }
        stopping.abort()
        return text
      })()
    })`,
  )
  await run(bobKey, `the second ${secret}`)
  await run(annKey, 'the last word of ann')
  const text = (await page.evaluate('window.came')) as string
  expect(text).toContain('the last word of ann')
  for (const words of [secret, theirs.run_id, theirs.session_id]) expect(text).not.toContain(words)
  await visited.end()
})
