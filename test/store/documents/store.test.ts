import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DocumentStore } from '../../../src/core/knowledge/document-store.ts'
import { documentsDatabase } from '../../../src/store/documents/database.ts'
import { createDocumentStore } from '../../../src/store/documents/store.ts'
import { Connection } from '../../../src/store/sqlite/connection.ts'
import { testDocumentStore, wordQuery } from '../../contract/document-store.ts'

async function openNew(path: string): Promise<Connection> {
  await writeFile(path, '', { flag: 'a' })
  return Connection.open({ path, readonly: false, busyTimeoutMs: 0 })
}

async function writeVersion1(path: string): Promise<void> {
  const connection = await openNew(path)
  await connection.exec(`${documentsDatabase.migrations[0]?.sql} ${firstIndexTables} PRAGMA user_version = 1;
    INSERT INTO collection VALUES (1, 'c', 'lexical', 'm', 4, 1);
    INSERT INTO document VALUES (1, 'doc_1', 1, 1, 's', NULL, NULL, '{}', '{}', 'h', 1, 1000, 100, 'paragraph', 'x', 'x');
    INSERT INTO chunk VALUES (1, 'chk_1', 1, 1, 0, 'Anchor chain', '[]', 0, 12, 1, 1);
    INSERT INTO words_1 (rowid, body, headings) VALUES (1, 'anchor chain', '');
    INSERT INTO trigrams_1 (rowid, body) VALUES (1, ' anchor chain ');`)
  await connection.close()
}

const firstIndexTables = `
  CREATE VIRTUAL TABLE words_1 USING fts5(body, headings, content='', contentless_delete=1, tokenize="ascii tokenchars '_'");
  CREATE VIRTUAL TABLE trigrams_1 USING fts5(body, content='', contentless_delete=1, detail=none,
    tokenize='trigram case_sensitive 1');
  CREATE VIRTUAL TABLE words_vocabulary_1 USING fts5vocab(words_1, 'row');
  CREATE VIRTUAL TABLE trigrams_vocabulary_1 USING fts5vocab(trigrams_1, 'row');`

describe('documents in SQLite', () => {
  let folder: string
  const stores: DocumentStore[] = []
  testDocumentStore('in SQLite', (name) => createDocumentStore({ path: join(folder, name) }))
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'documents-'))
  })
  afterAll(async () => {
    for (const store of stores) await store.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('takes over a file of version 1 with its chunks and words', async () => {
    const path = join(folder, 'version-1.db')
    await writeVersion1(path)
    const store = createDocumentStore({ path })
    await store.open()
    stores.push(store)
    expect((await store.keyword(1, wordQuery('anchor'), {}, 10)).map((hit) => hit.chunk)).toEqual([1])
    expect(await store.similarWords(1, 'anchr', 3)).toEqual(['anchor'])
    expect((await store.current(1, [1]))[0]).not.toHaveProperty('page')
    expect(await store.chunksAround('chk_1', 5, 1_000)).toMatchObject([{ id: 'chk_1', documentId: 'doc_1' }])
    expect(await store.places(1, [1, 2])).toMatchObject([{ key: 1, chunk_id: 'chk_1', source: 's', line_end: 1 }])
  })

  it('looks a chunk up by its id without reading the others', async () => {
    const path = join(folder, 'by-id.db')
    const store = createDocumentStore({ path })
    await store.open()
    stores.push(store)
    const connection = await Connection.open({ path, readonly: true, busyTimeoutMs: 0 })
    const plan = await connection.all("EXPLAIN QUERY PLAN SELECT * FROM chunk WHERE chunk_id = 'chk_1'")
    await connection.close()
    expect(String(plan[0]?.detail)).toContain('USING INDEX chunk_by_id')
  })

  it('refuses a file of a newer version and leaves it as it is', async () => {
    const path = join(folder, 'newer.db')
    const connection = await openNew(path)
    await connection.exec('PRAGMA user_version = 99')
    await connection.close()
    await expect(createDocumentStore({ path }).open()).rejects.toThrow(/newer agentserve/)
    const again = await openNew(path)
    expect(await again.all('SELECT name FROM sqlite_schema')).toEqual([])
    await again.close()
  })
})
