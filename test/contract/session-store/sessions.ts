import { describe, expect, it } from 'vitest'
import type { SessionRecord } from '../../../src/core/session.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { allPages, at, claimOf, endOf, seedOf, started } from './builders.ts'

export function testSessions(store: () => SessionStore): void {
  const create = async (fields: Parameters<typeof seedOf>[0] = {}) => {
    const made = (await store().createSession(seedOf(fields))) as SessionRecord
    return made.session.session_id
  }
  const idsOf = async (filter: Parameters<SessionStore['listSessions']>[0]) =>
    (await store().listSessions(filter, { limit: 100 })).items.map((session) => session.session_id)

  describe('sessions', () => {
    it('creates a session and finds it as it was put in', async () => {
      const seed = seedOf({
        agent_id: 'docs',
        user_id: 'Ana',
        name: 'Ünïcode “name” 🙂',
        metadata: { deep: [1, { two: null }], 'quote"\\': "it's\n" },
        state: {},
      })
      const made = (await store().createSession(seed)) as SessionRecord
      expect(made.session).toEqual({
        ...seed,
        updated_at: at(0),
        shared_with: { agent_ids: [], team_ids: [], workflow_ids: [], user_ids: [] },
        run_count: 0,
        runs: [],
        summary: null,
      })
      expect(await store().findSession(seed.session_id)).toEqual(made)
    })

    it('finds nothing under an unknown id', async () => {
      expect(await store().findSession('unknown')).toBeUndefined()
    })

    it('refuses a session_id that is taken and keeps the first one', async () => {
      const id = await create({ session_id: 'mine', name: 'first' })
      await expect(store().createSession(seedOf({ session_id: id, name: 'second' }))).rejects.toMatchObject({
        code: 'conflict',
      })
      expect((await store().findSession(id))?.session.name).toBe('first')
    })

    it('makes one of many that are created at once under the same id', async () => {
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, () => store().createSession(seedOf({ session_id: 'same' }))),
      )
      expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
    })

    it('lets nobody change what it holds through what it was given or gave', async () => {
      const metadata = { list: [1] }
      const id = await create({ metadata })
      metadata.list.push(2)
      const first = await store().findSession(id)
      const held = first?.session.metadata?.list as number[]
      held.push(3)
      expect((await store().findSession(id))?.session.metadata).toEqual({ list: [1] })
    })

    it('replaces the fields that are given, clears with null, and leaves the others', async () => {
      const id = await create({ name: 'old', metadata: { a: 1 }, state: { b: 2 } })
      const changed = await store().updateSession(id, { name: 'new', metadata: null }, at(5))
      expect(changed.session).toMatchObject({ name: 'new', metadata: null, state: { b: 2 }, updated_at: at(5) })
      expect(await store().findSession(id)).toEqual(changed)
    })

    it('changes nothing for an empty change', async () => {
      const id = await create({ name: 'old' })
      const before = await store().findSession(id)
      expect(await store().updateSession(id, {}, at(5))).toEqual(before)
      expect(await store().findSession(id)).toEqual(before)
    })

    it('raises the revision with every change, and refuses an old one', async () => {
      const id = await create()
      const first = await store().findSession(id)
      const second = await store().updateSession(id, { name: 'x' }, at(1), first?.revision)
      expect(second.revision).toBeGreaterThan(first?.revision ?? 0)
      const stale = store().updateSession(id, { name: 'y' }, at(2), first?.revision)
      await expect(stale).rejects.toMatchObject({ code: 'precondition_failed' })
      expect((await store().findSession(id))?.session.name).toBe('x')
    })

    it('lets one of many writers with the same revision through', async () => {
      const id = await create()
      const { revision } = (await store().findSession(id)) ?? {}
      const results = await Promise.allSettled(
        Array.from({ length: 10 }, (_, n) => store().updateSession(id, { name: `n${n}` }, at(1), revision)),
      )
      expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
    })

    it('says session_not_found when it would change what is not there', async () => {
      const missing = { code: 'session_not_found' }
      await expect(store().updateSession('none', { name: 'x' }, at(1))).rejects.toMatchObject(missing)
      await expect(store().shareSession('none', { agent_id: 'a' }, at(1))).rejects.toMatchObject(missing)
    })

    it('lists newest updated_at first', async () => {
      const [first, second, third] = [await create(), await create({ created_at: at(1) }), await create()]
      await store().updateSession(first ?? '', { name: 'touched' }, at(9))
      expect((await idsOf({})).slice(0, 2)).toEqual([first, second])
      expect(await idsOf({})).toContain(third)
    })

    it('pages without a gap or a repeat through equal times', async () => {
      const ids = new Set<string>()
      for (let n = 0; n < 23; n++) ids.add(await create({ created_at: at(Math.floor(n / 8)) }))
      const pages = await allPages((cursor) => store().listSessions({}, { limit: 5, cursor }))
      expect(pages.map((page) => page.length)).toEqual([5, 5, 5, 5, 3])
      const seen = pages.flat()
      expect(new Set(seen.map((session) => session.session_id))).toEqual(ids)
      const times = seen.map((session) => session.updated_at)
      expect(times).toEqual(times.toSorted().reverse())
    })

    it('ends a list whose last page is full', async () => {
      for (let n = 0; n < 4; n++) await create()
      const pages = await allPages((cursor) => store().listSessions({}, { limit: 2, cursor }))
      expect(pages.map((page) => page.length)).toEqual([2, 2])
    })

    it('refuses a cursor that it did not make', async () => {
      const wrong = { code: 'invalid_request', details: [{ path: 'cursor' }] }
      for (const cursor of ['', '!', 'e30', 'WyJhIl0', 'bm8', 'null']) {
        await expect(store().listSessions({}, { limit: 1, cursor })).rejects.toMatchObject(wrong)
        await expect(store().listRuns({}, { limit: 1, cursor })).rejects.toMatchObject(wrong)
      }
    })

    it('filters by each owner, and by several at once', async () => {
      const a = await create({ agent_id: 'x', user_id: 'u' })
      const b = await create({ team_id: 'x' })
      const c = await create({ workflow_id: 'x', user_id: 'u' })
      expect(await idsOf({ agent_id: 'x' })).toEqual([a])
      expect(await idsOf({ team_id: 'x' })).toEqual([b])
      expect(await idsOf({ workflow_id: 'x' })).toEqual([c])
      expect((await idsOf({ user_id: 'u' })).sort()).toEqual([a, c].sort())
      expect(await idsOf({ user_id: 'u', workflow_id: 'x' })).toEqual([c])
      expect(await idsOf({ user_id: 'u', team_id: 'x' })).toEqual([])
      expect(await idsOf({ agent_id: "x' OR '1'='1" })).toEqual([])
    })

    it('is found under its present and its earlier owners after it was shared', async () => {
      const id = await create({ agent_id: 'a', user_id: 'u' })
      await store().shareSession(id, { agent_id: 'b' }, at(1))
      const shared = await store().shareSession(id, { agent_id: 'c', team_id: 't' }, at(2))
      expect(shared.session).toMatchObject({
        agent_id: 'c',
        team_id: 't',
        workflow_id: null,
        user_id: 'u',
        shared_with: { agent_ids: ['a', 'b'], team_ids: [], workflow_ids: [], user_ids: [] },
        updated_at: at(2),
      })
      expect(await store().findSession(id)).toEqual(shared)
      for (const agent of ['a', 'b', 'c']) expect(await idsOf({ agent_id: agent })).toEqual([id])
      expect(await idsOf({ agent_id: 'a', team_id: 't' })).toEqual([id])
    })

    it('keeps an owner that comes back once', async () => {
      const id = await create({ agent_id: 'a' })
      await store().shareSession(id, { agent_id: 'b' }, at(1))
      const back = await store().shareSession(id, { agent_id: 'a' }, at(2))
      expect(back.session).toMatchObject({ agent_id: 'a', shared_with: { agent_ids: ['b'] } })
      expect(await idsOf({ agent_id: 'a' })).toEqual([id])
    })

    it('pages a shared list in the order of updated_at, whichever owner it is found under', async () => {
      const ids: string[] = []
      for (let n = 0; n < 9; n++) ids.push(await create({ agent_id: n % 2 ? 'a' : 'b', created_at: at(n) }))
      for (const id of ids) await store().shareSession(id, { agent_id: 'c' }, at(20 - ids.indexOf(id)))
      const pages = await allPages((cursor) => store().listSessions({ agent_id: 'a' }, { limit: 2, cursor }))
      expect(pages.flat().map((session) => session.session_id)).toEqual([ids[1], ids[3], ids[5], ids[7]])
    })

    it('deletes a session with its runs, events, history and summary', async () => {
      const { runId, sessionId } = await started(store())
      await store().finishRun(endOf(runId))
      const summary = { content: 'c', model: 'm', run_count: 1, message_count: 1, created_at: at(1) }
      await store().saveSummary({ session_id: sessionId, ...summary })
      await store().scheduleSummary(sessionId, at(2))
      expect(await store().deleteSession(sessionId)).toBe(true)
      expect(await store().deleteSession(sessionId)).toBe(false)
      expect(await store().findSession(sessionId)).toBeUndefined()
      expect(await store().findRun(runId)).toBeUndefined()
      expect(await store().readEvents(runId, 0, 10)).toEqual([])
      expect(await store().readHistory(sessionId, 10)).toEqual({ runs: [], has_more: false })
      expect(await store().findSummary(sessionId)).toBeUndefined()
      expect(await store().listSummaryJobs()).toEqual([])
      expect((await store().listRuns({}, { limit: 10 })).items).toEqual([])
      expect(await store().finishRun(endOf(runId))).toBe('missing')
      expect((await store().createSession(seedOf({ session_id: sessionId }))) as SessionRecord).toMatchObject({
        session: { run_count: 0, summary: null },
      })
    })

    it('settles a claim with the session that it makes, and gives that answer to the next', async () => {
      const made = await store().createSession(seedOf({ session_id: 'claimed' }), claimOf('k'))
      const again = await store().createSession(seedOf({ session_id: 'other' }), claimOf('k'))
      expect(again).toEqual({ claimed: { key: 'k', hash: 'hash of k', run_id: null, answer: made } })
      expect(await store().findSession('other')).toBeUndefined()
    })

    it('takes no claim for a session that it refuses', async () => {
      await create({ session_id: 'taken' })
      const refused = store().createSession(seedOf({ session_id: 'taken' }), claimOf('k'))
      await expect(refused).rejects.toMatchObject({ code: 'conflict' })
      expect(await store().findClaim('k')).toBeUndefined()
    })
  })
}
