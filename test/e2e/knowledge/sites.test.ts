import { afterEach, expect, test } from 'vitest'
import { command, createProject, launch, type Project, type RunningServer, serve } from '../../support/program.ts'
import { openSite, type TestSite } from '../../support/test-site.ts'

const timeout = 20_000

let project: Project
let site: TestSite
let server: RunningServer | undefined
afterEach(async () => {
  await server?.stop()
  server = undefined
  await site.close()
  await project.remove()
})

const page = (text: string, ...links: string[]) =>
  `${links.map((link) => `<a href="${link}">x</a>`).join('')}<main><h1>${text}</h1><p>The ${text} says so.</p></main>`

async function sources(): Promise<string[]> {
  const { stdout } = await command(project, ['knowledge', 'list', '--json'])
  const lines = stdout.split('\n').filter((line) => line !== '')
  return lines.map((line) => (JSON.parse(line) as { source: string }).source.replace(site.url, '')).sort()
}

test('a server takes in the sites of its config beside files, tells how they stand, and forgets them', async () => {
  site = await openSite({ '/': page('harbour', '/tide', '/gone'), '/tide': page('tide') })
  const config = (more: string) => `import { defineConfig } from 'agentserve'
export default defineConfig({ knowledge: { sources: ['notes'${more}] } })\n`
  const named = site.url.replace('//', '//ann:secret@')
  const one = `, { url: '${named}/', depth: 1, delay: 0, allowHttp: true, allowPrivate: true, every: '1h' }`
  project = await createProject({ 'notes/lamp.md': '# Lamp\n\nThe lamp burns.\n', 'agent.config.ts': config(one) })
  server = await serve(project, 'start')
  await expect.poll(sources, { timeout }).toEqual(['/', '/tide', 'notes/lamp.md'])
  const { stdout } = await command(project, ['knowledge', 'status', '--json'])
  const [status] = (JSON.parse(stdout) as { sources: Record<string, unknown>[] }).sources
  expect(status).toMatchObject({ source: `${site.url}/`, state: 'ok', documents: 2, failed: 1 })
  expect(Date.parse(String(status?.next_at))).toBeGreaterThan(Date.now())
  expect((await command(project, ['knowledge', 'status'])).stdout).toMatch(/SOURCE +STATE[\s\S]*ok +2 +1/)
  const ended = await server.stop()
  expect(`${stdout}${ended.stdout}${ended.stderr}`).not.toContain('secret')

  site.statuses()
  server = await serve(project, 'start')
  // Four requests the first time, robots.txt among them, and as many now.
  await site.reached(8)
  expect(site.statuses()).toEqual({ 304: 2, 404: 1 })
  await server.stop()
  await project.write('agent.config.ts', config(''))
  server = await serve(project, 'start')
  await expect.poll(sources, { timeout }).toEqual(['notes/lamp.md'])
}, 120_000)

test('dev says of an empty knowledge base which sources of the config are still to fetch', async () => {
  site = await openSite({})
  project = await createProject({
    'agent.config.ts': `import { defineConfig } from 'agentserve'
export default defineConfig({
  knowledge: { sources: [{ url: '${site.url}/', allowHttp: true, allowPrivate: true }] },
})\n`,
  })
  const running = await serve(project, 'dev')
  server = running
  await expect
    .poll(() => running.stderr(), { timeout })
    .toMatch(/knowledge +empty; 1 source of the config to fetch: see (npx )?agentserve knowledge status\n/)
}, 60_000)

test('a crawl goes through a running server, into a new collection, and stops at Ctrl-C with exit code 130', async () => {
  site = await openSite({ '/': page('harbour', '/tide'), '/tide': page('tide') })
  project = await createProject()
  server = await serve(project, 'start')
  const flags = ['--depth', '1', '--delay', '0', '--allow-http', '--allow-private', '--collection', 'sea']
  const { code, stdout, stderr } = await command(project, ['ingest', `${site.url}/`, ...flags])
  expect({ code, stdout, stderr }).toMatchObject({ code: 0, stderr: expect.stringMatching(/^2 pages, .*2 added/) })
  expect((await command(project, ['ingest', `${site.url}/`])).stderr).toMatch(
    /^1 page, .*1 skipped\.\n {2}skipped \S+: http:\S+ is not encrypted/,
  )
  expect(await sources()).toEqual(['/', '/tide'])
  site.pages.set('/tide', page('ebb'))
  site.pages.set('/more', page('more'))
  site.pages.set('/', page('harbour', '/tide', '/more'))
  const dry = await command(project, ['ingest', `${site.url}/`, ...flags, '--dry-run'])
  expect(dry.stderr).toContain('1 added, 2 replaced, 0 unchanged')
  site.pages.set('/', page('harbour', '/tide'))
  const again = await command(project, ['ingest', `${site.url}/`, ...flags, '--dry-run'])
  expect(again.stderr).toContain('0 added, 1 replaced, 1 unchanged')
  expect(await sources()).toEqual(['/', '/tide'])
  for (const wrong of [
    ['notes', '--depth', '1'],
    [site.url, '--limit', '3'],
    [site.url, '--depth', '-1'],
  ])
    expect((await command(project, ['ingest', ...wrong])).code).toBe(2)
  const asked = Promise.withResolvers<void>()
  site.pages.set('/', page('harbour', '/tide', '/slow'))
  site.pages.set('/slow', () => asked.resolve())
  const stopped = launch(project, ['ingest', `${site.url}/`, ...flags])
  await asked.promise
  stopped.child.kill('SIGINT')
  expect((await stopped.finished).code).toBe(130)
  expect(await sources()).toEqual(['/', '/tide'])
  site.pages.set('/', { status: 404 })
  expect((await command(project, ['ingest', `${site.url}/`, ...flags])).code).toBe(1)
}, 60_000)
