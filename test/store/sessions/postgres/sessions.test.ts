import { expect, it, vi } from 'vitest'
import type { SessionRecord } from '../../../../src/core/session.ts'
import { at, claimOf, endOf, seedOf, started, startOf } from '../../../contract/session-store/builders.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { storePair } from '../../../support/postgres/store-pair.ts'

const session_id = 's'
const many = Array.from({ length: 12 }, (_, n) => n)

describePostgres('sessions that two servers write', () => {
  const { one, two, proxy, rows } = storePair()
  const server = (n: number) => (n % 2 === 0 ? one() : two())
  const codes = (results: PromiseSettledResult<unknown>[]) =>
    results.map((result) => (result.status === 'fulfilled' ? 'ok' : result.reason.code)).sort()
  const create = async (fields = {}) => (await one().createSession(seedOf({ session_id, ...fields }))) as SessionRecord

  it('are created once under an id, and once under a key', async () => {
    const byId = await Promise.allSettled(many.map((n) => server(n).createSession(seedOf({ session_id }))))
    expect(codes(byId)).toEqual([...many.slice(1).map(() => 'conflict'), 'ok'])
    const byKey = await Promise.all(many.map((n) => server(n).createSession(seedOf(), claimOf('k'))))
    const [made, ...others] = byKey.toSorted((a) => ('session' in a ? -1 : 1))
    expect(made).toHaveProperty('session')
    for (const other of others) expect(other).toMatchObject({ claimed: { answer: made } })
    expect(await two().countSessions({})).toBe(2)
  })

  it('take one of the changes that are made from the same revision', async () => {
    const { revision } = await create()
    const changes = many.map((n) => server(n).updateSession(session_id, { name: `${n}` }, at(n), revision))
    expect(codes(await Promise.allSettled(changes))).toEqual(['ok', ...many.slice(1).map(() => 'precondition_failed')])
    expect((await two().findSession(session_id))?.revision).toBe(revision + 1)
  })

  it('take every change, and none puts them back in lists', async () => {
    await create({ user_id: 'ann' })
    const changes = many.map((n) =>
      n % 3 === 0
        ? server(n).shareSession(session_id, { user_id: `user${n}` }, at(n))
        : server(n).updateSession(session_id, { metadata: { n } }, at(n)),
    )
    await Promise.all(changes)
    const found = await one().findSession(session_id)
    expect(found).toMatchObject({ revision: 1 + many.length, session: { updated_at: at(11) } })
    expect(found?.session.shared_with.user_ids).toHaveLength(4)
    await two().updateSession(session_id, { name: 'of a slow clock' }, at(1))
    expect((await two().shareSession(session_id, { user_id: 'zoe' }, at(2))).session.updated_at).toBe(at(11))
    expect(await rows('SELECT DISTINCT updated_at FROM session_owner')).toEqual([{ updated_at: at(11) }])
  })

  it('are as written when the answer to the commit was lost', async () => {
    const lose = () => proxy().lose('answer', /COMMIT/)
    let lost = lose()
    const made = (await two().createSession(seedOf({ session_id }), claimOf('k'))) as SessionRecord
    await lost
    expect(made).toEqual(await one().findSession(session_id))
    lost = lose()
    const changed = await two().updateSession(session_id, { name: 'n' }, at(1), made.revision)
    await lost
    expect(changed.revision).toBe(made.revision + 1)
    lost = lose()
    expect(await two().shareSession(session_id, { user_id: 'ann' }, at(2))).toMatchObject({ revision: 3 })
    await lost
    lost = lose()
    expect(await two().claim(claimOf('other'))).toBeUndefined()
    await lost
    lost = lose()
    expect(await two().deleteSession(session_id)).toBe(true)
    await lost
    expect(await one().findSession(session_id)).toBeUndefined()
  })

  it('refuse what the database can not store, and keep nothing of it', async () => {
    const invalid = { code: 'invalid_request' }
    await expect(one().createSession(seedOf({ session_id, name: 'a\u0000b' }), claimOf('k'))).rejects.toMatchObject(
      invalid,
    )
    expect(await one().findClaim('k')).toBeUndefined()
    await create({ metadata: { text: 'a\u0000b \ud800' } })
    await expect(one().updateSession(session_id, { name: '\u0000' }, at(1))).rejects.toMatchObject(invalid)
    expect((await one().findSession(session_id))?.session).toMatchObject({
      name: null,
      metadata: { text: 'a\u0000b \ud800' },
    })
  })

  it('are deleted once, whoever deletes them', async () => {
    await create()
    const { runId } = await started(two(), { run: { session_id }, session: null })
    expect((await Promise.all(many.map((n) => server(n).deleteSession(session_id)))).filter(Boolean)).toHaveLength(1)
    expect(await one().findRun(runId)).toBeUndefined()
  })

  it('leave nothing behind when runs start and end while they are deleted', async () => {
    for (let round = 0; round < 15; round++) {
      const session = seedOf({ session_id })
      await one().startRun(startOf({ run: { session_id, status: 'queued' }, session }))
      const runs = many
        .slice(0, 6)
        .map((n) => startOf({ run: { session_id, status: 'queued' }, session: n === 0 ? session : null }))
      const life = async (start: (typeof runs)[number], n: number) => {
        await server(n).startRun(start)
        await server(n).finishRun(endOf(start.run.run_id, { status: 'cancelled' }))
      }
      await Promise.all([...runs.map(life), server(round).deleteSession(session_id)])
      expect(
        await rows('SELECT run_id FROM run LEFT JOIN session USING (session_id) WHERE created_at IS NULL'),
      ).toEqual([])
      const [counted] = await rows(
        'SELECT run_count AS said, (SELECT count(*)::int FROM run) AS there, created_at FROM session',
      )
      if (counted !== undefined)
        expect(counted).toEqual({ said: counted.there, there: counted.there, created_at: at(0) })
      await one().deleteSession(session_id)
    }
  })

  it('take a run with them that began while they were deleted', async () => {
    await create()
    await rows('BEGIN')
    await rows(
      `INSERT INTO run (run_id, session_id, entity_id, entity_kind, status, owner, fence, reserve_until, recorded_seq,
      begun, input) VALUES ('late', $1, 'a', 'agent', 'running', 1, 1, 1, 1, '{}', '[]')`,
      [session_id],
    )
    await rows('UPDATE session SET run_count = 1 WHERE session_id = $1', [session_id])
    const deleted = one().deleteSession(session_id)
    await vi.waitFor(async () =>
      expect(
        await rows(`SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`),
      ).toHaveLength(1),
    )
    await rows('COMMIT')
    expect(await deleted).toBe(true)
    expect(await rows('SELECT run_id FROM run')).toEqual([])
  })

  it('are pruned by one of the servers at a time, each once, and never with a run', async () => {
    for (const n of many) await create({ session_id: `s${n}`, created_at: at(n) })
    const { runId } = await started(one(), { run: { session_id: 's3', created_at: at(3) }, session: null })
    const sweep = async (n: number) => {
      let count = 0
      for (let pruned = 1; pruned > 0; count += pruned) pruned = await server(n).prune({ maxSessions: 4 }, 2)
      return count
    }
    let pruned = 0
    await vi.waitFor(async () => {
      for (const count of await Promise.all([sweep(0), sweep(1)])) pruned += count
      expect(pruned).toBe(8)
    }, 10_000)
    expect(await two().findRun(runId)).toMatchObject({ status: 'running' })
    expect(await two().countSessions({})).toBe(4)
  })

  it('are not pruned while a run begins', async () => {
    for (let round = 0; round < 10; round++) {
      await create({ session_id: `s${round}` })
      const start = startOf({ run: { session_id: `s${round}`, created_at: at(1) }, session: null })
      const [begun, pruned] = await Promise.all([one().startRun(start), two().prune({ maxSessions: 0 }, 5)])
      expect([begun.outcome, pruned]).toEqual(begun.outcome === 'started' ? ['started', 0] : ['session_missing', 1])
      if (pruned === 0) await one().deleteSession(`s${round}`)
    }
  })

  it('give a key that expired to one, and delete expired ones beside each other', async () => {
    const past = '2001-01-01T00:00:00.000Z'
    expect(await one().claim(claimOf('k', past))).toBeUndefined()
    const taken = await Promise.all(many.map((n) => server(n).claim(claimOf('k'))))
    expect(taken.filter((claim) => claim === undefined)).toHaveLength(1)
    await Promise.all(many.map((n) => server(n).claim(claimOf(`old ${n}`, past))))
    await Promise.all([one().recover('one', at(1)), two().recover('two', at(1))])
    expect(await rows('SELECT 1 FROM claim WHERE expires_at < $1', [at(0)])).toEqual([])
  })
})
