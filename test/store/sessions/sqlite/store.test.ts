import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { sqliteStore } from '../../../../src/store/sessions/sqlite/store.ts'
import { testReadBudget } from '../../../contract/session-store/budget.ts'
import { testSessionStore } from '../../../contract/session-store.ts'
import { emptyDatabase } from '../../../support/empty-database.ts'

const folders: string[] = []

async function newPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-store-'))
  folders.push(folder)
  return emptyDatabase('sessions', join(folder, 'sessions.db'))
}

testSessionStore('sqlite', async () => sqliteStore({ path: await newPath() }))
testReadBudget('sqlite', async (maxReadBytes) => sqliteStore({ path: await newPath(), maxReadBytes }))

afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))
