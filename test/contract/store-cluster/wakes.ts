import { describe, expect, it, vi } from 'vitest'
import type { StoreChange } from '../../../src/core/cluster/cluster.ts'
import { at, endOf, textEvents } from '../session-store/builders.ts'
import { begin, isTold, kill, type Member, type Members, takeAll } from './members.ts'

export function testWakes(members: Members): void {
  const append = (member: Member, runId: string, seq: number) =>
    member.store.appendEvents({
      run_id: runId,
      fence: 1,
      events: textEvents(runId, seq, ['x']),
      reserve_until: seq + 1000,
    })
  const isAwake = async (member: Member, runId: string) => {
    await isTold(member, { kind: 'events', run_id: runId })
    member.wakes.length = 0
  }

  describe('a wish to end a run', () => {
    it('reaches its owner at once, and again with each beat until the run ends', async () => {
      const [a, b] = await members(2)
      const { runId } = await begin(a)
      expect(await b.cluster.requestCancel(runId, 'user')).toBe('asked')
      await isTold(a, { kind: 'cancel', run_id: runId, reason: 'user' })
      const cancels = [{ run_id: runId, reason: 'user' }]
      expect([(await a.cluster.beat()).cancels, (await a.cluster.beat()).cancels]).toEqual([cancels, cancels])
      expect((await b.cluster.beat()).cancels).toEqual([])
      await a.store.finishRun(endOf(runId, { status: 'cancelled' }))
      expect((await a.cluster.beat()).cancels).toEqual([])
    })

    it('is only for what runs or waits', async () => {
      const [a, b] = await members(2)
      const ended = await begin(a)
      await a.store.finishRun(endOf(ended.runId))
      const paused = await begin(a)
      await a.store.finishRun(endOf(paused.runId, { status: 'input_required' }))
      const waiting = await begin(a, { run: { status: 'queued' } })
      const asked = [ended, paused, waiting].map(({ runId }) => b.cluster.requestCancel(runId, 'user'))
      expect(await Promise.all(asked)).toEqual(['not_running', 'not_running', 'asked'])
      expect(await b.cluster.requestCancel('none', 'user')).toBe('not_running')
    })

    it('keeps a run that waits from its beginning', async () => {
      const [a, b] = await members(2)
      const { runId } = await begin(a, { run: { status: 'queued' } })
      await b.cluster.requestCancel(runId, 'user')
      expect(await a.store.beginRun(runId, 1, at(2))).not.toBe('begun')
      expect(await a.store.finishRun(endOf(runId, { status: 'cancelled' }))).toBe('ok')
    })
  })

  describe('a run that is followed', () => {
    it('wakes its followers after new events and after its end', async () => {
      const [a, b, c] = await members(3)
      const { runId } = await begin(a)
      for (const { cluster } of [b, c]) cluster.follow(runId)
      await append(a, runId, 2)
      await Promise.all([isAwake(b, runId), isAwake(c, runId)])
      expect((await b.store.readEvents(runId, 1, 10)).map(({ seq }) => seq)).toEqual([2])
      await append(a, runId, 3)
      await isAwake(b, runId)
      await a.store.finishRun(endOf(runId, { end_seq: 4 }))
      await isAwake(b, runId)
      for (const { cluster } of [b, c]) cluster.unfollow(runId)
    })

    it('wakes nobody who does not follow it, or no longer', async () => {
      const [a, b, c] = await members(3)
      const [run, other] = [await begin(a), await begin(a)]
      for (const { runId } of [run, other]) b.cluster.follow(runId)
      c.cluster.follow(other.runId)
      await append(a, other.runId, 2)
      await Promise.all([isAwake(b, other.runId), isAwake(c, other.runId)])
      b.cluster.unfollow(other.runId)
      await append(a, other.runId, 3)
      await isAwake(c, other.runId)
      await append(a, run.runId, 2)
      await isAwake(b, run.runId)
      expect(c.wakes).not.toContainEqual({ kind: 'events', run_id: run.runId })
      for (const { cluster } of [b, c]) for (const { runId } of [run, other]) cluster.unfollow(runId)
    })

    it('wakes its followers when it begins after it waited', async () => {
      const [a, b] = await members(2)
      const first = await begin(a, { run: { session_id: 's' } })
      const second = await begin(a, { run: { session_id: 's' } })
      b.cluster.follow(second.runId)
      await a.store.finishRun(endOf(first.runId))
      b.wakes.length = 0
      expect(await a.store.beginRun(second.runId, 1, at(2))).toBe('begun')
      await isAwake(b, second.runId)
      b.cluster.unfollow(second.runId)
    })

    it('wakes its followers when it is taken over', async () => {
      const [a, b, c] = await members(3)
      const { runId } = await begin(b)
      c.cluster.follow(runId)
      await takeAll(a, await kill(a, b), at(50))
      await isAwake(c, runId)
      expect(await c.store.findRun(runId)).toMatchObject({ status: 'interrupted' })
      c.cluster.unfollow(runId)
    })

    it('wakes its followers when another instance resumes it', async () => {
      const [a, b, c] = await members(3)
      const { runId } = await begin(a)
      c.cluster.follow(runId)
      await a.store.finishRun(endOf(runId, { status: 'input_required' }))
      await isAwake(c, runId)
      const resume = { run_id: runId, end_seq: 2, owner: 'b', at: at(3), events: [], reserve_until: 2000 }
      expect(await b.store.resumeRun(resume)).toMatchObject({ outcome: 'resumed', fence: 2 })
      const batch = { run_id: runId, fence: 2, events: textEvents(runId, 3, ['x']), reserve_until: 3000 }
      expect(await b.store.appendEvents(batch)).toBe('ok')
      await isAwake(c, runId)
      c.cluster.unfollow(runId)
    })
  })

  describe('changes', () => {
    const heard = async (changes: StoreChange[], expected: StoreChange[]) =>
      vi.waitFor(() => expect(changes).toEqual(expected), { timeout: 20_000 })

    it('are told to the others who watch, in order, until they stop', async () => {
      const [a, b, c] = await members(3)
      const [toB, toC]: StoreChange[][] = [[], []]
      expect(a.cluster.isWatched).toBe(false)
      await Promise.all([
        b.cluster.watch((change) => toB?.push(change)),
        c.cluster.watch((change) => toC?.push(change)),
      ])
      expect([a.cluster.isWatched, b.cluster.isWatched]).toEqual([true, true])
      const changes: StoreChange[] = [
        { kind: 'run', id: 'r' },
        { kind: 'deleted', id: 's', users: ['u'] },
        { kind: 'lists', id: 'shared', users: ['u', 'v'] },
      ]
      for (const change of changes) a.cluster.publish(change)
      await Promise.all([heard(toB ?? [], changes), heard(toC ?? [], changes)])
      b.cluster.unwatch()
      a.cluster.publish({ kind: 'session', id: 's' })
      await heard(toC ?? [], [...changes, { kind: 'session', id: 's' }])
      expect(toB).toEqual(changes)
      c.cluster.unwatch()
      await vi.waitFor(() => expect(a.cluster.isWatched).toBe(false), { timeout: 20_000 })
    })

    it('are not told to the one who published them', async () => {
      const [a, b] = await members(2)
      const [toA, toB]: StoreChange[][] = [[], []]
      await a.cluster.watch((change) => toA?.push(change))
      await b.cluster.watch((change) => toB?.push(change))
      a.cluster.publish({ kind: 'run', id: 'one' })
      b.cluster.publish({ kind: 'run', id: 'two' })
      await heard(toB ?? [], [{ kind: 'run', id: 'one' }])
      await heard(toA ?? [], [{ kind: 'run', id: 'two' }])
      for (const { cluster } of [a, b]) cluster.unwatch()
    })
  })
}
