import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sessionsDatabase } from '../../../src/store/sessions/sqlite/schema/database.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { Connection } from '../../../src/store/sqlite/connection.ts'
import { openConnection, openDatabase } from '../../../src/store/sqlite/open-database.ts'
import { at, endOf, messageOf, seedOf, started, startOf } from '../../contract/session-store/builders.ts'

describe('the SQLite file', () => {
  let folder: string
  let path: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agentserve-durable-'))
    path = join(folder, 'data', 'sessions.db')
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('keeps everything over a restart', async () => {
    const first = sqliteStore({ path })
    await first.open()
    const { runId, sessionId } = await started(first, { session: seedOf({ agent_id: 'a', state: { n: 1 } }) })
    await first.finishRun(endOf(runId, { messages: [messageOf(runId, 'assistant', 'there')] }))
    const before = [await first.findSession(sessionId), await first.findRun(runId), await first.readEvents(runId, 0, 9)]
    await first.close()
    const second = sqliteStore({ path })
    await second.open()
    expect([
      await second.findSession(sessionId),
      await second.findRun(runId),
      await second.readEvents(runId, 0, 9),
    ]).toEqual(before)
    const next = startOf({ session: seedOf({ session_id: sessionId }), state: { m: 2 } })
    expect(await second.startRun(next)).toEqual({ outcome: 'started', fence: 1, created_session: false })
    expect((await second.findSession(sessionId))?.session.state).toEqual({ n: 1, m: 2 })
    await second.close()
  })

  it('is readable by its owner alone', async () => {
    const store = sqliteStore({ path })
    await store.open()
    expect((await stat(join(folder, 'data'))).mode & 0o777).toBe(0o700)
    for (const file of [path, `${path}-wal`, `${path}-shm`]) expect((await stat(file)).mode & 0o077).toBe(0)
    await store.close()
  })

  it.each(['FULL', 'NORMAL'] as const)(
    'is written with synchronous = %s and the pragmas that were asked for',
    async (mode) => {
      const writer = await openDatabase(path, sessionsDatabase, mode)
      const pragma = async (name: string) => Object.values((await writer.all(`PRAGMA ${name}`))[0] ?? {})[0]
      expect(await pragma('synchronous')).toBe(mode === 'FULL' ? 2 : 1)
      expect(await pragma('journal_mode')).toBe('wal')
      expect(await pragma('foreign_keys')).toBe(1)
      expect(await pragma('busy_timeout')).toBe(5000)
      await writer.close()
    },
  )

  it('gives readers connections that can not write', async () => {
    const writer = await openDatabase(path, sessionsDatabase)
    const reader = await openConnection(path, sessionsDatabase, 'FULL', true)
    await expect(reader.run('DELETE FROM sessions')).rejects.toMatchObject({ code: 'SQLITE_READONLY' })
    await reader.close()
    await writer.close()
  })

  it('loses nothing that was acknowledged before a kill', { timeout: 60_000 }, async () => {
    const acknowledged = { started: new Set<string>(), appended: new Set<string>(), ended: new Set<string>() }
    for (let kill = 0; kill < 3; kill++) {
      const child = fork(new URL('../../fixtures/write-runs.ts', import.meta.url), [path])
      const exited = once(child, 'exit')
      let ends = 0
      child.on('message', (message: Partial<Record<keyof typeof acknowledged, string>>) => {
        for (const [kind, runId] of Object.entries(message)) acknowledged[kind as 'started'].add(runId)
        if (message.ended !== undefined && ++ends === 100 + 37 * kill) child.kill('SIGKILL')
      })
      await exited
      expect(ends).toBeGreaterThanOrEqual(100)
    }
    const store = sqliteStore({ path })
    await store.open()
    const { interrupted } = await store.recover('after', at(99))
    for (const runId of acknowledged.ended) {
      const run = await store.findRun(runId)
      expect(run?.status).toBe('completed')
      expect(run?.messages.map((message) => message.content)).toEqual(['hi', 'whole'])
    }
    for (const runId of acknowledged.started) expect(await store.findRun(runId)).toBeDefined()
    for (const { run_id } of interrupted.filter((run) => acknowledged.appended.has(run.run_id))) {
      const run = await store.findRun(run_id)
      expect(run?.messages.map((message) => message.content)).toEqual(['hi', 'half'])
    }
    expect((await store.listRuns({ status: 'running' }, { limit: 1 })).items).toEqual([])
    await store.close()
    const check = await Connection.open({ path, readonly: false, busyTimeoutMs: 0 })
    expect(await check.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
    expect(await check.all('PRAGMA foreign_key_check')).toEqual([])
    await check.close()
  })
})
