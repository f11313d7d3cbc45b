import { describe, expect, it } from 'vitest'
import { at, claimOf, endOf, eventOf, messageOf, seedOf, textEvents } from '../session-store/builders.ts'
import { begin, isTold, kill, type Members, peerOf, startBy, takeAll } from './members.ts'

export function testTakeover(members: Members): void {
  describe('takeover', () => {
    it('interrupts what ran and what waited in the foreground, and keeps partial output', async () => {
      const [a, b] = await members(2)
      const { runId, sessionId, revision } = await begin(b, { run: { session_id: 's' } })
      const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
      const events = [
        ...textEvents(runId, 2, ['Half ', 'an answer']),
        eventOf(runId, 4, { type: 'model_call_end', call_id: 'c', usage, finish_reason: 'stop', duration_ms: 1 }),
      ]
      await b.store.appendEvents({ run_id: runId, fence: 1, events, reserve_until: 1006 })
      const waiting = await begin(b, { run: { session_id: 's' } })
      const { interrupted, queued } = await a.cluster.takeOver(await kill(a, b), at(50), 10)
      expect(queued).toEqual([])
      expect(interrupted).toMatchObject([
        { run_id: runId, status: 'interrupted', completed_at: at(50), usage },
        { run_id: waiting.runId, status: 'interrupted', started_at: null },
      ])
      const run = await a.store.findRun(runId)
      expect(run).toMatchObject({ status: 'interrupted', truncated: true, end_seq: 1007 })
      expect(run?.messages.map(({ role, content }) => [role, content])).toEqual([
        ['user', 'hi'],
        ['assistant', 'Half an answer'],
      ])
      expect(await a.store.findRun(waiting.runId)).toMatchObject({ truncated: false, end_seq: 1001 })
      const overview = await a.store.findOverview(sessionId)
      expect(overview?.usage).toMatchObject(usage)
      expect((await a.store.findSession(sessionId))?.revision).toBeGreaterThan(revision ?? 0)
      expect(await begin(a, { run: { session_id: 's' } })).toMatchObject({ outcome: 'started' })
    })

    it('hands background runs that wait to the taker, oldest first, with their own input', async () => {
      const [a, b] = await members(2)
      const first = await begin(a, { run: { session_id: 's' } })
      const waiting = { run: { session_id: 's', background: true } }
      const [second, third] = [await begin(b, waiting), await begin(b, waiting)]
      const hidden = { ...startBy(b, { ...waiting, text: 'secret' }), unchecked: true }
      await b.store.startRun(hidden)
      const { queued, interrupted } = await a.cluster.takeOver(await kill(a, b), at(50), 10)
      expect(interrupted).toEqual([])
      expect(queued.map(({ run }) => run.run_id)).toEqual([second.runId, third.runId, hidden.run.run_id])
      expect(queued[2]).toMatchObject({ unchecked: true, run: { messages: [{ content: 'secret' }] } })
      expect(queued[0]?.unchecked).toBeUndefined()
      await a.store.finishRun(endOf(first.runId))
      expect(await a.store.beginRun(second.runId, queued[0]?.fence ?? 0, at(51))).toBe('begun')
    })

    it('takes so many at once, oldest first, until no more are there', async () => {
      const [a, b] = await members(2)
      const runs: string[] = []
      for (let n = 0; n < 5; n++) runs.push((await begin(b)).runId)
      const key = await kill(a, b)
      const taken: string[][] = []
      for (let n = 0; n < 4; n++) {
        const { interrupted } = await a.cluster.takeOver(key, at(50), 2)
        taken.push(interrupted.map(({ run_id }) => run_id))
      }
      expect(taken).toEqual([runs.slice(0, 2), runs.slice(2, 4), runs.slice(4), []])
    })

    it('shares the runs between two takers without doubles', async () => {
      const [a, b, c] = await members(3)
      const runs = await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          begin(b, { run: n % 2 === 0 ? {} : { status: 'queued', background: true } }),
        ),
      )
      const key = await kill(a, b)
      const [one, two] = await Promise.all([takeAll(a, key, at(50), 5), takeAll(c, key, at(50), 5)])
      const all = [one, two].flatMap(({ interrupted, queued }) => [...interrupted, ...queued.map(({ run }) => run)])
      expect(all.map(({ run_id }) => run_id).sort()).toEqual(runs.map(({ runId }) => runId).sort())
      for (const { runId } of runs) {
        const run = await a.store.findRun(runId)
        expect(['interrupted', 'queued']).toContain(run?.status)
        if (run?.status === 'interrupted') expect(run.end_seq).toBe(1001)
      }
    })

    it('takes nothing of an instance that is alive, or that never was', async () => {
      const [a, b] = await members(2)
      const { runId } = await begin(b)
      const { key } = await peerOf(a, b)
      expect(await a.cluster.takeOver(key, at(50), 10)).toEqual({ interrupted: [], queued: [] })
      expect(await a.cluster.takeOver(999_999, at(50), 10)).toEqual({ interrupted: [], queued: [] })
      expect(await b.store.finishRun(endOf(runId))).toBe('ok')
    })

    it('is refused to an instance that was declared dead itself', async () => {
      const [a, b, c] = await members(3)
      const { runId } = await begin(b)
      const key = await kill(a, b)
      await kill(a, c)
      await expect(c.cluster.takeOver(key, at(50), 10)).rejects.toMatchObject({ code: 'unavailable' })
      expect(await a.store.findRun(runId)).toMatchObject({ status: 'running' })
    })

    it('is asked for in each beat until nothing is left of the dead', async () => {
      const [a, b, c] = await members(3)
      await begin(b)
      await begin(b)
      expect((await a.cluster.beat()).orphaned).toEqual([])
      const key = await kill(a, b)
      expect((await c.cluster.beat()).orphaned).toEqual([key])
      await a.cluster.takeOver(key, at(50), 1)
      expect((await c.cluster.beat()).orphaned).toEqual([key])
      await takeAll(a, key, at(50))
      expect((await c.cluster.beat()).orphaned).toEqual([])
    })

    it('gives what the taker got to the next one when the taker dies too', async () => {
      const [a, b, c] = await members(3)
      const { runId } = await begin(b, { run: { status: 'queued', background: true } })
      await takeAll(c, await kill(c, b), at(50))
      const { queued } = await takeAll(a, await kill(a, c), at(51))
      expect(queued).toMatchObject([{ run: { run_id: runId }, fence: 3 }])
    })

    it('refuses the unchecked input of what it interrupts', async () => {
      const [a, b] = await members(2)
      const start = { ...startBy(b, { text: 'secret' }), unchecked: true }
      await b.store.startRun(start)
      await takeAll(a, await kill(a, b), at(50))
      const run = await a.store.findRun(start.run.run_id)
      expect(JSON.stringify(run)).not.toContain('secret')
      expect(run?.messages[0]?.parts).toEqual([{ type: 'data', data: { refused: true } }])
    })

    it('brings the turns back that a silent run had replaced', async () => {
      const [a, b] = await members(2)
      await b.store.createSession(seedOf({ session_id: 's', state: { n: 1 } }))
      const inSession = { run: { session_id: 's' }, session: null }
      const first = await begin(b, inSession)
      const messages = [messageOf(first.runId, 'assistant', 'yes')]
      await b.store.finishRun(endOf(first.runId, { messages, state: { n: 2 } }))
      const second = { ...startBy(b, inSession), replaces: first.runId }
      await b.store.startRun(second)
      expect((await a.store.findSession('s'))?.session.state).toEqual({ n: 1 })
      await takeAll(a, await kill(a, b), at(50))
      const { runs } = await a.store.readHistory('s', 10)
      expect(runs.map(({ run_id }) => run_id)).toEqual([first.runId])
      expect((await a.store.findSession('s'))?.session.state).toEqual({ n: 2 })
    })

    it('takes the runs inside a run with it', async () => {
      const [a, b] = await members(2)
      const parent = await begin(b, { run: { session_id: 's' } })
      const child = await begin(b, { run: { session_id: 's', parent_run_id: parent.runId }, session: null })
      const { interrupted } = await takeAll(a, await kill(a, b), at(50))
      expect(interrupted.map(({ run_id }) => run_id)).toEqual([parent.runId, child.runId])
    })

    it('gives the turn to the next run of another instance', async () => {
      const [a, b, c] = await members(3)
      await begin(b, { run: { session_id: 's' } })
      const next = await begin(c, { run: { session_id: 's' } })
      await takeAll(a, await kill(a, b), at(50))
      await isTold(c, { kind: 'turn', run_id: next.runId })
      expect(await c.store.beginRun(next.runId, 1, at(51))).toBe('begun')
    })

    it('keeps the wish to end a run that waited', async () => {
      const [a, b] = await members(2)
      const { runId } = await begin(b, { run: { status: 'queued', background: true } })
      await a.cluster.requestCancel(runId, 'user')
      await takeAll(a, await kill(a, b), at(50))
      expect((await a.cluster.beat()).cancels).toEqual([{ run_id: runId, reason: 'user' }])
    })
  })

  describe('idempotency keys at work', () => {
    it('survive the joining and recovery of others, and are released when their owner is taken over', async () => {
      const [a, b, c] = await members(3)
      await b.store.claim(claimOf('work'))
      await b.store.claim(claimOf('answered'))
      await b.store.completeClaim('answered', { ok: true })
      await c.store.claim(claimOf('other'))
      await a.store.recover('a', at(5))
      expect(await a.store.claim(claimOf('work'))).toMatchObject({ run_id: null, answer: null })
      await takeAll(a, await kill(a, b), at(50))
      expect(await a.store.claim(claimOf('work'))).toBeUndefined()
      expect(await a.store.findClaim('answered')).toMatchObject({ answer: { ok: true } })
      expect(await a.store.claim(claimOf('other'))).toMatchObject({ run_id: null })
    })

    it('are asked for in each beat when their owner has left nothing else', async () => {
      const [a, b] = await members(2)
      await b.store.claim(claimOf('k'))
      const { key } = await peerOf(a, b)
      await b.cluster.leave()
      expect((await a.cluster.beat()).orphaned).toEqual([key])
      await takeAll(a, key, at(50))
      expect((await a.cluster.beat()).orphaned).toEqual([])
      expect(await a.store.claim(claimOf('k'))).toBeUndefined()
    })

    it('are kept by the next one who takes a key that was released', async () => {
      const [a, b] = await members(2)
      await b.store.claim(claimOf('k'))
      await b.store.releaseClaim('k')
      expect(await a.store.claim(claimOf('k'))).toBeUndefined()
      await takeAll(a, await kill(a, b), at(50))
      expect(await a.store.findClaim('k')).toMatchObject({ run_id: null })
    })
  })
}
