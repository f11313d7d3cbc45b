import { describe, expect, it } from 'vitest'
import { at, claimOf, endOf, seedOf } from '../session-store/builders.ts'
import { begin, isTold, type Members, startBy } from './members.ts'

export function testSharedTurns(members: Members): void {
  const sessionId = 's'
  const inSession = { run: { session_id: sessionId } }

  describe('turns of one session', () => {
    it('one runs and one waits when two start at once', async () => {
      const [a, b] = await members(2)
      const starts = [startBy(a, inSession), startBy(b, inSession)] as const
      const started = await Promise.all([a.store.startRun(starts[0]), b.store.startRun(starts[1])])
      expect(started.map(({ outcome }) => outcome).sort()).toEqual(['queued', 'started'])
      const waiting = starts[started.findIndex(({ outcome }) => outcome === 'queued')]
      expect(await a.store.findRun(waiting?.run.run_id ?? '')).toMatchObject({ status: 'queued', started_at: null })
      const records = await a.store.listRuns({ session_id: sessionId }, { limit: 10, cursor: undefined })
      expect(records.items.map(({ status }) => status).sort()).toEqual(['queued', 'running'])
    })

    it('one of many starts at once runs, whoever asks', async () => {
      const all = await members(3)
      const starts = all.flatMap((member) =>
        Array.from({ length: 5 }, () => ({ member, start: startBy(member, inSession) })),
      )
      const started = await Promise.all(starts.map(({ member, start }) => member.store.startRun(start)))
      const outcomes = started.map(({ outcome }) => outcome)
      expect(outcomes.filter((outcome) => outcome === 'started')).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome === 'queued')).toHaveLength(14)
    })

    it('begin in the order in which they came', async () => {
      const [a, b] = await members(2)
      const first = await begin(a, inSession)
      const second = await begin(b, inSession)
      const third = await begin(a, inSession)
      expect([first.outcome, second.outcome, third.outcome]).toEqual(['started', 'queued', 'queued'])
      expect(await b.store.beginRun(second.runId, 1, at(2))).toBe('wait')
      await a.store.finishRun(endOf(first.runId))
      expect(await a.store.beginRun(third.runId, 1, at(2))).toBe('wait')
      expect(await b.store.beginRun(second.runId, 1, at(3))).toBe('begun')
      expect(await a.store.beginRun(third.runId, 1, at(4))).toBe('wait')
      await b.store.finishRun(endOf(second.runId))
      expect(await a.store.beginRun(third.runId, 1, at(5))).toBe('begun')
    })

    it('begin once, however often and wherever it is tried', async () => {
      const [a, b] = await members(2)
      const first = await begin(a, inSession)
      const { runId } = await begin(b, inSession)
      await a.store.finishRun(endOf(first.runId))
      const tries = Array.from({ length: 6 }, (_, n) => (n % 2 === 0 ? a : b).store.beginRun(runId, 1, at(2)))
      expect((await Promise.all(tries)).sort()).toEqual(['begun', ...Array(5).fill('gone')])
    })

    it('are told to the owner of the next one when the one before ends', async () => {
      const [a, b] = await members(2)
      const first = await begin(a, inSession)
      const second = await begin(b, inSession)
      const third = await begin(a, inSession)
      await a.store.finishRun(endOf(first.runId))
      await isTold(b, { kind: 'turn', run_id: second.runId })
      await b.store.finishRun(endOf(second.runId, { status: 'cancelled' }))
      await isTold(a, { kind: 'turn', run_id: third.runId })
    })

    it('are refused on both sides while another runs or waits, when they may not wait', async () => {
      const [a, b] = await members(2)
      const first = await begin(a, inSession)
      const refusing = (member: typeof a) =>
        member.store.startRun({ ...startBy(member, { ...inSession, session: null }), whenBusy: 'refuse' })
      expect([await refusing(a), await refusing(b)]).toEqual([{ outcome: 'busy' }, { outcome: 'busy' }])
      const second = await begin(b, inSession)
      await a.store.finishRun(endOf(first.runId))
      expect([await refusing(a), await refusing(b)]).toEqual([{ outcome: 'busy' }, { outcome: 'busy' }])
      await b.store.finishRun(endOf(second.runId, { status: 'cancelled' }))
      expect(await refusing(b)).toMatchObject({ outcome: 'started' })
    })

    it('wait a hundred at most, those of all processes', async () => {
      const [a, b] = await members(2)
      const first = await begin(a, inSession)
      const waiting = Array.from({ length: 100 }, (_, n) => begin(n % 2 === 0 ? a : b, inSession))
      const [next] = await Promise.all(waiting)
      expect(await a.store.startRun(startBy(a, { ...inSession, claim: claimOf('k') }))).toEqual({ outcome: 'full' })
      expect(await b.store.startRun(startBy(b, inSession))).toEqual({ outcome: 'full' })
      expect(await a.store.findClaim('k')).toBeUndefined()
      expect(await begin(b)).toMatchObject({ outcome: 'started' })
      await a.store.finishRun(endOf(first.runId))
      await a.store.finishRun(endOf(next?.runId ?? '', { status: 'cancelled' }))
      expect(await begin(b, inSession)).toMatchObject({ outcome: 'queued' })
    })

    it('wait a hundred at most, also when their process knows that they wait', async () => {
      const [a, b] = await members(2)
      const waits = { run: { session_id: sessionId, status: 'queued' as const } }
      await begin(a, inSession)
      const first = await Promise.all(Array.from({ length: 60 }, () => begin(a, waits)))
      expect(first.map(({ outcome }) => outcome)).toEqual(Array(60).fill('queued'))
      const starts = Array.from({ length: 50 }, (_, n) => b.store.startRun(startBy(b, n % 2 === 0 ? waits : inSession)))
      const outcomes = (await Promise.all(starts)).map(({ outcome }) => outcome)
      expect(outcomes.filter((outcome) => outcome === 'queued')).toHaveLength(40)
      expect(outcomes.filter((outcome) => outcome === 'full')).toHaveLength(10)
      expect(await a.store.startRun(startBy(a, waits))).toEqual({ outcome: 'full' })
      // An interrupting run takes the place of those that wait.
      expect(await a.store.startRun({ ...startBy(a, waits), whenBusy: undefined })).toMatchObject({ outcome: 'queued' })
    })

    it('start beside the runs inside a turn, which never wait', async () => {
      const [a, b] = await members(2)
      const { runId } = await begin(a, inSession)
      const child = { run: { session_id: sessionId, parent_run_id: runId }, session: null }
      expect(await begin(a, child)).toMatchObject({ outcome: 'started' })
      const next = await begin(b, inSession)
      expect(next.outcome).toBe('queued')
      expect(await begin(a, child)).toMatchObject({ outcome: 'started' })
    })

    it('say which change of the session they are, so that a process sees the changes of others', async () => {
      const [a, b] = await members(2)
      await a.store.createSession(seedOf({ session_id: sessionId }))
      const revisionNow = async () => (await a.store.findSession(sessionId))?.revision
      const before = (await revisionNow()) ?? 0
      const first = await begin(a, inSession)
      expect(first.revision).toBe(before + 1)
      expect(await revisionNow()).toBe(first.revision)
      await b.store.updateSession(sessionId, { name: 'other' }, at(3))
      const second = await begin(b, inSession)
      expect(second.revision).toBe(before + 3)
    })

    it('run once for one key that is used on three at once', async () => {
      const all = await members(3)
      const starts = all.map((member) => ({ member, start: startBy(member, { claim: claimOf('k') }) }))
      const started = await Promise.all(starts.map(({ member, start }) => member.store.startRun(start)))
      expect(started.map(({ outcome }) => outcome).sort()).toEqual(['claimed', 'claimed', 'started'])
      const winner = starts[started.findIndex(({ outcome }) => outcome === 'started')]?.start.run.run_id
      for (const answer of started) if (answer.outcome === 'claimed') expect(answer.claim.run_id).toBe(winner)
      const { items } = await all[0].store.listRuns({}, { limit: 10, cursor: undefined })
      expect(items.map(({ run_id }) => run_id)).toEqual([winner])
    })
  })
}
