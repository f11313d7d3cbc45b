import { afterEach, beforeEach, expect, it } from 'vitest'
import type { RemoteSource } from '../../../src/core/knowledge/remote-source.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { RemoteSources } from '../../../src/server/remote/remote-sources.ts'
import type { OpenableKnowledge } from '../../../src/service/knowledge/knowledge.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'
import { manualTimers } from '../../support/manual-timers.ts'
import { openSite, type TestSite } from '../../support/test-site.ts'

let place: KnowledgeFolder
let knowledge: OpenableKnowledge
let site: TestSite
let server: AbortController
beforeEach(async () => {
  place = await knowledgeFolder()
  knowledge = await place.open()
  server = new AbortController()
  site = await openSite({ '/': page('home', '/a', '/b'), '/a': page('a'), '/b': page('b') })
})
afterEach(async () => {
  server.abort()
  await site.close()
  await place.remove()
})

const page = (text: string, ...links: string[]) =>
  `${links.map((link) => `<a href="${link}">x</a>`).join('')}<main><p>${text}</p></main>`

function start() {
  const timers = manualTimers()
  const { folder } = place
  const options = { knowledge, logger: silentLogger, timers, root: folder, folder, signal: server.signal }
  return { timers, remote: new RemoteSources(options) }
}

const web = (path: string, more: Partial<RemoteSource> = {}): RemoteSource => ({
  url: `${site.url}${path}`,
  allowHttp: true,
  allowPrivate: true,
  delayMs: 0,
  ...more,
})

async function documents(): Promise<string[]> {
  const { items } = await knowledge.listDocuments({}, { limit: 100, cursor: undefined })
  return items.map(({ source }) => source.replace(site.url, '')).sort()
}

it('brings the pages of the config, forgets those that it names no more, and nobody else’s', async () => {
  await knowledge.ingest({ content: 'By hand.', source: `${site.url}/by-hand`, name: 'by-hand.md' })
  const { remote } = start()
  remote.update({ remote: [web('/', { depth: 1 })] })
  await remote.idle()
  expect(await documents()).toEqual(['/', '/a', '/b', '/by-hand'])
  expect((await knowledge.status()).sources).toMatchObject([{ source: `${site.url}/`, state: 'ok', documents: 3 }])
  remote.update({ remote: [web('/a'), web('/nowhere', { depth: 1 })] })
  await remote.idle()
  expect(await documents()).toEqual(['/', '/a', '/b', '/by-hand'])
  remote.update({ remote: [web('/a')] })
  await remote.idle()
  expect(await documents()).toEqual(['/a', '/by-hand'])
  remote.update({ remote: [] })
  await remote.idle()
  expect(await documents()).toEqual(['/by-hand'])
})

it('fetches again every so often only what has changed, and keeps all while the site fails', async () => {
  const { remote, timers } = start()
  remote.update({ remote: [web('/', { depth: 1, everyMs: 60_000 })] })
  await remote.idle()
  expect(site.statuses()).toEqual({ 200: 3 })
  site.pages.set('/b', { status: 500 })
  site.pages.set('/', page('home', '/b', '/c'))
  site.pages.set('/c', page('c'))
  timers.advance(60_000)
  await remote.idle()
  expect(site.statuses()).toEqual({ 200: 2, 500: 1 })
  expect(await documents()).toEqual(['/', '/a', '/b', '/c'])
  const [state] = (await knowledge.status()).sources ?? []
  expect(state).toMatchObject({ state: 'ok', documents: 2, failed: 1, reason: expect.stringContaining('answered 500') })
  site.pages.delete('/b')
  timers.advance(60_000)
  await remote.idle()
  expect(await documents()).toEqual(['/', '/c'])
  site.pages.set('/robots.txt', { status: 503 })
  timers.advance(60_000)
  await remote.idle()
  expect(await documents()).toEqual(['/', '/c'])
  expect((await knowledge.status()).sources).toMatchObject([{ state: 'failed', failed: 1 }])
})

it('ends with the server: no timer, no request', async () => {
  const { remote, timers } = start()
  let asked = 0
  site.pages.set('/', (_request, response) => {
    asked++
    server.abort()
    response.end(page('home', '/a'))
  })
  remote.update({ remote: [web('/', { depth: 1, everyMs: 60_000 }), web('/b', { everyMs: 60_000 })] })
  await remote.idle()
  timers.advance(120_000)
  await remote.idle()
  expect(asked).toBe(1)
  expect(site.asked().filter((line) => line.endsWith('/b'))).toEqual([])
  remote.update({ remote: [web('/b')] })
  await remote.idle()
  expect(await documents()).toEqual([])
})

it('needs to be told for http and private addresses, and tells no password', async () => {
  const { remote } = start()
  const named = site.url.replace('//', '//ann:secret@')
  remote.update({ remote: [web('/', { allowHttp: false }), web('/', { allowPrivate: false, url: named })] })
  await remote.idle()
  const { sources } = await knowledge.status()
  expect(sources?.[0]?.reason).toContain('Set allowHttp of the source')
  expect(sources?.[1]?.reason).toContain('Set allowPrivate of the source')
  expect(JSON.stringify(sources)).not.toContain('secret')
})
