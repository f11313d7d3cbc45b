import { describe, expect, it } from 'vitest'
import type { OwnerKind } from '../../../src/core/session.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { searchWordsOf } from '../../../src/core/text/message-search.ts'
import { at, endOf, seedOf, started } from './builders.ts'

/** Which part of a session an earlier user may still read. */
export function testHandovers(store: () => SessionStore): void {
  const session_id = 'handed-over'

  async function turn(text: string, user_id: string | null = null): Promise<string> {
    const { runId } = await started(store(), { run: { session_id, user_id }, session: null, text: `plum ${text}` })
    return runId
  }
  async function ended(text: string, user_id: string | null = null): Promise<string> {
    const runId = await turn(text, user_id)
    await store().finishRun(endOf(runId))
    return runId
  }
  const open = () => store().createSession(seedOf({ session_id, user_id: 'ann' }))
  const give = (user_id: string) => store().shareSession(session_id, { user_id }, at(5))
  const reach = (user: string) => store().findHandover(session_id, user, 10)
  const found = async (reader: string) => {
    const { items } = await store().searchMessages({ words: searchWordsOf('plum'), reader }, { limit: 100 })
    return items.map(({ run_id }) => run_id).reverse()
  }

  describe('a session that was handed over', () => {
    it('is an earlier user up to the turn that was the last, and whose it is now as a whole', async () => {
      await open()
      const first = await ended('one')
      const second = await turn('two')
      await give('bob')
      await store().finishRun(endOf(second))
      const third = await ended('three')
      await give('cid')
      const fourth = await ended('four')
      expect(await reach('ann')).toMatchObject({
        run_count: 2,
        runs: [{ run_id: first }, { run_id: second, status: 'completed' }],
        next: { run_id: third },
      })
      expect(await reach('bob')).toMatchObject({ run_count: 3, next: { run_id: fourth } })
      expect(await store().findHandover(session_id, 'bob', 1)).toMatchObject({
        run_count: 3,
        runs: [{ run_id: third }],
      })
      expect(await reach('dan')).toBeUndefined()
      expect(await store().findHandover('none', 'ann', 10)).toBeUndefined()
      expect(await found('ann')).toEqual([first, second])
      expect(await found('bob')).toEqual([first, second, third])
      expect(await found('cid')).toEqual([first, second, third, fourth])
      expect(await found('dan')).toEqual([])
      expect(await store().listHandovers(session_id)).toMatchObject({ ann: second, bob: third })
    })

    it('counts from the last time that a user had it', async () => {
      await open()
      await ended('one')
      await give('bob')
      await ended('two')
      await give('ann')
      const last = await ended('three')
      await store().shareSession(session_id, { agent_id: 'echo' }, at(6))
      const present = await ended('four')
      await give('bob')
      const later = await ended('five')
      expect(await reach('ann')).toMatchObject({ run_count: 4, next: { run_id: later } })
      expect((await reach('ann'))?.runs.map(({ run_id }) => run_id)).toContain(present)
      expect((await reach('ann'))?.runs.map(({ run_id }) => run_id)).toContain(last)
      expect(await found('bob')).toHaveLength(5)
    })

    it('is nothing to who had it before its first turn', async () => {
      await open()
      await give('bob')
      const first = await ended('one')
      expect(await reach('ann')).toMatchObject({ run_count: 0, runs: [], next: { run_id: first } })
      expect(await found('ann')).toEqual([])
      expect(await store().listHandovers(session_id)).toMatchObject({ ann: null })
    })

    it('does not count what is inside turns, and says which of two runs came first', async () => {
      await open()
      const first = await turn('one')
      await give('bob')
      const inside = { session_id, parent_run_id: first }
      const { runId: child } = await started(store(), { run: inside, session: null, text: 'plum within' })
      for (const runId of [child, first]) await store().finishRun(endOf(runId))
      expect(await reach('ann')).toMatchObject({ run_count: 1, next: null })
      const second = await ended('two')
      expect(await reach('ann')).toMatchObject({ run_count: 1, next: { run_id: second } })
      expect([await store().isBefore(first, second), await store().isBefore(second, first)]).toEqual([true, false])
      expect([await store().isBefore(first, first), await store().isBefore('none', second)]).toEqual([false, false])
      const { items } = await store().listRuns({ session_id, before: second }, { limit: 10, cursor: undefined })
      expect(items.map(({ run_id }) => run_id).sort()).toEqual([first, child].sort())
    })

    it('is pruned for whose it is now alone', async () => {
      await open()
      await give('bob')
      const prune = (presentUser: string) => store().prune({ olderThan: at(100), presentUser }, 10)
      expect([await prune('ann'), await prune('bob')]).toEqual([0, 1])
    })

    it('loses a name that is taken out, of each kind, once, and never a present one', async () => {
      await store().createSession(seedOf({ session_id, user_id: 'x', agent_id: 'x', team_id: 'x', workflow_id: 'x' }))
      const owners = { user_id: 'y', agent_id: 'y', team_id: 'y', workflow_id: 'y' }
      await store().shareSession(session_id, owners, at(1))
      const remove = (kind: OwnerKind, owner: string) => store().unshareSession(session_id, kind, owner, at(2))
      for (const kind of ['user', 'agent', 'team', 'workflow'] as const) {
        const { revision: before = 0 } = (await store().findSession(session_id)) ?? {}
        expect([await remove(kind, 'y'), await remove(kind, 'none')]).toEqual([false, false])
        expect([await remove(kind, 'x'), await remove(kind, 'x')]).toEqual([true, false])
        const after = await store().findSession(session_id)
        expect(after?.session).toMatchObject({ [`${kind}_id`]: 'y', shared_with: { [`${kind}_ids`]: [] } })
        expect(after?.revision).toBeGreaterThan(before)
        const { items } = await store().listSessions({ [`${kind}_id`]: 'x' }, { limit: 10, cursor: undefined })
        expect(items).toEqual([])
      }
      expect(await reach('x')).toBeUndefined()
    })

    it('is the same after it was copied, and without a word of it as far as the users ran themselves', async () => {
      await open()
      const first = await ended('one', 'ann')
      const second = await ended('two', 'guest')
      await give('bob')
      const third = await ended('three', 'bob')
      await give('cid')
      const { session } = (await store().findSession(session_id)) ?? {}
      if (session === undefined) throw new Error('It is gone.')
      const records = await store().readRecords(session_id, undefined, 10)
      async function* runs() {
        for (const run of records) yield { run }
      }
      const handovers = await store().listHandovers(session_id)
      const restore = async (told: typeof handovers | undefined) => {
        await store().deleteSession(session_id)
        await store().restoreSession({ session, summary: null, runs: runs(), handovers: told })
        return store().listHandovers(session_id)
      }
      expect(await restore(handovers)).toMatchObject({ ann: second, bob: third })
      expect(await restore(undefined)).toMatchObject({ ann: first, bob: third })
      expect(await restore({ ann: null, bob: 'run_of_nobody' })).toMatchObject({ ann: null, bob: null })
    })
  })
}
