import { afterAll, beforeAll, expect, test } from 'vitest'
import { version } from '../../../src/core/version.ts'
import { command, createProject, launch, type Project } from '../../support/program.ts'
import { openSite, type SitePage, type TestSite } from '../../support/test-site.ts'

/** Pages of one site: 20 lists with links to 24 pages each, which link to each other and back. */
const lists = 20
const perList = 24
const documents = 1 + lists + lists * perList

function largeSite(): Record<string, SitePage> {
  const pages: Record<string, SitePage> = {
    '/robots.txt': { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /private/\n' },
    '/': page('Home', [
      ...Array.from({ length: lists }, (_, list) => `/list/${list}`),
      '/private/a',
      '/moved',
      '/loop-a',
      '/broken',
      '/nowhere',
      '/copy?from=home',
    ]),
    '/private/a': page('Private', []),
    '/moved': { status: 301, headers: { location: '/list/1' } },
    '/loop-a': { status: 302, headers: { location: '/loop-b' } },
    '/loop-b': { status: 302, headers: { location: '/loop-a' } },
    '/broken': { status: 500 },
    '/copy?from=home': `<link rel="canonical" href="/list/2"><p>The same as list 2.</p>`,
  }
  for (let list = 0; list < lists; list++) {
    const mine = Array.from({ length: perList }, (_, number) => `/page/${list}-${number}`)
    pages[`/list/${list}`] = page(`List ${list}`, ['/', ...mine])
    for (const [number, path] of mine.entries())
      pages[path] = page(`Page ${list}-${number}`, ['/', `/list/${list}#top`, mine[(number + 1) % perList] ?? ''])
  }
  return pages
}

function page(title: string, links: string[]): string {
  const items = links.map((link) => `<li><a href="${link}">to ${link}</a></li>`).join('')
  return `<title>${title}</title><nav><ul>${items}</ul></nav><main><h1>${title}</h1><p>What ${title} says.</p></main>`
}

let project: Project
let site: TestSite
beforeAll(async () => {
  project = await createProject()
  site = await openSite(largeSite())
})
afterAll(async () => {
  await site.close()
  await project.remove()
})

const flags = ['--depth', '9', '--limit', '1000', '--delay', '0', '--allow-http', '--allow-private']

async function crawl(...more: string[]) {
  const { code, stdout, stderr } = await command(project, ['ingest', `${site.url}/`, ...flags, ...more, '--json'])
  const counts: Record<string, number> = {}
  for (const line of stdout.split('\n').filter((text) => text !== '')) {
    const { outcome } = JSON.parse(line) as { outcome: string }
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  return { code, stderr, counts }
}

async function sources(): Promise<string[]> {
  const { stdout } = await command(project, ['knowledge', 'list', '--json'])
  const lines = stdout.split('\n').filter((line) => line !== '')
  return lines.map((line) => (JSON.parse(line) as { source: string }).source.replace(site.url, ''))
}

test('a crawl of 500 pages that is killed goes on where it was, and then fetches only what has changed', async () => {
  const killed = launch(project, ['ingest', `${site.url}/`, ...flags, '--json'])
  await site.reached(150)
  killed.child.kill('SIGKILL')
  await killed.finished
  const before = site.statuses()
  const kept = await sources()
  expect(kept.length).toBeGreaterThan(50)

  const second = await crawl()
  expect(second.code).toBe(0)
  expect(second.counts).toMatchObject({ skipped: 2 })
  expect((second.counts.added ?? 0) + (second.counts.unchanged ?? 0)).toBe(documents)
  expect(second.stderr).toContain('1 not allowed by robots.txt, 3 redirected, 1 copies of another page')
  const counted = site.statuses()
  // What was a document when the process was killed is not sent again, but for the page that was under way.
  expect(counted[304]).toBeGreaterThanOrEqual(kept.length - 1)
  expect((counted[200] ?? 0) + kept.length).toBeLessThanOrEqual(documents + 3)
  expect(before[200]).toBeLessThanOrEqual(kept.length + 3)
  const found = await sources()
  expect(found.sort()).toEqual([...new Set(found)])
  expect(found).toHaveLength(documents)
  expect(found.filter((source) => /private|moved|loop|copy/.test(source))).toEqual([])

  site.pages.set('/page/3-3', page('Page 3-3, second edition', ['/', '/page/new']))
  site.pages.set('/page/new', page('A new page', []))
  site.pages.delete('/page/4-4')
  site.pages.set('/page/5-5', { status: 503 })
  const third = await crawl('--prune')
  expect(third.counts).toEqual({ added: 1, replaced: 1, pruned: 1, unchanged: documents - 3, skipped: 3 })
  expect(site.statuses()).toEqual({ 200: 2, 304: documents - 3 + 1, 301: 1, 302: 2, 404: 2, 500: 1, 503: 1 })
  expect(await sources()).toEqual(expect.arrayContaining(['/page/new', '/page/5-5']))
  expect(await sources()).not.toContain('/page/4-4')
  expect([...site.agents]).toEqual([`agentserve/${version}`])
}, 180_000)
