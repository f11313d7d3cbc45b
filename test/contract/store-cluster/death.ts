import { describe, expect, it } from 'vitest'
import { at, claimOf, endOf, startOf, textEvents } from '../session-store/builders.ts'
import { begin, instanceOf, isTold, join, kill, type Members, peerOf, startBy, takeAll } from './members.ts'

export function testDeath(members: Members): void {
  describe('instances', () => {
    it('see each other, and what the others say of themselves', async () => {
      const [a, b] = await members(2)
      const { peers, lost } = await a.cluster.beat()
      expect(lost).toBe(false)
      const { role: _role, ...shown } = instanceOf('b')
      expect(peers).toEqual([
        { ...shown, key: expect.any(Number), knows: expect.any(Number), beat: expect.any(String) },
      ])
      expect((await b.cluster.beat()).peers.map(({ owner }) => owner)).toEqual(['a'])
    })

    it('learn on joining who is there', async () => {
      const [a] = await members(2)
      await a.cluster.leave()
      const peers = await a.cluster.join(instanceOf('again'))
      expect(peers.map(({ owner }) => owner)).toEqual(['b'])
    })

    it('are declared dead only while their beat is the same, and once', async () => {
      const [a, b, c] = await members(3)
      const { key, beat } = await peerOf(a, b)
      expect((await peerOf(c, b)).beat).toBe(beat)
      await b.cluster.beat()
      expect(await a.cluster.declareDead(key, beat)).toBe(false)
      expect((await b.cluster.beat()).lost).toBe(false)
      const { beat: later } = await peerOf(a, b)
      expect(later).not.toBe(beat)
      const declared = await Promise.all([a.cluster.declareDead(key, later), c.cluster.declareDead(key, later)])
      expect(declared.sort()).toEqual([false, true])
      expect((await a.cluster.beat()).peers.map(({ owner }) => owner)).toEqual(['c'])
    })

    it('learn from their beat that they were declared dead, and can join under another name', async () => {
      const [a, b] = await members(2)
      await kill(a, b)
      expect(await b.cluster.beat()).toMatchObject({ lost: true })
      await b.cluster.join(instanceOf('b2'))
      expect(await b.cluster.beat()).toMatchObject({ lost: false })
      expect((await a.cluster.beat()).peers.map(({ owner }) => owner)).toEqual(['b2'])
      expect(await begin({ ...b, owner: 'b2' })).toMatchObject({ outcome: 'started' })
    })

    it('start and resume nothing once they are declared dead', async () => {
      const [a, b] = await members(2)
      const paused = await begin(a)
      await a.store.finishRun(endOf(paused.runId, { status: 'input_required' }))
      await kill(a, b)
      const start = startBy(b, { claim: claimOf('k') })
      await expect(b.store.startRun(start)).rejects.toMatchObject({ code: 'unavailable' })
      await expect(b.store.claim(claimOf('other'))).rejects.toMatchObject({ code: 'unavailable' })
      const resume = { run_id: paused.runId, end_seq: 2, owner: 'b', at: at(3), events: [], reserve_until: 2000 }
      await expect(b.store.resumeRun(resume)).rejects.toMatchObject({ code: 'unavailable' })
      expect(await a.store.findRun(start.run.run_id)).toBeUndefined()
      expect(await a.store.findSession(start.run.session_id)).toBeUndefined()
      expect(await a.store.claim(claimOf('k'))).toBeUndefined()
    })

    it('write nothing any more to a run that was taken over', async () => {
      const [a, b] = await members(2)
      const { runId } = await begin(b)
      const waiting = await begin(b, { run: { session_id: 's', status: 'queued', background: true } })
      await takeAll(a, await kill(a, b), at(9))
      const before = await a.store.findRun(runId)
      const batch = { run_id: runId, fence: 1, events: textEvents(runId, 2, ['x']), reserve_until: 5000 }
      expect(await b.store.appendEvents(batch)).toBe('fenced')
      expect(['fenced', 'already_final']).toContain(await b.store.finishRun(endOf(runId)))
      expect(await b.store.beginRun(waiting.runId, 1, at(9))).toBe('gone')
      expect(await b.store.finishRun(endOf(waiting.runId))).toBe('fenced')
      expect(await a.store.findRun(runId)).toEqual(before)
      expect(await a.store.findRun(waiting.runId)).toMatchObject({ status: 'queued' })
    })

    it('record what they have until their run is taken over', async () => {
      const [a, b] = await members(2)
      const { runId } = await begin(b)
      await kill(a, b)
      const batch = { run_id: runId, fence: 1, events: textEvents(runId, 2, ['x']), reserve_until: 5000 }
      expect(await b.store.appendEvents(batch)).toBe('ok')
      expect(await b.store.finishRun(endOf(runId))).toBe('ok')
      expect(await a.store.findRun(runId)).toMatchObject({ status: 'completed' })
    })
  })

  describe('leaving', () => {
    it('is told to the others, who may take what is left at once', async () => {
      const [a, b] = await members(2)
      const waiting = await begin(b, { run: { session_id: 's', status: 'queued', background: true } })
      const { key } = await peerOf(a, b)
      expect((await a.cluster.takeOver(key, at(5), 10)).queued).toEqual([])
      await b.cluster.leave()
      await isTold(a, { kind: 'left', key })
      const beat = await a.cluster.beat()
      expect(beat).toMatchObject({ peers: [], orphaned: [key] })
      const { queued } = await takeAll(a, key, at(5))
      expect(queued.map(({ run }) => run.run_id)).toEqual([waiting.runId])
      expect((await a.cluster.beat()).orphaned).toEqual([])
    })

    it('ends what the instance may do', async () => {
      const [a, b] = await members(2)
      const { key, beat } = await peerOf(a, b)
      await b.cluster.leave()
      expect(await a.cluster.declareDead(key, beat)).toBe(false)
      expect(await b.cluster.beat()).toMatchObject({ lost: true })
      await expect(b.store.startRun(startBy(b))).rejects.toMatchObject({ code: 'unavailable' })
    })
  })

  describe('guests', () => {
    it('are seen by the others, and their runs are taken over', async () => {
      const [a, b] = await members(2)
      await b.cluster.leave()
      const guest = await join(b.store, 'guest', 'guest')
      const { runId } = await begin(guest)
      const { interrupted } = await takeAll(a, await kill(a, guest), at(5))
      expect(interrupted).toMatchObject([{ run_id: runId, status: 'interrupted' }])
    })

    it('take over nothing and are told of no orphans', async () => {
      const [a, b, c] = await members(3)
      await c.cluster.leave()
      const guest = await join(c.store, 'guest', 'guest')
      await begin(b)
      const key = await kill(a, b)
      expect((await a.cluster.beat()).orphaned).toEqual([key])
      expect((await guest.cluster.beat()).orphaned).toEqual([])
      expect(await guest.cluster.takeOver(key, at(5), 10)).toEqual({ interrupted: [], queued: [] })
      expect((await a.cluster.takeOver(key, at(5), 10)).interrupted).toHaveLength(1)
    })
  })

  describe('recovery beside others', () => {
    it('leaves alone what instances own that are alive', async () => {
      const [a, b] = await members(2)
      const { runId } = await begin(b)
      await b.store.claim(claimOf('k'))
      const stranger = startOf({ owner: 'never joined' })
      await a.store.startRun(stranger)
      const { interrupted } = await a.store.recover('a', at(9))
      expect(interrupted.map(({ run_id }) => run_id)).toEqual([stranger.run.run_id])
      expect(await a.store.findRun(runId)).toMatchObject({ status: 'running' })
      expect(await a.store.findClaim('k')).toMatchObject({ run_id: null, answer: null })
    })

    it('takes what the dead and those who left still own', async () => {
      const [a, b, c] = await members(3)
      const runs = [await begin(b), await begin(c)].map(({ runId }) => runId)
      await kill(a, b)
      await c.cluster.leave()
      const { interrupted } = await a.store.recover('a', at(9))
      expect(interrupted.map(({ run_id }) => run_id)).toEqual(runs)
    })
  })
}
