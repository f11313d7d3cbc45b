import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../../src/store/sessions/memory/store.ts'
import { sqliteStore } from '../../../../src/store/sessions/sqlite/store.ts'
import { at, claimOf, endOf, messageOf, seedOf, startOf, textEvents } from '../../../contract/session-store/builders.ts'
import { emptyDatabase } from '../../../support/empty-database.ts'

const step = fc.record({
  session: fc.integer({ min: 0, max: 40 }),
  seeded: fc.boolean(),
  queued: fc.boolean(),
  claim: fc.option(fc.integer({ min: 0, max: 30 }), { nil: null }),
  state: fc.option(fc.integer(), { nil: null }),
  fence: fc.constantFrom(1, 1, 1, 1, 2),
  events: fc.integer({ min: 0, max: 3 }),
  ends: fc.constantFrom('with its start', 'later', 'twice', 'never'),
})

describe('groups of writes', () => {
  it('never break a rule, whatever comes together', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agentserve-model-'))
    let files = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 500, maxLength: 500 }), async (steps) => {
        const store = sqliteStore({ path: await emptyDatabase('sessions', join(folder, `${++files}.db`)) })
        await store.open()
        const tell = await Promise.all(
          steps.map(async (one) => {
            const sessionId = `s${one.session}`
            const start = startOf({
              run: { session_id: sessionId, status: one.queued ? 'queued' : 'running' },
              session: one.seeded ? seedOf({ session_id: sessionId }) : null,
              claim: one.claim === null ? null : claimOf(`k${one.claim}`),
              state: one.state === null ? null : { n: one.state },
            })
            const runId = start.run.run_id
            const end = endOf(runId, {
              fence: one.fence,
              end_seq: 2 + one.events,
              events: textEvents(runId, 2, Array(one.events).fill('x')),
              messages: [messageOf(runId, 'assistant', 'out')],
            })
            const starting = store.startRun(start)
            const early = one.ends === 'with its start' ? store.finishRun(end) : undefined
            const started = await starting
            const ends = [await early]
            if (one.ends === 'later' || one.ends === 'twice') ends.push(await store.finishRun(end))
            if (one.ends === 'twice') ends.push(await store.finishRun({ ...end, status: 'failed' }))
            return { start, end, started, ends: ends.filter((outcome) => outcome !== undefined) }
          }),
        )
        const claims = new Map<string, string>()
        const counts = new Map<string, number>()
        const created = new Map<string, number>()
        for (const { start, end, started, ends } of tell) {
          const { run, claim } = start
          const record = await store.findRun(run.run_id)
          if (started.outcome !== 'started' && started.outcome !== 'queued') {
            expect(record).toBeUndefined()
            expect(ends.filter((outcome) => outcome !== 'missing')).toEqual([])
            continue
          }
          counts.set(run.session_id, (counts.get(run.session_id) ?? 0) + 1)
          if (started.created_session) created.set(run.session_id, (created.get(run.session_id) ?? 0) + 1)
          if (claim !== null) {
            expect(claims.has(claim.key)).toBe(false)
            claims.set(claim.key, run.run_id)
          }
          const done = ends.includes('ok')
          expect(record?.status).toBe(done ? 'completed' : run.status)
          expect(record?.messages).toHaveLength(done ? 2 : 1)
          expect((await store.readEvents(run.run_id, 1, 100)).length).toBe(done ? end.events.length + 1 : 0)
          if (ends.length > 0) expect(ends[0]).toBe(end.fence === 1 ? 'ok' : 'fenced')
          expect(ends.filter((outcome) => outcome === 'ok').length).toBeLessThanOrEqual(1)
        }
        for (const { started, start } of tell) {
          if (started.outcome === 'claimed') expect(started.claim.run_id).toBe(claims.get(start.claim?.key ?? ''))
        }
        for (const [sessionId, count] of counts) {
          expect((await store.findSession(sessionId))?.session.run_count).toBe(count)
          expect(created.get(sessionId)).toBe(1)
          const running = await store.listRuns({ session_id: sessionId, status: 'running' }, { limit: 100 })
          expect(running.items.length).toBeLessThanOrEqual(1)
        }
        await store.close()
      }),
      { numRuns: 6, seed: 20260101 },
    )
    await rm(folder, { recursive: true, force: true })
  })

  it('come out as in the memory store when they come one after the other', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agentserve-twin-'))
    let files = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 80 }), async (steps) => {
        const stores = [
          memoryStore(),
          sqliteStore({ path: await emptyDatabase('sessions', join(folder, `${++files}.db`)) }),
        ]
        for (const store of stores) await store.open()
        const both = async <T>(work: (store: (typeof stores)[number]) => Promise<T>) => {
          const settled = await Promise.all(stores.map((store) => work(store).catch((error) => error.code)))
          expect(settled[1]).toEqual(settled[0])
          return settled[0] as T
        }
        for (const [n, one] of steps.entries()) {
          const sessionId = `s${one.session % 5}`
          const start = startOf({
            run: { session_id: sessionId, status: one.queued ? 'queued' : 'running', created_at: at(n) },
            session: one.seeded ? seedOf({ session_id: sessionId, agent_id: `a${one.fence}` }) : null,
            claim: one.claim === null ? null : claimOf(`k${one.claim}`),
            state: one.state === null ? null : { [`n${one.events}`]: one.state },
            owner: one.fence === 1 ? 'one' : 'two',
          })
          const runId = start.run.run_id
          const events = textEvents(runId, 2, Array(one.events).fill('x'))
          await both((store) => store.startRun(start))
          await both((store) => store.beginRun(runId, one.fence, at(n)))
          await both((store) => store.appendEvents({ run_id: runId, fence: one.fence, events, reserve_until: 2000 }))
          const state = one.seeded && one.state !== null ? { state: { ended: n } } : {}
          const end = endOf(runId, { fence: one.fence, events, end_seq: 9, completed_at: at(n), ...state })
          if (one.ends !== 'never') await both((store) => store.finishRun(end))
          await both((store) => store.findSession(sessionId))
          await both((store) => store.findRun(runId))
          await both((store) => store.readEvents(runId, one.events, 10))
        }
        await both((store) => store.listSessions({}, { limit: 3 }))
        await both((store) => store.listRuns({}, { limit: 50 }))
        await both((store) => store.recover('one', at(500)).then(({ queued }) => queued))
        await both((store) => store.listRuns({ status: 'interrupted' }, { limit: 100 }))
        for (const store of stores) await store.close()
      }),
      { numRuns: 8, seed: 20260102 },
    )
    await rm(folder, { recursive: true, force: true })
  })
})
