import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { sqliteStore } from '../../src/store/sqlite.ts'
import { testSessionStore } from '../contract/session-store.ts'

const folders: string[] = []

testSessionStore('sqlite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-store-'))
  folders.push(folder)
  return sqliteStore({ path: join(folder, 'sessions.db') })
})

afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))
