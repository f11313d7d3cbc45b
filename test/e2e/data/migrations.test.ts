import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sessionsDatabase } from '../../../src/store/sessions/sqlite/schema/database.ts'
import * as jobs from '../../../src/store/sessions/sqlite/schema/jobs.ts'
import { migrations } from '../../../src/store/sessions/sqlite/schema/migrations.ts'
import * as schema from '../../../src/store/sessions/sqlite/schema/schema.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { Connection } from '../../../src/store/sqlite/connection.ts'
import type { Migration } from '../../../src/store/sqlite/database.ts'
import { openDatabase } from '../../../src/store/sqlite/open-database.ts'

const source = new URL('../../../src/store/sessions/sqlite/schema/', import.meta.url).pathname
const tables = Object.values({ ...schema, ...jobs }) as SQLiteTable[]

const prepare = async (path: string, steps: readonly Migration[] = migrations) =>
  (await openDatabase(path, { ...sessionsDatabase, migrations: steps })).close()

describe('migrations', () => {
  let folder: string
  let path: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agentserve-migrations-'))
    path = join(folder, 'sessions.db')
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('are the files of the folder, word for word', async () => {
    const files = (await readdir(join(source, 'migrations'))).filter((name) => name.endsWith('.sql')).sort()
    const written = await Promise.all(
      files.map(async (name) => ({
        name: name.replace('.sql', ''),
        sql: await readFile(join(source, 'migrations', name), 'utf8'),
      })),
    )
    expect(migrations).toEqual(written)
  })

  it('leave nothing of the schema for drizzle-kit to add', async () => {
    await cp(join(source, 'migrations'), join(folder, 'migrations'), { recursive: true })
    const config = join(folder, 'drizzle.config.json')
    const sources = ['schema.ts', 'jobs.ts'].map((name) => join(source, name))
    await writeFile(config, JSON.stringify({ dialect: 'sqlite', schema: sources, out: 'migrations' }))
    const kit = new URL('../../../node_modules/drizzle-kit/bin.cjs', import.meta.url).pathname
    const { stdout } = await promisify(execFile)(process.execPath, [kit, 'generate', '--config', config], {
      cwd: folder,
      // It leaves a folder of its own where temporary files are.
      env: { ...process.env, TMPDIR: folder },
    })
    expect(stdout).toContain('No schema changes')
  })

  it('make the tables, columns and indexes of the schema', async () => {
    await prepare(path)
    const connection = await Connection.open({ path, readonly: true, busyTimeoutMs: 0 })
    const names = async (sql: string) => (await connection.all(sql)).map((row) => row.name).sort()
    expect(await names(`SELECT name FROM sqlite_schema WHERE type = 'table'`)).toEqual(
      tables.map((table) => getTableConfig(table).name).sort(),
    )
    for (const table of tables) {
      const { name, columns, indexes } = getTableConfig(table)
      expect(await names(`SELECT name FROM pragma_table_info('${name}')`)).toEqual(columns.map((c) => c.name).sort())
      const made = await names(`SELECT name FROM pragma_index_list('${name}') WHERE origin = 'c'`)
      for (const { config } of indexes) expect(made).toContain(config.name)
    }
    await connection.close()
  })

  it('name no column twice', () => {
    const names = tables.flatMap((table) => getTableConfig(table).columns.map((column) => column.name))
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted())
  })

  it('are not run twice', async () => {
    await prepare(path)
    const before = await readFile(path)
    await prepare(path)
    expect(await readFile(path)).toEqual(before)
  })

  it('undo a step that fails and keep the version before it', async () => {
    await prepare(path)
    const broken = [...migrations, { name: 'broken', sql: 'CREATE TABLE extra (x); INSERT INTO nowhere VALUES (1);' }]
    await expect(prepare(path, broken)).rejects.toThrow('nowhere')
    const connection = await Connection.open({ path, readonly: true, busyTimeoutMs: 0 })
    expect(await connection.all('PRAGMA user_version')).toEqual([{ user_version: migrations.length }])
    expect(await connection.all(`SELECT name FROM sqlite_schema WHERE name = 'extra'`)).toEqual([])
    await connection.close()
  })

  it('may be killed after any statement, and are made whole by the next start', { timeout: 60_000 }, async () => {
    const count = migrations.flatMap(({ sql }) => sql.split('--> statement-breakpoint')).length
    expect(count).toBeGreaterThan(20)
    for (let statements = 0; statements <= count; statements += 3) {
      const file = join(folder, `after-${statements}.db`)
      const child = fork(new URL('../../fixtures/half-migrate.ts', import.meta.url), [file, String(statements)])
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
      const store = sqliteStore({ path: file })
      await store.open()
      expect((await store.listSessions({}, { limit: 1 })).items).toEqual([])
      await store.close()
      const check = await Connection.open({ path: file, readonly: true, busyTimeoutMs: 0 })
      expect(await check.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
      expect(await check.all('PRAGMA user_version')).toEqual([{ user_version: migrations.length }])
      await check.close()
    }
  })

  it('let an earlier user of a session read up to the newest own turn, or nothing', async () => {
    await prepare(path, migrations.slice(0, 2))
    const before = await Connection.open({ path, readonly: false, busyTimeoutMs: 0 })
    await before.run(`INSERT INTO sessions (session_id, user_id, created_at, updated_at, revision, run_count)
      VALUES ('ses_1', 'cid', '', '', 1, 4)`)
    for (const [place, user] of ['ann', 'bob', 'dan'].entries()) {
      await before.run(`INSERT INTO session_owners VALUES ('ses_1', 'user', ?, ?, '')`, [user, place])
    }
    await before.run(`INSERT INTO session_owners VALUES ('ses_1', 'agent', 'ann', 3, '')`)
    const runs = [
      ['ann', null],
      ['bob', null],
      ['ann', null],
      ['ann', 'run_2'],
      ['cid', null],
    ] as const
    for (const [place, [user, parent]] of runs.entries()) {
      await before.run(
        `INSERT INTO runs (run_id, run_session_id, entity_id, status, run_user_id, parent_run_id, truncated, owner, fence,
          reserve_until, recorded_seq, begun, ended, input)
         VALUES (?, 'ses_1', 'a', 'completed', ?, ?, 0, '', 1, 1, 1, '{}', '{}', '[]')`,
        [`run_${place}`, user, parent],
      )
    }
    await before.close()
    const store = sqliteStore({ path })
    await store.open()
    expect(await store.listHandovers('ses_1')).toEqual({ ann: 'run_2', bob: 'run_1', dan: null })
    const reach = async (user: string) => (await store.findHandover('ses_1', user, 10))?.next?.run_id
    expect([await reach('ann'), await reach('bob'), await reach('dan')]).toEqual(['run_4', 'run_2', 'run_0'])
    await store.close()
  })

  it('drop the answers that earlier versions kept for any user', async () => {
    await prepare(path, migrations.slice(0, 1))
    const before = await Connection.open({ path, readonly: false, busyTimeoutMs: 0 })
    await before.run(`INSERT INTO runs (run_id, run_session_id, entity_id, status, truncated, owner, fence, reserve_until,
      recorded_seq, begun, input) VALUES ('run_1', 'ses_1', 'a', 'completed', 0, '', 1, 1, 1, '{}', '[]')`)
    await before.run(`INSERT INTO cached_answers VALUES ('key', 'run_1', '2100-01-01T00:00:00.000Z')`)
    await before.close()
    await prepare(path)
    const after = await Connection.open({ path, readonly: true, busyTimeoutMs: 0 })
    expect(await after.all('SELECT * FROM cached_answers')).toEqual([])
    expect(await after.all('SELECT run_id FROM runs')).toEqual([{ run_id: 'run_1' }])
    await after.close()
  })

  it('leave a file of a newer version untouched', async () => {
    await prepare(path, [...migrations, { name: 'newer', sql: 'CREATE TABLE newer (x)' }])
    const before = await readFile(path)
    await expect(sqliteStore({ path }).open()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('newer agentserve'),
    })
    expect(await readFile(path)).toEqual(before)
  })
})
