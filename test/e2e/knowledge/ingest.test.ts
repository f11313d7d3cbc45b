import { rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { command, createProject, type Project } from '../../support/program.ts'

let project: Project
beforeAll(async () => {
  project = await createProject({
    '.gitignore': 'drafts/\n',
    'docs/lamp.md': '# The lamp\n\nThe keeper lights the lamp at dusk and trims the wick.\n',
    'docs/deep/boat.txt': 'The boat lies in the eastern harbour from May to October.\n',
    'docs/empty.md': '',
    'docs/drafts/secret.md': '# Secret\n\nNobody reads this.\n',
    'docs/.hidden.md': '# Hidden\n\nNor this.\n',
  })
})
afterAll(() => project.remove())

async function ingest(...args: string[]) {
  const { code, stdout, stderr } = await command(project, ['ingest', ...args, '--json'])
  const lines = stdout.split('\n').filter((line) => line !== '')
  const results = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  return { code, stderr, results: results.map(({ source, outcome }) => `${outcome} ${source}`).sort() }
}

describe('agentserve ingest', () => {
  test('says what it would do, does it once, and then finds nothing to do', async () => {
    const added = ['added docs/deep/boat.txt', 'added docs/lamp.md', 'skipped docs/empty.md']
    const dry = await ingest('docs', '--dry-run')
    expect(dry.results).toEqual(added)
    const first = await ingest('docs')
    expect(first.results).toEqual(added)
    expect(first.stderr).toContain('3 files, 2 chunks')
    expect(first.stderr).toContain("skipped docs/empty.md: docs/empty.md can't be read: it is empty.")
    const again = await ingest('docs', 'docs/lamp.md', './docs')
    expect(again.results).toEqual(['skipped docs/empty.md', 'unchanged docs/deep/boat.txt', 'unchanged docs/lamp.md'])
    const { stdout, stderr } = await command(project, ['ingest', 'docs', 'docs/lamp.md'])
    expect(stdout + stderr.replace(/^.*docs\/empty\.md.*\n/gm, '')).toMatch(
      /^3 files, 2 chunks, [^\n]*: 0 added, 0 replaced, 2 unchanged, 1 skipped\.\n$/,
    )
    const one = await command(project, ['ingest', 'docs/lamp.md'])
    expect(one.stdout + one.stderr).toMatch(
      /^1 file, 1 chunk, [^\n]*: 0 added, 0 replaced, 1 unchanged, 0 skipped\.\n$/,
    )
    const listed = (await command(project, ['knowledge', 'list'])).stdout
    expect(listed.match(/^docs\/\S+/gm)?.sort()).toEqual(['docs/deep/boat.txt', 'docs/lamp.md'])
  })

  test('replaces what changed, and prunes what is gone when it is told to', async () => {
    await project.write('docs/lamp.md', '# The lamp\n\nThe lamp is electric now.\n')
    await rm(join(project.folder, 'docs/deep/boat.txt'))
    expect((await ingest('docs')).results).toEqual(['replaced docs/lamp.md', 'skipped docs/empty.md'])
    const dry = await ingest('docs', '--prune', '--dry-run')
    expect(dry.results).toContain('pruned docs/deep/boat.txt')
    const pruned = await ingest('docs', '--prune')
    expect(pruned.results).toContain('pruned docs/deep/boat.txt')
    const { stdout } = await command(project, ['knowledge', 'list'])
    expect(stdout).toContain('docs/lamp.md')
    expect(stdout).not.toContain('boat')
  })

  test('takes chunk options and metadata, which filters find', async () => {
    await project.write('notes/a.md', '# Anchor\n\nAn anchor weighs forty kilograms.\n')
    const flags = [
      '--metadata',
      'topic=gear',
      '--metadata',
      '{"year": 2031}',
      '--chunk-size',
      '200',
      '--chunker',
      'sentence',
    ]
    expect((await ingest('notes', ...flags)).results).toEqual(['added notes/a.md'])
    const found = await command(project, [
      'search',
      'anchor',
      '--filter',
      'topic=gear',
      '--filter',
      'year=2031',
      '--json',
    ])
    expect(JSON.parse(found.stdout.split('\n')[0] ?? '')).toMatchObject({ source: 'notes/a.md', chunk_size: 200 })
    const none = await command(project, ['search', 'anchor', '--filter', 'year=1', '--json'])
    expect(none.stdout).toBe('')
    expect((await ingest('notes', '--metadata', 'oops')).code).toBe(2)
  })

  test('tells a path that is not there from files that can not be read', async () => {
    expect((await ingest('nowhere')).code).toBe(2)
    await project.write('bad/x.bin', '\u0089PNG\r\n\u001a\n\0\0')
    const { code, results } = await ingest('bad')
    expect({ code, results }).toEqual({ code: 1, results: ['skipped bad/x.bin'] })
  })
})

describe('agentserve ingest of an address', () => {
  let server: Server
  let url: string
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: 'http://[::1]:1/' }).end()
      else if (request.url === '/large') response.end(Buffer.alloc(21_000_000))
      else
        response.setHeader('content-type', 'text/html').end('<main><h1>Tides</h1><p>High water is at noon.</p></main>')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))

  test('needs to be told to for http and for addresses that are not public', async () => {
    expect((await ingest(url)).stderr).toContain('--allow-http')
    expect((await ingest(url, '--allow-http')).stderr).toContain('not an address on the public internet')
    expect((await ingest('http://localhost:1/', '--allow-http')).stderr).toContain(
      'not an address on the public internet',
    )
    const { results } = await ingest(`${url}/`, '--allow-http', '--allow-private')
    expect(results).toEqual([`added ${url}/`])
  })

  test('checks where a redirect leads, and stops at what is too large', async () => {
    expect((await ingest(`${url}/away`, '--allow-private')).stderr).toContain('--allow-http')
    const large = await ingest(`${url}/large`, '--allow-http', '--allow-private')
    expect(large.stderr).toContain('more than 20 MB')
  })
})

