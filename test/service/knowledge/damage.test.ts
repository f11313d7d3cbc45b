import { readdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { OpenableKnowledge } from '../../../src/service/knowledge/knowledge.ts'
import { Connection } from '../../../src/store/sqlite/connection.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'

let place: KnowledgeFolder
beforeEach(async () => {
  place = await knowledgeFolder()
})
afterEach(() => place.remove())

const hourMs = 3_600_000
const document = (name: string) => ({ source: `${name}.md`, content: `The lamp of ${name} burns paraffin.` })

async function filled(): Promise<void> {
  const knowledge = await place.open()
  await knowledge.ingestMany(['one', 'two', 'three'].map(document))
  await knowledge.close()
}

/** Cuts every file of the vectors in half and puts other bytes at its end. */
async function damageVectors(): Promise<void> {
  const folder = join(place.folder, 'knowledge', 'vectors')
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    await truncate(file, 20)
    await writeFile(file, 'damaged', { flag: 'a' })
  }
}

async function complete(knowledge: OpenableKnowledge): Promise<void> {
  const state = () =>
    knowledge.status().then(
      ({ vectors, chunks }) => vectors === chunks,
      () => false,
    )
  await expect.poll(state, { timeout: 20_000 }).toBe(true)
}

it('makes damaged vectors again, at most once an hour, and serves keyword search meanwhile', async () => {
  await filled()
  await damageVectors()
  let now = Date.now()
  let knowledge = await place.open({ clock: () => now })
  const found = async () => (await knowledge.search({ query: 'lamp of two' })).results[0]?.source
  expect(await found()).toBe('two.md')
  await complete(knowledge)
  await knowledge.check()
  expect((await knowledge.search({ query: 'lamp of two', mode: 'vector' })).results[0]?.source).toBe('two.md')
  await knowledge.close()

  await damageVectors()
  now += hourMs - 1
  await knowledge.open()
  expect(await found()).toBe('two.md')
  const failed = expect.objectContaining({ code: 'unavailable', message: expect.stringContaining(place.folder) })
  await expect(knowledge.check()).rejects.toEqual(failed)
  await expect(knowledge.search({ query: 'lamp', mode: 'vector' })).rejects.toThrow('agentserve knowledge reindex')
  now += 1
  expect(await found()).toBe('two.md')
  await complete(knowledge)
  await knowledge.check()
  await knowledge.close()
  knowledge = await place.open()
  await complete(knowledge)
})

it('mends damaged vectors by reindex', async () => {
  await filled()
  await damageVectors()
  const knowledge = await place.open()
  expect(await knowledge.reindex()).toMatchObject({ chunks: 3, vectors: 3, pending: 0 })
  await knowledge.check()
})

it('names the file of a damaged knowledge base and the way out', async () => {
  await filled()
  const file = join(place.folder, 'knowledge', 'knowledge.db')
  await writeFile(file, Buffer.alloc(20_000, 'x'))
  await expect(place.open()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(new RegExp(`${file} is damaged.*ingest the documents again`)),
  })
})

it('is not ready after a write that failed, until one succeeds', { timeout: 60_000 }, async () => {
  await filled()
  const opening = vi.spyOn(Connection, 'open')
  const knowledge = await place.open()
  const connections = opening.mock.settledResults.flatMap(({ type, value }) => (type === 'fulfilled' ? [value] : []))
  opening.mockRestore()
  await knowledge.check()
  const other = await Connection.open({
    path: join(place.folder, 'knowledge', 'knowledge.db'),
    readonly: false,
    busyTimeoutMs: 0,
  })
  // Each write waits for five seconds otherwise.
  await Promise.all(connections.map((connection) => connection.exec('PRAGMA busy_timeout = 50').catch(() => {})))
  await other.exec('BEGIN IMMEDIATE')
  await expect(knowledge.ingest(document('four'))).rejects.toThrow()
  await expect(knowledge.check()).rejects.toThrow()
  await other.exec('ROLLBACK')
  await knowledge.check()
  await other.close()
})
