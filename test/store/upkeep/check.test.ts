import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Connection } from '../../../src/store/sqlite/connection.ts'
import { checkFile } from '../../../src/store/upkeep/check.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-check-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('the size of a database has what is in its log alone', async () => {
  const path = join(folder, 'knowledge.db')
  await writeFile(path, '')
  const writer = await Connection.open({ path, readonly: false, busyTimeoutMs: 1_000 })
  await writer.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (content)')
  await writer.run('INSERT INTO t VALUES (zeroblob(100000))')
  expect((await stat(path)).size).toBeLessThan(10_000)
  const { state, bytes } = await checkFile({ kind: 'knowledge', path }, false)
  expect(state).toBe('ok')
  expect(bytes).toBeGreaterThan(100_000)
  await writer.close()
})
