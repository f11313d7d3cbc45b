import { describe, expect, it } from 'vitest'
import { createBookmarks } from '../../../src/service/bookmarks.ts'
import { at, claimOf } from '../session-store/builders.ts'
import { begin, kill, type Member, type Members, startBy, takeAll } from './members.ts'

const keyOf = async ({ store }: Member) => (await store.findClaim('k'))?.run_id

export function testSharedKeys(members: Members): void {
  describe('keys that are taken over', () => {
    const startOver = (member: Member, runId: string) => startBy(member, { claim: { ...claimOf('k'), over: runId } })

    it('pass from a run of one instance to one of another, while the first goes on', async () => {
      const [a, b] = await members(2)
      const first = await begin(a, { claim: claimOf('k') })
      const second = startOver(b, first.runId)
      expect(await b.store.startRun(second)).toMatchObject({ outcome: 'started' })
      expect(await keyOf(a)).toBe(second.run.run_id)
      const batch = { run_id: first.runId, fence: 1, events: [], reserve_until: 5000 }
      expect(await a.store.appendEvents(batch)).toBe('ok')
      const late = startOver(a, first.runId)
      expect(await a.store.startRun(late)).toMatchObject({ outcome: 'claimed', claim: { run_id: second.run.run_id } })
    })

    it('pass to one of all that ask at once', async () => {
      const [a, b] = await members(2)
      for (let round = 0; round < 5; round++) {
        const runId = (await keyOf(a)) ?? (await begin(a, { claim: claimOf('k') })).runId
        const starts = [a, b, a, b].map((member) => ({ member, start: startOver(member, runId) }))
        const results = await Promise.all(starts.map(({ member, start }) => member.store.startRun(start)))
        const winners = starts.filter((_, place) => results[place]?.outcome === 'started')
        expect(winners).toHaveLength(1)
        const winner = winners[0]?.start.run.run_id
        expect(await keyOf(b)).toBe(winner)
        const told = results.flatMap((result) => (result.outcome === 'claimed' ? [result.claim.run_id] : []))
        expect(told).toEqual([winner, winner, winner])
      }
    })

    it('pass to the first that asks while the start that has the key is under way', async () => {
      const [a, b] = await members(2)
      const first = startBy(a, { claim: claimOf('k') })
      const second = startOver(b, first.run.run_id)
      const results = await Promise.all([a.store.startRun(first), b.store.startRun(second)])
      const outcomes = results.map(({ outcome }) => outcome)
      // Which of them comes first is open; the key never has two runs, and never one that was not started.
      expect([
        ['started', 'started'],
        ['claimed', 'started'],
      ]).toContainEqual(outcomes)
      expect(await keyOf(a)).toBe(second.run.run_id)
      expect((await a.store.findRun(first.run.run_id)) !== undefined).toBe(outcomes[0] === 'started')
    })

    it('pass from the run of an instance that died', async () => {
      const [a, b] = await members(2)
      const first = await begin(b, { claim: claimOf('k') })
      await takeAll(a, await kill(a, b), at(50))
      expect(await keyOf(a)).toBe(first.runId)
      const second = startOver(a, first.runId)
      expect(await a.store.startRun(second)).toMatchObject({ outcome: 'started' })
      await expect(b.store.startRun(startOver(b, second.run.run_id))).rejects.toMatchObject({ code: 'unavailable' })
      expect(await keyOf(a)).toBe(second.run.run_id)
    })
  })

  describe('bookmarks of several instances', () => {
    it('are found on all, and only the first value stays', async () => {
      const [a, b] = await members(2)
      const [one, two] = [createBookmarks(a.store, Date.now), createBookmarks(b.store, Date.now)]
      const added = await Promise.all([one.add('k', 'a'), two.add('k', 'b')])
      expect(added.filter(Boolean)).toHaveLength(1)
      const value = added[0] ? 'a' : 'b'
      expect([await one.find('k'), await two.find('k')]).toEqual([value, value])
    })

    it('stay when their instance dies; a key that it left without a value is free once that is found out', async () => {
      const [a, b] = await members(2)
      const bookmarks = createBookmarks(a.store, Date.now)
      await createBookmarks(b.store, Date.now).add('kept', 1)
      await b.store.claim(claimOf('left'))
      expect(await bookmarks.add('left', 2)).toBe(false)
      await takeAll(a, await kill(a, b), at(50))
      expect(await bookmarks.find('kept')).toBe(1)
      expect(await bookmarks.add('left', 2)).toBe(true)
      await expect(createBookmarks(b.store, Date.now).add('late', 1)).rejects.toMatchObject({ code: 'unavailable' })
    })
  })
}
