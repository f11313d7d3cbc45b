import { describe, expect, it } from 'vitest'
import { at, seedOf } from '../session-store/builders.ts'
import { begin, kill, type Members, startBy, takeAll } from './members.ts'

const seedSessions = (count: number) =>
  Array.from({ length: count }, (_, n) => seedOf({ session_id: `s${n}`, created_at: at(n) }))

export function testBackgroundWork(members: Members): void {
  describe('work in the background', () => {
    it('summarises a session in one process at a time', async () => {
      const [a, b] = await members(2)
      await a.store.createSession(seedOf({ session_id: 's' }))
      await a.store.scheduleSummary('s', at(1))
      const attempts = await Promise.all([a.store.beginSummaryJob('s'), b.store.beginSummaryJob('s')])
      expect(attempts.sort()).toEqual([0, 1])
    })

    it('lets the process try again that has the job', async () => {
      const [a, b] = await members(2)
      await a.store.createSession(seedOf({ session_id: 's' }))
      await a.store.scheduleSummary('s', at(1))
      expect(await b.store.beginSummaryJob('s')).toBe(1)
      expect(await b.store.beginSummaryJob('s')).toBe(2)
      expect(await a.store.beginSummaryJob('s')).toBe(0)
      await b.store.dropSummaryJob('s')
      await a.store.scheduleSummary('s', at(2))
      expect(await a.store.beginSummaryJob('s')).toBe(1)
    })

    it('begins the summary of a dead process again elsewhere', async () => {
      const [a, b] = await members(2)
      await a.store.createSession(seedOf({ session_id: 's' }))
      await a.store.scheduleSummary('s', at(1))
      expect(await b.store.beginSummaryJob('s')).toBe(1)
      await takeAll(a, await kill(a, b), at(50))
      expect(await a.store.listSummaryJobs()).toEqual(['s'])
      expect(await a.store.beginSummaryJob('s')).toBe(2)
    })

    it('has the notifications of a dead process sent by one other, and of no living one', async () => {
      const [a, b, c] = await members(3)
      const runIds: string[] = []
      for (const member of [b, c]) {
        const { runId } = await begin(member)
        const config = {
          config_id: 'a',
          url: 'https://hooks.test/',
          token: null,
          authentication: null,
          version: '1.0' as const,
        }
        await member.store.savePushConfig({ run_id: runId, created_at: at(1), ...config }, member.owner, 1)
        runIds.push(runId)
      }
      expect(await a.store.adoptPushConfigs(a.owner, 9)).toEqual([])
      await takeAll(a, await kill(a, b), at(50))
      const adopted = await Promise.all([a, c].map(({ store, owner }) => store.adoptPushConfigs(owner, 9)))
      expect(adopted.flat().map(({ run_id }) => run_id)).toEqual([runIds[0]])
      expect(await a.store.adoptPushConfigs(a.owner, 9)).toEqual([])
    })

    it('deletes each old session once when two do it at the same time', async () => {
      const [a, b] = await members(2)
      for (const seed of seedSessions(30)) await a.store.createSession(seed)
      let deleted = 0
      // One may find nothing while the other is at it.
      for (let left = 30, rounds = 0; left > 0 && rounds < 30; rounds++) {
        const counts = await Promise.all([a, b].map(({ store }) => store.prune({ olderThan: at(100) }, 5)))
        for (const count of counts) deleted += count
        left = await a.store.countSessions({})
      }
      expect(deleted).toBe(30)
      expect(await b.store.prune({ olderThan: at(100) }, 5)).toBe(0)
    })

    it('keeps the newest sessions when two delete the rest at the same time', async () => {
      const [a, b] = await members(2)
      for (const seed of seedSessions(20)) await a.store.createSession(seed)
      for (let rounds = 0; rounds < 20; rounds++) {
        await Promise.all([a, b].map(({ store }) => store.prune({ maxSessions: 5 }, 4)))
      }
      const { items } = await a.store.listSessions({}, { limit: 50, cursor: undefined })
      expect(items.map(({ session_id }) => session_id)).toEqual(['s19', 's18', 's17', 's16', 's15'])
    })

    it('keeps the files of a run that another process is about to start', async () => {
      const [a, b] = await members(2)
      const { file_id } = await b.store.saveFile({
        session_id: 's',
        run_id: 'r',
        bytes: new Uint8Array([1]),
        media_type: 'text/plain',
        name: null,
        url: null,
      })
      await a.store.recover('a', at(5))
      await b.store.startRun(startBy(b, { run: { run_id: 'r', session_id: 's' } }))
      expect(await a.store.findFile('s', file_id)).toMatchObject({ run_id: 'r', size: 1 })
    })
  })
}
