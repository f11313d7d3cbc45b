import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { DocumentRecord } from '../../../src/core/knowledge/knowledge.ts'
import { openConnections } from '../../../src/runtime/download.ts'
import type { AddressRules } from '../../../src/runtime/public-network.ts'
import { toOutcome } from '../../../src/sources/ingest.ts'
import { type CrawlOptions, crawl } from '../../../src/sources/web/crawl.ts'
import { createPageMemory, type PageMemory } from '../../../src/sources/web/memory.ts'
import { pageMetadata, validatorsOf } from '../../../src/sources/web/page.ts'
import type { PageTarget } from '../../../src/sources/web/page-target.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'
import { openSite, type SitePage, type TestSite } from '../../support/test-site.ts'

let place: KnowledgeFolder
let target: PageTarget
let memory: PageMemory
let site: TestSite
let notes: string[]
beforeEach(async () => {
  place = await knowledgeFolder()
  const knowledge = await place.open()
  target = targetOf(knowledge)
  memory = createPageMemory()
})
afterEach(async () => {
  await site.close()
  await place.remove()
})

function targetOf(knowledge: Awaited<ReturnType<KnowledgeFolder['open']>>): PageTarget {
  const all = async (source?: string) =>
    (await knowledge.listDocuments({ source }, { limit: 100, cursor: undefined })).items as DocumentRecord[]
  return {
    find: async (source) => (await all(source))[0],
    validatorsOf: (document) => validatorsOf(document, {}),
    async ingest({ source, bytes, mediaType, validators }) {
      const metadata = pageMetadata(undefined, validators)
      const made = await knowledge.ingest({ source, name: source, content: bytes, media_type: mediaType, metadata })
      return toOutcome(source, made)
    },
    remove: ({ document_id }) => knowledge.deleteDocument(document_id),
    async *sources() {
      for (const { source } of await all()) yield source
    },
  }
}

async function open(pages: Record<string, SitePage>) {
  site = await openSite(pages)
  notes = []
}

const loopback = { allowHttp: true, allowPrivate: true }

/** What became of each page, without the origin. */
async function run(options: Partial<CrawlOptions> & { rules?: AddressRules } = {}) {
  const { rules = loopback, ...rest } = options
  const { signal } = new AbortController()
  const connections = await openConnections(rules)
  const usual = { start: `${site.url}/`, depth: 3, limit: 100, delayMs: 0, memory, connections, signal }
  const onNote = (sentence: string) => void notes.push(sentence)
  const outcomes: string[] = []
  try {
    for await (const { source, outcome, error } of crawl(target, { ...usual, onNote, ...rest })) {
      const said = error === undefined ? '' : `: ${error.message}`
      outcomes.push(`${outcome} ${source}${said}`.replaceAll(site.url, ''))
    }
  } finally {
    await connections.close()
  }
  return outcomes.sort()
}

const page = (text: string, ...links: string[]) =>
  `${links.map((link) => `<a href="${link}">x</a>`).join('')}<main><p>${text}</p></main>`

it('goes as many links deep as it is told, each page once, and not to other sites', async () => {
  await open({
    '/': page('home', '/a#x', '/a', 'http://other.test/', 'https://127.0.0.1:1/'),
    '/a': page('a', '/', '/b'),
    '/b': page('b', '/c'),
    '/c': page('c'),
  })
  expect(await run({ depth: 2 })).toEqual(['added /', 'added /a', 'added /b'])
  expect(site.asked()).toEqual(
    ['200 /robots.txt', '200 /', '200 /a', '200 /b'].map((line) => line.replace('200 /r', '404 /r')),
  )
})

it('takes a page by its canonical address, also when two name each other, and only if that one is there', async () => {
  await open({
    '/': page('home', '/one', '/two', '/lost', '/mirror'),
    '/one': `<link rel=canonical href="/two">${page('twin')}`,
    '/two': `<link rel=canonical href="/one">${page('twin')}`,
    '/lost': `<link rel=canonical href="/nowhere">${page('lost')}`,
    '/mirror': `<link rel=canonical href="https://other.test/">${page('mirror')}`,
  })
  expect(await run()).toEqual([
    'added /',
    'added /lost',
    'added /mirror',
    'added /two',
    'failed /nowhere: /nowhere answered 404.',
  ])
  expect(notes).toEqual(['Left out: 1 copies of another page.'])
  site.statuses()
  expect(await run()).toContain('unchanged /two')
  expect(site.statuses()).toEqual({ 304: 5 })
})

