import { mkdir, mkdtemp, open, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { ingestSources } from '../../src/server/knowledge/ingest-sources.ts'
import type { OpenableKnowledge } from '../../src/service/knowledge/knowledge.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../support/knowledge/folder.ts'

let place: KnowledgeFolder
let root: string

beforeEach(async () => {
  place = await knowledgeFolder()
  root = await mkdtemp(join(tmpdir(), 'project-'))
  await mkdir(join(root, 'docs'))
  for (const name of ['one', 'two']) await writeFile(join(root, 'docs', `${name}.md`), `The lamp of ${name} burns.`)
})
afterEach(async () => {
  await place.remove()
  await rm(root, { recursive: true })
})

/** What a server that starts does with its sources, over the same data folder each time; gives the documents then. */
async function start(
  sources: string[],
  also?: (knowledge: OpenableKnowledge) => Promise<unknown>,
  areNamed = true,
): Promise<string[]> {
  const knowledge = await place.open()
  const chunks = { collection: undefined, chunkSize: undefined, chunkOverlap: undefined }
  const { signal } = new AbortController()
  await ingestSources({ knowledge, root, sources, areNamed, ...chunks, logger: silentLogger, signal })
  await also?.(knowledge)
  const { items } = await knowledge.listDocuments({}, { limit: 100 })
  await knowledge.close()
  return items.map(({ source }) => source).sort()
}

it('forgets files that went while no server ran, and nothing that the sources did not bring', async () => {
  await start(['docs'], async (knowledge) => {
    await knowledge.ingest({ content: 'By hand.', source: 'docs/by-hand.md', name: 'docs/by-hand.md' })
  })
  await rm(join(root, 'docs/one.md'))
  await rename(join(root, 'docs/two.md'), join(root, 'docs/three.md'))
  expect(await start(['docs'])).toEqual(['docs/by-hand.md', 'docs/three.md'])
})

it('forgets what the config no longer names, also what was ingested by hand before it was named', async () => {
  await writeFile(join(root, 'by-hand.md'), 'By hand.')
  await start([], (knowledge) => knowledge.ingest({ content: 'By hand.', source: 'by-hand.md', name: 'by-hand.md' }))
  expect(await start(['by-hand.md', 'docs'])).toEqual(['by-hand.md', 'docs/one.md', 'docs/two.md'])
  expect(await start(['docs'])).toEqual(['docs/one.md', 'docs/two.md'])
})

it('leaves alone what was ingested by hand and only the built-in config has read since', async () => {
  await writeFile(join(root, 'by-hand.md'), 'By hand.')
  await start([], (knowledge) => knowledge.ingest({ content: 'By hand.', source: 'by-hand.md', name: 'by-hand.md' }))
  expect(await start(['by-hand.md', 'docs'], undefined, false)).toEqual(['by-hand.md', 'docs/one.md', 'docs/two.md'])
  expect(await start([])).toEqual(['by-hand.md'])
})

it.each([
  ['gone', () => rename(join(root, 'docs'), join(root, 'elsewhere'))],
  ['empty', () => rm(join(root, 'docs'), { recursive: true }).then(() => mkdir(join(root, 'docs')))],
])('keeps the documents of a folder that is %s, and takes in the other sources', async (_state, change) => {
  await writeFile(join(root, 'top.md'), 'High water is at noon.')
  await start(['docs'])
  await change()
  expect(await start(['docs', 'docs/**/*.md', 'top.md'])).toEqual(['docs/one.md', 'docs/two.md', 'top.md'])
})

it.each([
  ['binary', () => writeFile(join(root, 'docs/one.md'), Buffer.from('89504e470d0a1a0a0000', 'hex'))],
  ['empty', () => writeFile(join(root, 'docs/one.md'), '')],
  ['blank', () => writeFile(join(root, 'docs/one.md'), ' \n\n')],
  ['too large', () => truncate(join(root, 'docs/one.md'), 3 * 1024 ** 3)],
  ['a folder', () => rm(join(root, 'docs/one.md')).then(() => mkdir(join(root, 'docs/one.md')))],
])('forgets the text of a file that has become %s, and no other', async (_state, change) => {
  await start(['docs/one.md', 'docs/two.md'])
  await change()
  expect(await start(['docs/one.md', 'docs/two.md'])).toEqual(['docs/two.md'])
})

it('keeps the text of a file that fails although it is as it was', async () => {
  const path = join(root, 'docs/one.md')
  await writeFile(path, Buffer.from('89504e470d0a1a0a0000', 'hex'))
  const byHand = { content: 'What the picture shows.', source: 'docs/one.md', name: 'docs/one.md' }
  await start(['docs/two.md'], async (knowledge) => {
    await expect.poll(() => Date.now()).toBeGreaterThan((await stat(path)).ctimeMs)
    await knowledge.ingest(byHand)
  })
  expect(await start(['docs'])).toEqual(['docs/one.md', 'docs/two.md'])
})

it('forgets what .gitignore excludes since, and takes it in again when it does not', async () => {
  expect(await start(['docs'])).toEqual(['docs/one.md', 'docs/two.md'])
  await writeFile(join(root, 'docs/.gitignore'), 'one.md\n')
  expect(await start(['docs'])).toEqual(['docs/two.md'])
  await rm(join(root, 'docs/.gitignore'))
  expect(await start(['docs'])).toEqual(['docs/one.md', 'docs/two.md'])
})

it('refuses a file that is too large by its size, and goes on with the next', async () => {
  const file = await open(join(root, 'docs/a-large.txt'), 'w')
  await file.truncate(3 * 1024 ** 3)
  await file.close()
  expect(await start(['docs'])).toEqual(['docs/one.md', 'docs/two.md'])
})
