import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, endOf, messageOf, seedOf, startOf } from './builders.ts'

const maxReadBytes = 100_000
const large = 'many words '.repeat(4_000)

/** What a driver must do with more data than one read may give. */
export function testReadBudget(
  name: string,
  create: (maxReadBytes: number) => SessionStore | Promise<SessionStore>,
): void {
  let store: SessionStore

  async function fill(sessionId: string, texts: readonly string[], metadata: object | null = null): Promise<string[]> {
    await store.createSession(seedOf({ session_id: sessionId, created_at: at(1) }))
    const ids: string[] = []
    for (const text of texts) {
      const run = { session_id: sessionId, metadata: metadata as never }
      const start = startOf({ run, session: null, text })
      const { run_id } = start.run
      await store.startRun(start)
      await store.finishRun(endOf(run_id, { messages: [messageOf(run_id, 'assistant', `re ${text.slice(0, 9)}`)] }))
      ids.push(run_id)
    }
    return ids
  }

  describe(`session store with more data than one read gives: ${name}`, () => {
    beforeEach(async () => {
      store = await create(maxReadBytes)
      await store.open()
    })
    afterEach(() => store.close())

    it('gives as much of a history as may be, the newest, and says that there is more', async () => {
      const ids = await fill('s', [large, large, 'small', large, large, 'last'])
      const history = await store.readHistory('s', 1_000)
      expect(history.has_more).toBe(true)
      expect(history.runs.map(({ run_id }) => run_id)).toEqual(ids.slice(-4))
      for (const run of history.runs) expect(run).toEqual(await store.findRun(run.run_id))
      const before = await store.readHistory('s', 1_000, { before: ids[3] })
      expect(before.runs.map(({ run_id }) => run_id)).toEqual(ids.slice(0, 3).slice(-before.runs.length))
      expect(before.runs.length).toBeGreaterThan(0)
    })

    it('gives a run by itself that is larger than a read', async () => {
      const [id] = await fill('s', [large.repeat(4), large.repeat(5)])
      const history = await store.readHistory('s', 10)
      expect(history).toMatchObject({ has_more: true, runs: [{ messages: [{ content: large.repeat(5) }, {}] }] })
      expect((await store.findRun(id ?? ''))?.messages[0]?.content).toBe(large.repeat(4))
    })

    it('gives many readers at once what each asked for', async () => {
      const ids = await fill('s', [large, 'small', large, 'small', large])
      const found = await Promise.all([...ids, ...ids].map((id) => store.findRun(id)))
      expect(found.map((run) => run?.run_id)).toEqual([...ids, ...ids])
      const histories = await Promise.all([2, 3, 2, 3].map((limit) => store.readHistory('s', limit)))
      expect(histories.map(({ runs }) => runs.length)).toEqual([2, 3, 2, 3].map((limit) => Math.min(limit, 3)))
    })

    it('reads all records in pages that are as short as they must be', async () => {
      const ids = await fill('s', [large, large, large, 'small', large, large, large])
      const read: string[] = []
      const lengths: number[] = []
      for (let after: string | undefined; ; ) {
        const page = await store.readRecords('s', after, 100)
        after = page.at(-1)?.run_id
        if (after === undefined) break
        lengths.push(page.length)
        read.push(...page.map(({ run_id }) => run_id))
      }
      expect(read).toEqual(ids)
      expect(Math.max(...lengths)).toBeLessThan(5)
    })

    it('shows the runs of a session whatever their metadata hold', async () => {
      const ids = await fill('s', Array(6).fill('x'), { note: large.repeat(3) })
      const session = (await store.findSession('s'))?.session
      expect(session?.runs.map(({ run_id }) => run_id)).toEqual(ids)
      const listed = await store.listSessions({}, { limit: 100 })
      expect(listed.items.map(({ runs }) => runs.length)).toEqual([6])
      expect((await store.listRuns({ session_id: 's' }, { limit: 100 })).items).toHaveLength(6)
      expect((await store.findRun(ids[0] ?? ''))?.metadata).toEqual({ note: large.repeat(3) })
    })
  })
}