it('honours noindex and nofollow of pages, headers and links', async () => {
  await open({
    '/': `<a rel="nofollow" href="/a">a</a>${page('home', '/hidden', '/header', '/end')}`,
    '/hidden': `<meta name=robots content=noindex>${page('hidden', '/behind')}`,
    '/header': { headers: { 'x-robots-tag': 'agentserve: none' }, body: page('header', '/never') },
    '/end': `<meta name=robots content=nofollow>${page('end', '/never')}`,
    '/behind': page('behind'),
    '/a': page('a'),
    '/never': page('never'),
  })
  expect(await run()).toEqual(['added /', 'added /behind', 'added /end'])
  expect(notes).toEqual(['Left out: 2 marked noindex.'])
  site.statuses()
  await run()
  expect(site.statuses()).toEqual({ 304: 5 })
})

it('reads the sitemaps that robots.txt names, through an index and gzip, and fetches only their pages', async () => {
  await open({
    '/': page('home'),
    '/a': page('a', '/b'),
    '/not': page('not'),
    '/robots.txt': '',
    '/pages.xml.gz': '',
  })
  site.pages.set('/robots.txt', { body: `Sitemap: ${site.url}/index.xml\nUser-agent: *\nDisallow: /not` })
  site.pages.set(
    '/index.xml',
    `<sitemapindex><sitemap><loc>${site.url}/pages.xml.gz</loc></sitemap><sitemap><loc>${site.url}/index.xml</loc></sitemap></sitemapindex>`,
  )
  const list = ['/a', '/not', '/a'].map((path) => `<url><loc>${site.url}${path}</loc></url>`).join('')
  site.pages.set('/pages.xml.gz', {
    body: gzipSync(`<urlset>${list}<url><loc>http://other.test/</loc></url></urlset>`),
  })
  expect(await run({ depth: undefined, sitemap: true })).toEqual(['added /a'])
  expect(notes).toEqual(['Left out: 1 not allowed by robots.txt.'])
  site.pages.delete('/index.xml')
  expect(await run({ depth: undefined, sitemap: true })).toEqual(['failed /: /index.xml answered 404.'])
})

it('reads the pages of an llms.txt', async () => {
  await open({
    '/llms.txt': {
      headers: { 'content-type': 'text/plain' },
      body: '# x\n- [a](/a.md): a\n- [o](https://other.test/o)\n',
    },
    '/a.md': { headers: { 'content-type': 'text/markdown' }, body: '# A\n\nWhat a says.\n' },
  })
  expect(await run({ depth: undefined, llmsTxt: true })).toEqual(['added /a.md'])
  site.pages.delete('/llms.txt')
  expect(await run({ depth: undefined, llmsTxt: true })).toEqual(['failed /: /llms.txt answered 404.'])
})

it('removes pages that are gone or have moved when it prunes, and none for an error', async () => {
  await open({
    '/': page('home', '/a', '/b', '/c', '/d', '/e'),
    ...Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [`/${name}`, page(name)])),
  })
  await run()
  site.pages.set('/', page('home'))
  site.pages.delete('/a')
  site.pages.set('/b', { status: 301, headers: { location: '/b2' } })
  site.pages.set('/b2', page('b'))
  site.pages.set('/c', { status: 301, headers: { location: '/c2' } })
  site.pages.set('/c2', { status: 500 })
  site.pages.set('/d', { status: 503 })
  site.pages.set('/e', (request) => void request.socket.destroy())
  expect(await run()).toEqual(['replaced /'])
  const pruned = await run({ prune: true })
  expect(pruned.filter((line) => !line.startsWith('failed'))).toEqual([
    'added /b2',
    'pruned /a',
    'pruned /b',
    'unchanged /',
  ])
  expect(pruned.filter((line) => line.startsWith('failed'))).toHaveLength(3)
  expect((await run({ prune: true })).filter((line) => line.startsWith('pruned'))).toEqual([])
})

