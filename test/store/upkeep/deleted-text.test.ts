import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { searchWordsOf } from '../../../src/core/text/message-search.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { Connection } from '../../../src/store/sqlite/connection.ts'
import { endOf, startOf } from '../../contract/session-store/builders.ts'
import { filesWith } from '../../support/bytes.ts'
import { knowledgeFolder } from '../../support/knowledge/folder.ts'

const patient = { timeout: 30_000, interval: 25 }

describe('the session database', () => {
  let folder: string
  let path: string
  let store: SessionStore
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agentserve-deleted-'))
    path = join(folder, 'sessions.db')
    store = sqliteStore({ path })
    await store.open()
  })
  afterEach(async () => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function say(text: string): Promise<string> {
    const start = startOf({ text })
    await store.startRun(start)
    await store.finishRun(endOf(start.run.run_id))
    return start.run.session_id
  }

  it('keeps no byte of a deleted session, in the file, its log or the search index', async () => {
    await say('what stays')
    const sessionId = await say(`zanzibarquokka ${'x'.repeat(20_000)}`)
    const found = await store.searchMessages({ words: searchWordsOf('zanzibarquokka') }, { limit: 10 })
    expect(found.items).toHaveLength(1)
    expect(await filesWith(folder, 'zanzibarquokka')).not.toEqual([])
    await store.deleteSession(sessionId)
    await expect.poll(() => filesWith(folder, 'zanzibarquokka'), patient).toEqual([])
  })

  it('becomes shorter after a large delete, while nobody writes', async () => {
    const ids = await Promise.all(Array.from({ length: 60 }, () => say('y'.repeat(100_000))))
    for (const id of ids) await store.deleteSession(id)
    const size = async () => (await stat(path)).size
    await expect.poll(size, patient).toBeLessThan(2_000_000)
  })

  it('lets no run wait for a reader that stays, and empties its log when the reader has gone', async () => {
    const reader = await Connection.open({ path, readonly: true, busyTimeoutMs: 0 })
    await reader.exec('BEGIN; SELECT count(*) FROM sessions')
    let slowest = 0
    for (let run = 0; run < 100; run++) {
      const begunMs = performance.now()
      await say('z'.repeat(1_000_000))
      slowest = Math.max(slowest, performance.now() - begunMs)
    }
    await store.deleteSession(await say('gone'))
    await reader.exec('COMMIT')
    await reader.close()
    const size = async () => (await stat(`${path}-wal`)).size
    await expect.poll(size, patient).toBe(0)
    expect(slowest).toBeLessThan(2_500)
  }, 60_000)
})

it('the knowledge file keeps no byte of a deleted document, and finds misspelt words that come again', async () => {
  const place = await knowledgeFolder()
  const knowledge = await place.open()
  const add = (source: string, content: string) => knowledge.ingest({ source, content })
  await add('kept.md', 'Wombats dig burrows in the evening.')
  const { document_id } = await add('gone.md', 'A zanzibarquokka ate the umbrella.')
  expect(await filesWith(place.folder, 'zanzibarquokka')).not.toEqual([])
  await knowledge.deleteDocument(document_id)
  await expect.poll(() => filesWith(place.folder, 'anzibarquokk'), patient).toEqual([])
  await add('again.md', 'Another zanzibarquokka lost its umbrella.')
  const { results } = await knowledge.search({ query: 'zanzibarquoka', limit: 5, mode: 'keyword' })
  expect(results.map(({ source }) => source)).toEqual(['again.md'])
  await place.remove()
}, 60_000)
