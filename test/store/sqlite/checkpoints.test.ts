import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { Checkpoints } from '../../../src/store/sqlite/checkpoints.ts'
import type { Connection } from '../../../src/store/sqlite/connection.ts'
import { startOf } from '../../contract/session-store/builders.ts'

/** Commits until a checkpoint has begun and failed with this code; gives what was called broken. */
async function failWith(code: string): Promise<unknown[]> {
  const broken: unknown[] = []
  const error = Object.assign(new Error(code), { code })
  const connection = { all: () => Promise.reject(error) } as unknown as Connection
  const onBroken = (failure: unknown) => broken.push(failure)
  const checkpoints = new Checkpoints({ connection, logger: silentLogger, onBroken, nudge: () => {} })
  for (let commit = 0; commit < 200; commit++) await checkpoints.afterCommit(10, 1_000)
  await checkpoints.close()
  return broken.map((failure) => (failure as { code: string }).code)
}

it('a checkpoint that the disk fails says that the file is broken', async () => {
  expect(await failWith('SQLITE_IOERR')).toEqual(['SQLITE_IOERR'])
})

it('a checkpoint that finds the file busy or the disk full may come later', async () => {
  expect(await failWith('SQLITE_BUSY')).toEqual([])
  expect(await failWith('SQLITE_FULL')).toEqual([])
})

it('the log is begun anew in place while writes go on, and does not grow with them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-checkpoints-'))
  const path = join(folder, 'sessions.db')
  const store = sqliteStore({ path })
  await store.open()
  const text = 'x'.repeat(20_000)
  for (let group = 0; group < 60; group++) {
    await Promise.all(Array.from({ length: 50 }, () => store.startRun(startOf({ text }))))
  }
  expect((await stat(path)).size).toBeGreaterThan(40_000_000)
  expect((await stat(`${path}-wal`)).size).toBeLessThan(24_000_000)
  await store.close()
  await rm(folder, { recursive: true, force: true })
})
