import { execFileSync } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { RemoteSources } from '../../../src/server/remote/remote-sources.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'
import { manualTimers } from '../../support/manual-timers.ts'

let place: KnowledgeFolder
let server: AbortController
beforeEach(async () => {
  place = await knowledgeFolder()
  server = new AbortController()
})
afterEach(async () => {
  server.abort()
  await place.remove()
})

it('brings a repository at a ref, cites its paths, and forgets files that are gone', async () => {
  const origin = join(place.folder, 'origin')
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', origin, '-c', 'user.name=Ann', '-c', 'user.email=ann@host.test', ...args], {
      stdio: 'pipe',
    })
  await mkdir(join(origin, 'docs'), { recursive: true })
  git('init', '--quiet', '-b', 'main')
  for (const name of ['docs/lamp.md', 'docs/boat.md', 'top.md'])
    await writeFile(join(origin, name), `# The ${name} burns\n`)
  git('add', '-A')
  git('commit', '--quiet', '-m', 'x')
  const knowledge = await place.open()
  const documents = async () =>
    (await knowledge.listDocuments({}, { limit: 9, cursor: undefined })).items.map((one) => one.source).sort()
  const timers = manualTimers()
  const { folder } = place
  const options = { knowledge, logger: silentLogger, timers, root: folder, folder, signal: server.signal }
  const remote = new RemoteSources(options)
  const source = { url: 'git:origin#main:docs', everyMs: 60_000, allowHttp: false, allowPrivate: false }
  remote.update({ remote: [source] })
  await remote.idle()
  expect(await documents()).toEqual(['git:origin@main/docs/boat.md', 'git:origin@main/docs/lamp.md'])
  const { results } = await knowledge.search({ query: 'lamp burns', mode: 'keyword' })
  expect(results[0]).toMatchObject({ source: 'git:origin@main/docs/lamp.md', line_start: 1 })
  const first = (await knowledge.listDocuments({}, { limit: 9, cursor: undefined })).items
  git('rm', '--quiet', 'docs/boat.md')
  git('commit', '--quiet', '-m', 'y')
  timers.advance(60_000)
  await remote.idle()
  const { items } = await knowledge.listDocuments({}, { limit: 9, cursor: undefined })
  expect(items).toEqual(first.filter((document) => document.source.endsWith('lamp.md')))
  await rm(origin, { recursive: true })
  timers.advance(60_000)
  await remote.idle()
  expect(await documents()).toEqual(['git:origin@main/docs/lamp.md'])
  expect((await knowledge.status()).sources).toMatchObject([
    { state: 'failed', reason: expect.stringContaining('git says') },
  ])
})
