import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sessionsDatabase } from '../../../../src/store/sessions/sqlite/schema/database.ts'
import { migrations } from '../../../../src/store/sessions/sqlite/schema/migrations.ts'
import { sqliteStore } from '../../../../src/store/sessions/sqlite/store.ts'
import { openDatabase } from '../../../../src/store/sqlite/open-database.ts'
import { started } from '../../../contract/session-store/builders.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-older-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const fixtures = join(import.meta.dirname, '../../../fixtures/data-folders')

test.each(await readdir(fixtures))('gives the sessions of data folder %s a title, and no zeros', async (name) => {
  await cp(join(fixtures, name), folder, { recursive: true })
  const store = sqliteStore({ path: join(folder, 'agentserve.db') })
  await store.open()
  try {
    const { items } = await store.listOverviews({}, { limit: 10 })
    expect(items.find(({ session_id }) => session_id === 'kept')).toMatchObject({
      title: 'remember the heron',
      usage: null,
      usage_by_model: [],
    })
    expect(await store.countSessions({})).toBe(items.length)
  } finally {
    await store.close()
  }
})

test.each(await readdir(fixtures))('keeps push configs of data folder %s, and takes new ones', async (name) => {
  await cp(join(fixtures, name), folder, { recursive: true })
  const store = sqliteStore({ path: join(folder, 'agentserve.db') })
  await store.open()
  try {
    const { items } = await store.listRuns({ session_id: 'kept' }, { limit: 10 })
    const run_id = (items.find(({ status }) => status === 'input_required') ?? items[0])?.run_id ?? ''
    const kept = {
      run_id,
      config_id: 'kept',
      url: 'http://127.0.0.1:9/hook',
      token: 'the egret',
      authentication: { scheme: 'Bearer', credentials: 'the crane' },
      version: '1.0' as const,
      created_at: expect.any(String),
    }
    expect(await store.listPushConfigs(run_id)).toEqual(Number(name) < 7 ? [] : [kept])
    const left = await store.adoptPushConfigs('own_now', 9)
    expect(left.map(({ config_id }) => config_id)).toEqual(Number(name) < 7 ? [] : ['kept'])
    const made = { ...kept, config_id: 'made', created_at: '2026-01-01T00:00:00.000Z' }
    expect(await store.savePushConfig(made, 'own_now', 5)).toMatchObject(made)
  } finally {
    await store.close()
  }
})

test.each(await readdir(fixtures))('keeps the facts of data folder %s, and takes new ones', async (name) => {
  await cp(join(fixtures, name), folder, { recursive: true })
  const store = sqliteStore({ path: join(folder, 'agentserve.db') })
  await store.open()
  try {
    const kept = (await store.listFacts('ann')).map(({ content }) => content)
    expect(kept).toEqual(Number(name) < 8 ? [] : ['feeds the heron'])
    const { runId } = await started(store)
    const fact = { fact_id: 'fact_new', content: 'new', agent_id: 'echo', run_id: runId, created_at: '2030' }
    expect(await store.saveFact('ann', fact, 9)).toBe('saved')
    expect(await store.listFacts('ann')).toHaveLength(kept.length + 1)
  } finally {
    await store.close()
  }
})

test('sums what an earlier version recorded, of turns alone and without a model', async () => {
  const path = join(folder, 'agentserve.db')
  const earlier = migrations.slice(
    0,
    migrations.findIndex(({ name }) => name === '0005_record'),
  )
  const database = await openDatabase(path, { ...sessionsDatabase, migrations: earlier }, 'FULL')
  const insert = (number: number, parent: string | null, ended: object | null) =>
    database.run(
      `INSERT INTO runs (run_number, run_id, run_session_id, entity_id, status, parent_run_id, truncated, owner, fence,
         reserve_until, recorded_seq, begun, ended, input) VALUES (?, ?, 's', 'echo', ?, ?, 0, '', 1, 9, 1, ?, ?, '[]')`,
      [
        number,
        `run_${number}`,
        ended === null ? 'queued' : 'completed',
        parent,
        JSON.stringify({ entity_kind: 'agent', created_at: '2026-01-01T00:00:00.000Z' }),
        ended && JSON.stringify({ completed_at: '2026-01-01T00:00:00.000Z', end_seq: 2, ...ended }),
      ],
    )
  await database.run(
    `INSERT INTO sessions (session_id, created_at, updated_at, revision, run_count) VALUES ('s', '2026', '2026', 1, 4)`,
    [],
  )
  const usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7 }
  await insert(1, null, { usage })
  await insert(2, null, {})
  await insert(3, null, { usage })
  await insert(4, 'run_3', { usage })
  await insert(5, null, null)
  await database.close()
  const store = sqliteStore({ path })
  await store.open()
  try {
    const sum = { input_tokens: 10, output_tokens: 4, total_tokens: 14 }
    expect(await store.findOverview('s')).toMatchObject({ usage: sum, usage_by_model: [{ model: null, ...sum }] })
    expect((await store.findOverview('s'))?.usage).toEqual(sum)
  } finally {
    await store.close()
  }
})
