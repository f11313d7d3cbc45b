import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../../../src/core/logger.ts'
import type { SessionStore } from '../../../../../src/core/store.ts'
import { searchWordsOf } from '../../../../../src/core/text/message-search.ts'
import { Search } from '../../../../../src/store/sessions/sqlite/search/search.ts'
import { sqliteStore } from '../../../../../src/store/sessions/sqlite/store.ts'
import { Connection } from '../../../../../src/store/sqlite/connection.ts'
import { at, endOf, messageOf, started } from '../../../../contract/session-store/builders.ts'

describe('the search index', () => {
  let folder: string
  let store: SessionStore

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agentserve-search-'))
    store = sqliteStore({ path: path() })
    await store.open()
  })
  afterEach(async () => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })

  const path = () => join(folder, 'agentserve.db')
  const indexPath = () => join(folder, 'agentserve-search.db')

  async function turn(session_id: string, text: string): Promise<void> {
    const { runId } = await started(store, { run: { session_id }, text })
    await store.finishRun(endOf(runId, { messages: [messageOf(runId, 'assistant', 'noted')] }))
  }

  async function found(query: string): Promise<string[]> {
    const { items } = await store.searchMessages({ words: searchWordsOf(query) }, { limit: 100 })
    return items.map((hit) => hit.session_id)
  }

  /** With the store closed, so that nobody else has it. */
  async function insideIndex<T>(look: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await Connection.open({ path: indexPath(), readonly: false, busyTimeoutMs: 0 })
    try {
      return await look(connection)
    } finally {
      await connection.close()
    }
  }
  const indexedRuns = () =>
    insideIndex(async (connection) => (await connection.all('SELECT id FROM words_docsize')).length)

  async function reopened(between: () => Promise<unknown> = async () => {}): Promise<void> {
    await store.close()
    await between()
    store = sqliteStore({ path: path() })
    await store.open()
  }

  it('is made by the first search, not by a run', async () => {
    await turn('one', 'alpha')
    expect((await readdir(folder)).filter((name) => name.includes('search'))).toEqual([])
    expect(await found('alpha')).toEqual(['one'])
    expect(await readdir(folder)).toContain('agentserve-search.db')
  })

  it('tells how far it is while a search waits too long for it', async () => {
    await Promise.all(Array.from({ length: 600 }, (_, place) => turn(`of-${place}`, 'alpha')))
    const held = Promise.withResolvers<void>()
    const openSource = async () => {
      const source = await Connection.open({ path: path(), readonly: true, busyTimeoutMs: 0 })
      const all = source.all.bind(source)
      source.all = async (sql, params) => {
        if (sql.includes('run_number > ?') && params?.[0] === 500) await held.promise
        return all(sql, params)
      }
      return source
    }
    const slow = new Search({ path: join(folder, 'slow.db'), openSource, logger: silentLogger, updateMs: 20 })
    const find = () =>
      slow.find({ words: searchWordsOf('alpha') }, { limit: 1 }).then(
        ({ items }) => items.length,
        (error: Error) => error.message,
      )
    await expect.poll(find).toMatch(/^The search index is being built: 83 % of the runs are read\./)
    held.resolve()
    await expect.poll(find).toBe(1)
    await slow.close()
  })

  it('goes on over a restart, and begins anew when it is gone, damaged or of another version', async () => {
    await turn('one', 'alpha')
    expect(await found('alpha')).toEqual(['one'])
    await reopened()
    await turn('two', 'alpha beta')
    expect(await found('alpha')).toEqual(['two', 'one'])
    await reopened(() => rm(indexPath()))
    expect(await found('alpha')).toEqual(['two', 'one'])
    await reopened(() => writeFile(indexPath(), 'this is no database, whatever its name says'.repeat(100)))
    expect(await found('alpha')).toEqual(['two', 'one'])
    await reopened(() => insideIndex((connection) => connection.exec('PRAGMA user_version = 99')))
    expect(await found('alpha')).toEqual(['two', 'one'])
  })

  it('is made anew when it turns out damaged while it is used', async () => {
    await turn('one', 'alpha')
    expect(await found('alpha')).toEqual(['one'])
    await reopened(() =>
      insideIndex((connection) => connection.exec(`UPDATE words_data SET block = x'0102030405060708' WHERE id > 10`)),
    )
    expect(await found('alpha')).toEqual(['one'])
    expect(await found('alpha')).toEqual(['one'])
  })

  it('takes numbers that were given again for what they are now', async () => {
    for (const name of ['a', 'b', 'c']) await turn(name, `old ${name}`)
    expect(await found('old')).toEqual(['c', 'b', 'a'])
    await store.deleteSession('c')
    await store.deleteSession('b')
    for (const name of ['d', 'e', 'f']) await turn(name, `new ${name}`)
    expect(await found('old')).toEqual(['a'])
    expect(await found('new')).toEqual(['f', 'e', 'd'])
  })

  it('follows a database that was exchanged for another', async () => {
    await reopened(() => copyFile(path(), join(folder, 'backup.db')))
    for (const name of ['a', 'b']) await turn(name, 'first life')
    expect(await found('life')).toEqual(['b', 'a'])
    await reopened(async () => {
      await copyFile(join(folder, 'backup.db'), path())
      for (const ending of ['-wal', '-shm']) await rm(`${path()}${ending}`, { force: true })
    })
    expect(await found('life')).toEqual([])
    await turn('c', 'second life')
    expect(await found('life')).toEqual(['c'])
  })

  it('keeps nothing of what was deleted', async () => {
    for (const name of ['a', 'b', 'c']) await turn(name, 'word')
    expect(await found('word')).toHaveLength(3)
    await store.deleteSession('b')
    await store.prune({ maxSessions: 1 }, 10)
    await store.close()
    expect(await indexedRuns()).toBe(1)
    await store.open()
    expect(await found('word')).toEqual(['c'])
  })

  it('drops what a process that was killed had deleted', async () => {
    for (const name of ['a', 'b', 'c']) await turn(name, 'word')
    expect(await found('word')).toHaveLength(3)
    const away = join(folder, 'away.db')
    await reopened(() => copyFile(indexPath(), away))
    await store.deleteSession('a')
    await reopened(async () => {
      await copyFile(away, indexPath())
      await insideIndex((connection) => connection.exec('UPDATE closings SET clean = 0'))
    })
    expect(await found('word')).toEqual(['c', 'b'])
    await store.close()
    expect(await indexedRuns()).toBe(2)
    await store.open()
  })

  it('answers many at once while runs come in', async () => {
    const searches = Array.from({ length: 20 }, async (_, n) => {
      await turn(`s${n}`, 'busy')
      return (await found('busy')).includes(`s${n}`)
    })
    expect(await Promise.all(searches)).toEqual(searches.map(() => true))
    expect(await found('busy')).toHaveLength(20)
  })

  it('shows a page that a filter leaves empty, with what is behind it', async () => {
    for (let n = 0; n < 120; n++)
      await started(store, { run: { session_id: `s${n}`, created_at: at(n) }, text: 'word' })
    await store.shareSession('s3', { user_id: 'ann' }, at(500))
    const search = { words: searchWordsOf('word'), user_id: 'ann' }
    const { items, next } = await store.searchMessages(search, { limit: 5 })
    expect(items.map((hit) => hit.session_id)).toEqual(['s3'])
    expect(next).toBeNull()
  })
})