describe('agentserve ask', () => {
  test('takes in what is new, answers once with the place, and leaves', async () => {
    const { code, stdout } = await command(project, ['ask', 'How heavy is an anchor?', 'notes'])
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('forty kilograms') })
    expect(stdout).toContain('[1] notes/a.md:3')
  })

  test('is answered by the first agent with knowledge without docs, or says that it quotes nothing', async () => {
    const own = await createProject({
      'agent.config.ts': `
import { agent, defineConfig } from 'agentserve'
const plain = agent({ async *run() { yield 'I know nothing.' } })
export default defineConfig({ agents: { plain, handbook: agent({ knowledge: true }) } })`,
      'notes/a.md': 'An anchor weighs forty kilograms.\n',
    })
    for (const empty of [
      ['search', 'anchor'],
      ['ask', 'How heavy is an anchor?'],
    ]) {
      const { code, stderr } = await command(own, empty)
      expect({ code, stderr }).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(
          /is empty. Add documents with .*ingest <paths>`\. A server that has just started may still be ingesting/,
        ),
      })
    }
    const { stdout, stderr } = await command(own, ['ask', 'How heavy is an anchor?', 'notes'])
    expect(stderr).not.toContain('empty')
    expect(stdout).toContain('forty kilograms')
    await own.remove()
  })

  test('says so when nothing fits', async () => {
    const { stdout } = await command(project, ['ask', 'Who won the world cup?'])
    expect(stdout).toContain('nothing in it fits')
  })
})

test('agentserve search --explain shows ranks, words and the line', async () => {
  const { stdout } = await command(project, ['search', 'ankor weighs', '--explain', '--limit', '1'])
  expect(stdout).toMatch(/keyword 1 \(0\.\d\d\), vector \d+ \(0\.\d\d\), merged 1/)
  expect(stdout).toContain('line 3: An anchor weighs forty kilograms.')
})

test('agentserve knowledge deletes by source, and says when there is no such document', async () => {
  expect((await command(project, ['knowledge', 'delete', 'notes/a.md'])).code).toBe(0)
  expect(await command(project, ['knowledge', 'delete', 'notes/a.md'])).toMatchObject({ code: 1 })
  const { stdout } = await command(project, ['knowledge', 'config', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ collection: 'default' })
})
