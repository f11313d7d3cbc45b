import { expect, it } from 'vitest'
import type { RunStart, RunStarted } from '../../../../../src/core/run-write.ts'
import { claimOf, endOf, messageOf, seedOf, startOf, textEvents } from '../../../../contract/session-store/builders.ts'
import { describePostgres } from '../../../../support/postgres/describe-postgres.ts'
import { storePair } from '../../../../support/postgres/store-pair.ts'

describePostgres('writes of runs in Postgres', () => {
  const { one, two, rows } = storePair()
  const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
  const rowOf = async (runId: string) => (await rows('SELECT * FROM run WHERE run_id = $1', [runId]))[0]
  const sessionOf = async (id: string) => (await rows('SELECT * FROM session WHERE session_id = $1', [id]))[0]
  const queues = (start: RunStart): RunStart => ({ ...start, whenBusy: 'queue' })

  it('are rows with a column for each thing that statements ask for', async () => {
    const session = seedOf({ session_id: 's', name: 'n', user_id: 'ann', state: { a: 1 }, metadata: { m: '\u0000' } })
    const start = startOf({ session, claim: claimOf('k'), text: '\u0000 \ud800' })
    expect(await one().startRun(start)).toEqual({
      outcome: 'started',
      fence: 1,
      created_session: true,
      revision: 2,
      birth: expect.any(Number),
    })
    const { run_id: runId } = start.run
    const batch = { run_id: runId, fence: 1, events: textEvents(runId, 2, ['a']), reserve_until: 1002 }
    expect(await one().appendEvents(batch)).toBe('ok')
    const messages = [messageOf(runId, 'assistant', 'x')]
    const events = textEvents(runId, 3, ['b'])
    const end = endOf(runId, { end_seq: 4, events, usage, state: { b: 1 }, messages })
    expect(await one().finishRun(end)).toBe('ok')
    const state = expect.stringContaining('{"a":1}')
    const row = { status: 'completed', recorded_seq: 3, end_seq: 4, user_id: 'ann', state_before: state }
    expect(await rowOf(runId)).toMatchObject(row)
    expect((await one().findRun(runId))?.messages).toEqual([...start.run.messages, ...messages])
    expect((await one().findSession('s'))?.session.metadata).toEqual({ m: '\u0000' })
    expect(await sessionOf('s')).toMatchObject({ state: '{"b":1}', revision: 3, run_count: 1, name: 'n' })
    const second = startOf({ run: { session_id: 's' }, session: null })
    expect(await two().startRun(second)).toMatchObject({ created_session: false, revision: 4 })
    expect((await rowOf(second.run.run_id))?.user_id).toBe('ann')
  })

  it('are one row and no update when an end comes with its start', async () => {
    const start = startOf({ session: seedOf({ session_id: 's', state: { a: 1 } }), state: { b: 1 } })
    const { run_id: runId } = start.run
    const texts = Array.from({ length: 100 }, () => 'x'.repeat(1000))
    const end = endOf(runId, { events: textEvents(runId, 2, texts), end_seq: 102, usage })
    const both = await Promise.all([one().startRun(start), one().finishRun(end)])
    // The revision is that before the end.
    expect(both).toMatchObject([{ outcome: 'started', fence: 1, created_session: true, revision: 2 }, 'ok'])
    expect(await sessionOf('s')).toMatchObject({ revision: 3 })
    // Written once, and by no update.
    expect(await rows(`SELECT xmax::text, cmin::text FROM run`)).toEqual([{ xmax: '0', cmin: '0' }])
    expect(await rowOf(runId)).toMatchObject({ status: 'completed', recorded_seq: 101 })
    expect(JSON.parse(String((await sessionOf('s'))?.state))).toEqual({ a: 1, b: 1 })
    expect(await rows('SELECT count(*)::int FROM event')).toEqual([{ count: 5 }])
    expect(await rows('SELECT runs::int, total_tokens::int FROM session_usage')).toEqual([{ runs: 1, total_tokens: 3 }])
  })

  it('let one of many starts of two servers run, and the others wait in the order of their numbers', async () => {
    const starts = Array.from({ length: 20 }, (_, n) =>
      queues(startOf({ run: { session_id: 'q' }, owner: n % 2 ? 'a' : 'b' })),
    )
    const started = await Promise.all(starts.map((start, n) => (n % 2 ? one() : two()).startRun(start)))
    const count = (outcome: RunStarted['outcome']) => started.filter((one) => one.outcome === outcome).length
    expect([count('started'), count('queued')]).toEqual([1, 19])
    expect(await sessionOf('q')).toMatchObject({ run_count: 20, revision: 21 })
    const ids = await rows<{ run_id: string; status: string }>('SELECT run_id, status FROM run ORDER BY run_number')
    expect(ids.map(({ status }) => status)).toEqual(['running', ...Array(19).fill('queued')])
    const [first, second, third] = ids.map(({ run_id }) => run_id) as [string, string, string]
    expect(await one().finishRun(endOf(first))).toBe('ok')
    expect(await two().beginRun(third, 1, '2030')).toBe('wait')
    expect(await two().beginRun(second, 1, '2030')).toBe('begun')
    expect(await one().beginRun(third, 1, '2030')).toBe('wait')
  })

  it('let a hundred turns of a session wait, those of all servers, and no more', async () => {
    const waiting = () => queues(startOf({ run: { session_id: 'q' } }))
    const started = await Promise.all(Array.from({ length: 110 }, () => one().startRun(waiting())))
    const count = (outcome: RunStarted['outcome']) => started.filter((one) => one.outcome === outcome).length
    expect([count('started'), count('queued'), count('full')]).toEqual([1, 100, 9])
    // Those of a group come with one transaction; only who may be too many is looked at alone.
    expect(await rows('SELECT count(DISTINCT xmin::text)::int FROM run')).toEqual([{ count: 2 }])
    expect(await two().startRun(waiting())).toEqual({ outcome: 'full' })
    const child = startOf({ run: { session_id: 'q', parent_run_id: 'x' }, session: null })
    expect(await two().startRun(queues(child))).toMatchObject({ outcome: 'started' })
  })

  it.each([
    ['user_id', { run: { user_id: 'a\u0000' } }],
    ['session.name', { session: seedOf({ name: '\ud800' }) }],
    ['session.agent_id', { session: seedOf({ agent_id: 'x'.repeat(3_000_000) }) }],
    ['claim.key', { claim: claimOf('k\u0000') }],
  ])('refuse a text that %s can not hold, that run alone', async (path, fields) => {
    const beside = Array.from({ length: 20 }, () => startOf({}))
    const bad = startOf(fields)
    const all = [...beside.slice(0, 7), bad, ...beside.slice(7)]
    const outcomes = await Promise.allSettled(
      all.flatMap((start) => [one().startRun(start), one().finishRun(endOf(start.run.run_id))]),
    )
    const refused = outcomes.filter(({ status }) => status === 'rejected')
    expect(refused).toMatchObject([{ reason: { code: 'invalid_request', details: [{ path }] } }])
    expect(await rows('SELECT status, count(*)::int FROM run GROUP BY status')).toEqual([
      { status: 'completed', count: 20 },
    ])
    expect(await rows('SELECT count(*)::int FROM session')).toEqual([{ count: 20 }])
  })

  it.each([
    ['40P01', 'unavailable', 20],
    ['54000', 'internal', 20],
    ['57014', 'unavailable', 20],
    ['53100', 'storage_full', 0],
  ])(
    'that fail with %s reject those that are the reason with %s, and write %i others',
    async (code, rejected, written) => {
      await rows(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'as told' USING ERRCODE = '${code}'; END $$`)
      await rows(
        `CREATE TRIGGER fail BEFORE INSERT ON run FOR EACH ROW WHEN (NEW.entity_id = 'bad') EXECUTE FUNCTION fail()`,
      )
      try {
        const starts = Array.from({ length: 21 }, (_, n) => startOf({ run: { entity_id: n === 9 ? 'bad' : 'good' } }))
        const outcomes = await Promise.allSettled(starts.map((start) => one().startRun(start)))
        const codes = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
        expect(codes).toEqual(Array(21 - written).fill(rejected))
        expect(await rows('SELECT count(*)::int FROM run')).toEqual([{ count: written }])
      } finally {
        await rows('DROP TRIGGER fail ON run')
        await rows('DROP FUNCTION fail')
      }
      expect(await one().startRun(startOf({ run: { entity_id: 'bad' } }))).toMatchObject({ outcome: 'started' })
    },
  )

  it('go on while another program holds the row of one session', async () => {
    const held = startOf({ session: seedOf({ session_id: 'held' }) })
    const free = startOf({})
    for (const start of [held, free]) await one().startRun(start)
    await rows('BEGIN')
    await rows(`SELECT 1 FROM session WHERE session_id = 'held' FOR UPDATE`)
    const waiting = one().finishRun(endOf(held.run.run_id))
    expect(await one().finishRun(endOf(free.run.run_id))).toBe('ok')
    expect(await one().startRun(startOf({}))).toMatchObject({ outcome: 'started' })
    await rows('COMMIT')
    expect(await waiting).toBe('ok')
    expect(await sessionOf('held')).toMatchObject({ revision: 3 })
  })

  it('start nothing for a server that was declared dead, and go on under a fence that nobody took', async () => {
    const running = startOf({ owner: 'dead' })
    const { run_id: runId } = running.run
    await one().startRun(running)
    await rows(`UPDATE instance SET dead_at = now() WHERE owner = 'dead'`)
    for (const start of [startOf({ owner: 'dead' }), { ...startOf({ owner: 'dead' }), replaces: runId }])
      await expect(one().startRun(start)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await two().startRun(startOf({ owner: 'alive' }))).toMatchObject({ outcome: 'started' })
    expect(await one().appendEvents({ run_id: runId, fence: 1, events: [], reserve_until: 2000 })).toBe('ok')
    await rows('UPDATE run SET fence = 2 WHERE run_id = $1', [runId])
    expect(await one().appendEvents({ run_id: runId, fence: 1, events: [], reserve_until: 3000 })).toBe('fenced')
    expect(await one().finishRun(endOf(runId))).toBe('fenced')
  })

  it('never run two turns of a session, and end all, when two servers crowd into a few sessions', async () => {
    let most = 0
    let isOver = false
    const watching = (async () => {
      while (!isOver) {
        const [row] = await rows<{ most: number }>(
          `SELECT coalesce(max(count), 0)::int AS most
           FROM (SELECT count(*) FROM run WHERE status = 'running' AND parent_run_id IS NULL GROUP BY session_id) AS x`,
        )
        most = Math.max(most, row?.most ?? 0)
      }
    })()
    const turn = async (n: number, k: number) => {
      const store = n % 2 ? one() : two()
      const state = k % 3 === 0 ? { [`k${n}`]: k } : null
      const start = queues(startOf({ run: { session_id: `s${n % 3}` }, state, owner: `o${n % 2}` }))
      const { run_id: runId } = start.run
      if ((await store.startRun(start)).outcome === 'queued')
        while ((await store.beginRun(runId, 1, '2030')) === 'wait') await new Promise((wait) => setImmediate(wait))
      const batch = { run_id: runId, fence: 1, events: textEvents(runId, 2, ['a']), reserve_until: 1002 }
      expect(await store.appendEvents(batch)).toBe('ok')
      expect(await store.finishRun(endOf(runId, { end_seq: 3, usage }))).toBe('ok')
    }
    await Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        for (let k = 0; k < 8; k++) await turn(n, k)
      }),
    )
    isOver = true
    await watching
    expect(most).toBe(1)
    expect(await rows('SELECT status, count(*)::int FROM run GROUP BY status')).toEqual([
      { status: 'completed', count: 96 },
    ])
    expect(await rows('SELECT sum(run_count)::int AS runs FROM session')).toEqual([{ runs: 96 }])
    expect(await rows('SELECT sum(runs)::int AS runs FROM session_usage')).toEqual([{ runs: 96 }])
    const state = (await one().findSession('s0'))?.session.state
    expect(state).toEqual({ k0: 6, k3: 6, k6: 6, k9: 6 })
  })

  it('create no session again that is deleted at the moment of a start', async () => {
    for (let round = 0; round < 30; round++) {
      const id = `s${round}`
      await one().createSession(seedOf({ session_id: id }))
      const start = startOf({ run: { session_id: id }, session: null })
      const [{ outcome }] = await Promise.all([one().startRun(start), two().deleteSession(id)])
      const [left, session] = [await rowOf(start.run.run_id), await sessionOf(id)]
      // The session stays when its deletion came before, and found no run yet.
      if (outcome === 'session_missing') expect([left, session]).toEqual([undefined, undefined])
      else expect(left === undefined).toBe(session === undefined)
    }
  })

  it('merge the state of starts in one new session that two servers make at once', async () => {
    for (let round = 0; round < 20; round++) {
      const starts = ['a', 'b'].map((key) =>
        startOf({ run: { session_id: `s${round}` }, state: { [key]: 1 }, owner: key }),
      )
      const [first, second] = starts as [RunStart, RunStart]
      const outcomes = await Promise.all([one().startRun(first), two().startRun(second)])
      expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['busy', 'started'])
      const winner = outcomes[0].outcome === 'started' ? 'a' : 'b'
      expect((await one().findSession(`s${round}`))?.session.state).toEqual({ [winner]: 1 })
    }
  })
})