it('stops at its limit and after many failures in a row, says so, and then prunes nothing', async () => {
  const names = Array.from({ length: 30 }, (_, number) => `/${number}`)
  await open({ '/': page('home', ...names), ...Object.fromEntries(names.map((name) => [name, page(name)])) })
  expect(await run({ limit: 10 })).toHaveLength(10)
  expect(notes).toEqual(['Not fetched: 21 more pages.'])
  for (const name of names) site.pages.set(name, { status: 502 })
  notes = []
  expect((await run({ prune: true })).filter((line) => line.startsWith('failed'))).toHaveLength(10)
  expect(notes[0]).toBe('Stopped after 10 failed requests in a row.')
})

it('fetches nothing when robots.txt fails, and says what robots.txt does not allow', async () => {
  await open({ '/': page('home'), '/robots.txt': { status: 500 } })
  expect(await run()).toEqual([expect.stringContaining('is fetched without its robots.txt: /robots.txt answered 500.')])
  expect(site.asked()).toEqual(['500 /robots.txt'])
  site.pages.set('/robots.txt', { body: 'User-agent: *\nDisallow: /' })
  expect(await run()).toEqual(['failed /: No page of / could be ingested: 1 not allowed by robots.txt.'])
})

it('waits between requests as robots.txt asks, and when the server is busy', async () => {
  const atMs: number[] = []
  let busy = 1
  await open({
    '/robots.txt': { body: 'User-agent: *\nCrawl-delay: 0.2' },
    '/': page('home', '/a'),
    '/a': (_request, response) => {
      atMs.push(performance.now())
      if (busy-- > 0) response.writeHead(429, { 'retry-after': '1' }).end()
      else response.setHeader('content-type', 'text/html').end(page('a'))
    },
  })
  const begunMs = performance.now()
  expect(await run()).toEqual(['added /', 'added /a'])
  expect((atMs[0] ?? 0) - begunMs).toBeGreaterThan(390)
  expect((atMs[1] ?? 0) - (atMs[0] ?? 0)).toBeGreaterThan(990)
})

it('goes to no address that the rules do not allow, at the start, by a redirect or a name', async () => {
  await open({ '/': page('home') })
  expect(await run({ rules: { allowHttp: true, allowPrivate: false } })).toEqual([
    expect.stringContaining('127.0.0.1 is not an address on the public internet.'),
  ])
  const network = { lookup: async () => [{ address: '127.0.0.1', family: 4 }] }
  const named = {
    rules: { allowHttp: true, allowPrivate: false, network },
    start: site.url.replace('127.0.0.1', 'host.test'),
  }
  expect((await run(named))[0]).toContain('is not an address on the public internet.')
  expect(site.asked()).toEqual([])
  site.pages.set('/robots.txt', { status: 302, headers: { location: 'ftp://127.0.0.1/' } })
  expect((await run())[0]).toContain('is not an https:// address')
})

it('sends user and password to their own origin only, and keeps them nowhere', async () => {
  const sent: (string | undefined)[] = []
  await open({
    '/': (request, response) => {
      sent.push(request.headers.authorization)
      response.setHeader('content-type', 'text/html').end(page('home'))
    },
  })
  const outcomes = await run({ start: site.url.replace('//', '//ann:secret@') })
  expect(outcomes).toEqual(['added /'])
  expect(sent).toEqual([`Basic ${Buffer.from('ann:secret').toString('base64')}`])
  expect(JSON.stringify(await target.find(`${site.url}/`))).not.toContain('secret')
})

it('leaves out what is no document, and says when a start leads elsewhere', async () => {
  await open({
    '/': page('home', '/picture', '/script.js', '/redirect'),
    '/picture': { headers: { 'content-type': 'image/png' }, body: 'x' },
    '/redirect': { status: 302, headers: { location: 'http://other.test/' } },
  })
  expect(await run()).toEqual(['added /'])
  expect(notes).toEqual(['Left out: 1 no documents, 1 redirected.'])
  expect((await run({ start: `${site.url}/redirect` }))[0]).toContain('redirects to another site: http://other.test.')
})
