import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AppError } from '../../../../../src/core/error.ts'
import { sessionsDatabase } from '../../../../../src/store/sessions/sqlite/schema/database.ts'
import { createHotWrites, insertBatch } from '../../../../../src/store/sessions/sqlite/writing/batch-insert.ts'
import { KnownRows } from '../../../../../src/store/sessions/sqlite/writing/known-rows.ts'
import { Writer } from '../../../../../src/store/sessions/sqlite/writing/writer.ts'
import type { Connection } from '../../../../../src/store/sqlite/connection.ts'
import { openDatabase } from '../../../../../src/store/sqlite/open-database.ts'
import { claimOf, endOf, messageOf, seedOf, startOf, textEvents } from '../../../../contract/session-store/builders.ts'

describe('the writer', () => {
  let folder: string
  let connection: Connection
  let writer: Writer
  let statements: string[]
  let fatal: AppError[]
  /** Throws in place of a statement, as a disk would. */
  let failure: ((sql: string) => Error | undefined) | undefined

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agentserve-writer-'))
    const path = join(folder, 'sessions.db')
    connection = await openDatabase(path, sessionsDatabase)
    await connection.exec(createHotWrites)
    statements = []
    fatal = []
    failure = undefined
    const run = connection.run.bind(connection)
    connection.run = async (sql, params) => {
      statements.push(sql)
      const error = failure?.(sql)
      if (error !== undefined) throw error
      return run(sql, params)
    }
    writer = new Writer({
      path,
      connection,
      known: new KnownRows(),
      now: () => '2030-01-01T00:00:00.000Z',
      onFatal: (error) => fatal.push(error),
      afterCommit: () => undefined,
    })
  })
  afterEach(async () => {
    await writer.idle()
    await connection.close()
    await rm(folder, { recursive: true, force: true })
  })

  const diskError = (code: string) => Object.assign(new Error(code), { code })
  const count = async (table: string) => (await connection.all(`SELECT count(*) AS n FROM ${table}`))[0]?.n

  it('writes all that waits with one statement, starts with their own ends too', async () => {
    const starts = Array.from({ length: 50 }, (_, index) => startOf({ claim: claimOf(`k${index}`) }))
    const results = await Promise.all(
      starts.flatMap((start) => [
        writer.write({ kind: 'start', start }),
        writer.write({ kind: 'finish', end: endOf(start.run.run_id) }),
      ]),
    )
    expect(statements).toEqual([insertBatch])
    expect(results.filter((result) => result === 'ok')).toHaveLength(50)
    expect(await count('runs')).toBe(50)
  })

  it('continues known sessions with one statement', async () => {
    const first = startOf({})
    await writer.write({ kind: 'start', start: first })
    await writer.write({ kind: 'finish', end: endOf(first.run.run_id) })
    const next = startOf({ session: seedOf({ session_id: first.run.session_id }) })
    statements.length = 0
    expect(await writer.write({ kind: 'start', start: next })).toMatchObject({ created_session: false })
    expect(statements).toEqual([insertBatch])
  })

  it('makes a statement of its own for each large text, apart from what is small', async () => {
    const small = Array.from({ length: 3 }, () => startOf({}))
    const large = startOf({ text: 'x'.repeat(1024 * 1024) })
    const { run_id: runId } = large.run
    const message = messageOf(runId, 'assistant', large.message.content)
    const events = textEvents(runId, 2, [large.message.content])
    const results = await Promise.all([
      ...[...small, large].map((start) => writer.write({ kind: 'start', start })),
      writer.write({ kind: 'finish', end: endOf(runId, { messages: [message], events, end_seq: 3 }) }),
      ...small.map((start) => writer.write({ kind: 'finish', end: endOf(start.run.run_id) })),
    ])
    expect(results.slice(4)).toEqual(['ok', 'ok', 'ok', 'ok'])
    // The small starts, the large one, its events, its end, and the small ends.
    expect(statements.filter((sql) => sql === insertBatch)).toHaveLength(5)
    expect(statements.filter((sql) => sql === 'COMMIT')).toHaveLength(2)
    const metadata = { numbers: Array.from({ length: 150_000 }, (_, index) => index) }
    const numbers = startOf({ run: { metadata }, state: metadata })
    await writer.write({ kind: 'start', start: numbers })
    expect(statements.filter((sql) => sql === 'COMMIT')).toHaveLength(3)
  })

  it('gives each its own outcome when one of a group breaks a rule, and loses none of the others', async () => {
    const busy = startOf({})
    const claimed = startOf({ claim: claimOf('k') })
    await writer.write({ kind: 'start', start: busy })
    await writer.write({ kind: 'start', start: claimed })
    const good = Array.from({ length: 40 }, () => startOf({}))
    const bad = [
      startOf({ run: { session_id: busy.run.session_id }, session: null }),
      startOf({ claim: claimOf('k') }),
      startOf({ run: { session_id: 'none' }, session: null }),
    ]
    const all = [...good.slice(0, 20), ...bad, ...good.slice(20)]
    const results = await Promise.all([
      ...all.map((start) => writer.write({ kind: 'start', start })),
      writer.write({ kind: 'finish', end: endOf('nowhere') }),
      writer.write({ kind: 'finish', end: endOf(claimed.run.run_id, { fence: 7 }) }),
    ])
    const outcomes = results.map((result) => (typeof result === 'object' ? result.outcome : result))
    expect(outcomes.slice(20, 23)).toEqual(['busy', 'claimed', 'session_missing'])
    expect(outcomes.filter((outcome) => outcome === 'started')).toHaveLength(40)
    expect(outcomes.slice(-2)).toEqual(['missing', 'fenced'])
    expect(await count('runs')).toBe(42)
    // Halving finds five among 45 without a look at each of the others.
    expect(statements.filter((sql) => sql === 'SAVEPOINT one').length).toBeLessThan(15)
  })

  it('refuses what can not be written as JSON, and that alone', async () => {
    const good = startOf({})
    const bad = startOf({ run: { metadata: { count: 1n } as never } })
    const results = await Promise.allSettled([
      writer.write({ kind: 'start', start: good }),
      writer.write({ kind: 'start', start: bad }),
    ])
    expect(results).toMatchObject([{ value: { outcome: 'started' } }, { reason: { code: 'internal' } }])
    expect(await count('runs')).toBe(1)
  })

  it('acknowledges nothing any more when it is stopped', async () => {
    const waiting = writer.write({ kind: 'start', start: startOf({}) })
    writer.stop(diskError('SQLITE_IOERR'))
    writer.stop(diskError('SQLITE_CORRUPT'))
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' })
    await expect(writer.work(async () => 1)).rejects.toMatchObject({ code: 'unavailable' })
    expect(fatal).toHaveLength(1)
  })

  it('undoes the work of one that fails and keeps what shared its transaction', async () => {
    const start = startOf({})
    const results = await Promise.allSettled([
      writer.write({ kind: 'start', start }),
      writer.work(async (inside) => {
        await inside.run('DELETE FROM runs')
        throw new Error('no')
      }),
      writer.work(async (inside) => inside.all('SELECT run_id FROM runs')),
    ])
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(results[2]).toMatchObject({ value: [{ run_id: start.run.run_id }] })
  })

  it('rejects with storage_full while the disk is full, reads on, and writes when there is room', async () => {
    await writer.write({ kind: 'start', start: startOf({}) })
    const [pages] = await connection.all('PRAGMA page_count')
    await connection.all(`PRAGMA max_page_count = ${Number(pages?.page_count) + 2}`)
    const big = () => writer.write({ kind: 'start', start: startOf({ text: 'x'.repeat(100_000) }) })
    const results = await Promise.allSettled([
      big(),
      big(),
      writer.work(async (inside) => inside.run('DELETE FROM claims')),
    ])
    for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: { code: 'storage_full' } })
    await expect(big()).rejects.toMatchObject({ code: 'storage_full' })
    expect(await count('runs')).toBe(1)
    await connection.all('PRAGMA max_page_count = 1000000')
    await expect(big()).resolves.toMatchObject({ outcome: 'started' })
    expect(await count('runs')).toBe(2)
    expect(fatal).toEqual([])
  })

  it.each(['SQLITE_IOERR', 'SQLITE_CORRUPT'])('acknowledges nothing any more after %s', async (code) => {
    failure = () => diskError(code)
    const unavailable = { code: 'unavailable' }
    const first = writer.write({ kind: 'start', start: startOf({}) })
    await expect(first).rejects.toMatchObject(unavailable)
    failure = undefined
    await expect(writer.write({ kind: 'start', start: startOf({}) })).rejects.toMatchObject(unavailable)
    await expect(writer.work(async () => 1)).rejects.toMatchObject(unavailable)
    expect(fatal).toHaveLength(1)
    expect(writer.failure).toBe(fatal[0])
    expect(await count('runs')).toBe(0)
  })

  it('rejects everybody of a transaction whose COMMIT fails, and leaves none open', async () => {
    failure = (sql) => (sql === 'COMMIT' ? diskError('SQLITE_FULL') : undefined)
    const results = await Promise.allSettled([
      writer.write({ kind: 'start', start: startOf({}) }),
      writer.work(async () => 1),
    ])
    for (const result of results) expect(result).toMatchObject({ reason: { code: 'storage_full' } })
    failure = undefined
    expect(await writer.write({ kind: 'start', start: startOf({}) })).toMatchObject({ outcome: 'started' })
    expect(await count('runs')).toBe(1)
  })
})
