import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { sqliteStore } from '../../../../src/store/sessions/sqlite/store.ts'
import { Connection } from '../../../../src/store/sqlite/connection.ts'
import { startOf } from '../../../contract/session-store/builders.ts'

afterEach(() => vi.restoreAllMocks())

it('the check fails after a write found the disk full, until a write succeeds, which it tries', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-full-'))
  const store = sqliteStore({ path: join(folder, 'sessions.db') })
  await store.open()
  await store.check()
  const run = Connection.prototype.run
  const full = vi.spyOn(Connection.prototype, 'run').mockImplementation(function (this: Connection, sql, params) {
    const writes = /^(INSERT|COMMIT)/.test(sql.trim())
    return writes
      ? Promise.reject(Object.assign(new Error('full'), { code: 'SQLITE_FULL' }))
      : run.call(this, sql, params)
  })
  await expect(store.startRun(startOf({}))).rejects.toMatchObject({ code: 'storage_full' })
  for (let times = 0; times < 2; times++) await expect(store.check()).rejects.toMatchObject({ code: 'storage_full' })
  full.mockRestore()
  await store.check()
  await store.startRun(startOf({}))
  await store.close()
  await rm(folder, { recursive: true })
})
