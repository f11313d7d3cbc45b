import { expect, it } from 'vitest'
import { isAppError } from '../../../../src/core/error.ts'
import { createId } from '../../../../src/core/id.ts'
import type { RunPiece } from '../../../../src/core/session.ts'
import type { SessionStore } from '../../../../src/core/store.ts'
import { at, claimOf, endOf, messageOf, seedOf, startOf, textEvents } from '../../../contract/session-store/builders.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { storePair } from '../../../support/postgres/store-pair.ts'
import { seededRandom } from '../../../support/seeded-random.ts'

const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
const contents = ['one', 'two'].map((text) => Buffer.from(text))
const refused = new Set(['conflict', 'session_not_found', 'precondition_failed'])

/** What can't be when each write is whole: rows whose other half is missing. */
const halves: Record<string, string> = {
  'runs without a session': `SELECT run_id FROM run LEFT JOIN session USING (session_id)
    WHERE revision IS NULL AND parent_run_id IS DISTINCT FROM ''`,
  'sessions that count other runs': `SELECT session_id FROM session WHERE run_count <>
    (SELECT count(*) FROM run WHERE run.session_id = session.session_id AND parent_run_id IS NULL)`,
  'sums of other runs': `SELECT session_id FROM session WHERE coalesce(
      (SELECT total_tokens FROM session_usage WHERE session_usage.session_id = session.session_id), 0) <>
    5 * (SELECT count(*) FROM run WHERE run.session_id = session.session_id AND parent_run_id IS NULL
      AND strpos(ended, '"usage"') > 0)`,
  'sums without a session':
    'SELECT session_id FROM session_usage LEFT JOIN session USING (session_id) WHERE revision IS NULL',
  'two running turns': `SELECT session_id FROM run WHERE status = 'running' AND parent_run_id IS NULL
    GROUP BY session_id HAVING count(*) > 1`,
  'events without a run': 'SELECT event.run_number FROM event LEFT JOIN run USING (run_number) WHERE run_id IS NULL',
  'answers without a run': 'SELECT answer_key FROM cached_answer LEFT JOIN run USING (run_id) WHERE run_number IS NULL',
  'files without a run': 'SELECT file_id FROM file LEFT JOIN run USING (run_id) WHERE run_number IS NULL',
  'contents without a file': 'SELECT hash FROM file_content LEFT JOIN file USING (hash) WHERE file_id IS NULL',
  'files without a content': 'SELECT file_id FROM file LEFT JOIN file_content USING (hash) WHERE piece IS NULL',
  'contents to delete': 'SELECT hash FROM unused_content',
  'claims at work': 'SELECT claim_key FROM claim WHERE run_id IS NULL AND answer IS NULL',
}

describePostgres('whatever two servers write at once', () => {
  const { one, two, rows } = storePair()

  /** One thing that a server does. */
  function actions(store: SessionStore, random: () => number): (() => Promise<unknown>)[] {
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
    const chance = (of: number) => random() < of
    const session = () => pick(['s0', 's1', 's2', 's3'])
    const user = () => pick(['ann', 'bob', 'cid'])
    const time = () => at(Math.floor(random() * 1_000))
    const seed = (session_id: string) => seedOf({ session_id, user_id: user(), created_at: time() })

    async function live(fields: Partial<ReturnType<typeof startOf>['run']>, replaces?: string) {
      const session_id = fields.session_id ?? session()
      const run_id = createId('run')
      const hasFile = chance(0.5)
      const file = { session_id, run_id, media_type: 'a/b', name: null, url: null, bytes: pick(contents) }
      if (hasFile) await store.saveFile(file)
      const start = startOf({
        run: { user_id: user(), created_at: time(), ...fields, session_id, run_id },
        session: chance(0.7) && fields.parent_run_id === undefined ? seed(session_id) : null,
        claim: chance(0.3) ? claimOf(`key ${user()} POST ${Math.floor(random() * 20)}`) : null,
        state: chance(0.3) ? { [run_id]: 1 } : null,
      })
      const whenBusy = chance(0.3) ? ('queue' as const) : undefined
      const { outcome } = await store.startRun({ ...start, replaces, whenBusy })
      if (outcome !== 'started' && outcome !== 'queued') return hasFile ? store.dropFiles(run_id) : undefined
      const begun = outcome === 'started' || (await store.beginRun(run_id, 1, time())) === 'begun'
      const batch = { run_id, fence: 1, events: textEvents(run_id, 2, ['a', 'b']), reserve_until: 2_000 }
      if (begun) await store.appendEvents(batch)
      if (chance(0.3)) await store.cacheAnswer({ key: user(), run_id, expires_at: at(1e6) })
      if (begun && chance(0.2)) await live({ session_id, parent_run_id: run_id })
      const end = endOf(run_id, {
        completed_at: time(),
        end_seq: 9,
        usage,
        state: { [run_id]: 2 },
        messages: [messageOf(run_id, 'assistant', 'said')],
      })
      if (!begun) return store.finishRun({ ...end, status: 'cancelled', usage: null, messages: [], bringsBack: true })
      if (chance(0.7)) return store.finishRun({ ...end, ...(chance(0.1) && { refused: [run_id] }) })
      await store.finishRun({ ...end, status: 'input_required' })
      const reserve_until = 3_000
      const resume = { run_id, end_seq: 9, owner: 'one', at: time(), events: [], reserve_until }
      const resumed = await store.resumeRun(resume)
      const fence = resumed.outcome === 'resumed' ? resumed.fence : null
      return store.finishRun({
        ...end,
        fence,
        end_seq: 12,
        ...(fence === null && { status: 'cancelled', messages: [] }),
      })
    }

    return [
      () => live({}),
      () => live({}),
      () => live({}),
      () => live({ status: 'queued', background: true }),
      async () => {
        const session_id = session()
        const last = (await store.readHistory(session_id, 3)).runs.at(0)
        if (last !== undefined) await live({ session_id }, last.run_id)
      },
      async () => {
        const session_id = session()
        const last = (await store.readHistory(session_id, 3, { replaced: true })).runs.find((run) => run.replaced_by)
        if (last !== undefined) await store.restoreTurn(last.run_id, time())
      },
      () => store.createSession(seed(session()), chance(0.5) ? claimOf(user()) : undefined),
      () => store.updateSession(session(), { state: { patched: random() } }, time(), pick([undefined, 3])),
      () => store.shareSession(session(), { user_id: user() }, time()),
      () => store.unshareSession(session(), 'user', user(), time()),
      async () => chance(0.3) && store.deleteSession(session()),
      async () => chance(0.3) && store.prune({ olderThan: at(500) }, 2),
      async () => chance(0.3) && store.prune({ maxSessions: 3 }, 1),
      () => store.eraseUser(user(), 3),
      () => store.deleteTries(at(500), 5),
      async () => {
        const session_id = session()
        const last = (await store.readHistory(session_id, 1)).runs.at(0)?.run_id
        await store.scheduleSummary(session_id, time())
        await store.beginSummaryJob(session_id)
        const summary = { session_id, content: 'x', model: 'm', run_count: 1, message_count: 1, created_at: time() }
        await store.saveSummary(summary, last)
      },
      async () => {
        const found = await store.findSession(session())
        if (found === undefined) return
        const session_id = createId('ses')
        const records = await store.readRecords(found.session.session_id, undefined, 20)
        async function* runs(): AsyncGenerator<RunPiece> {
          for (const run of records) {
            const run_id = `${run.run_id}-${session_id}`
            if (run.parent_run_id === null && run.end_seq !== null) {
              const { follows: _follows, ...copied } = run
              yield { run: { ...copied, run_id, session_id, replaced_by: null } }
              yield {
                run_id,
                file: { file_id: run_id, media_type: 'a/b', name: null, url: null, bytes: pick(contents) },
              }
            }
          }
        }
        await store.restoreSession({ session: { ...found.session, session_id }, summary: null, runs: runs() })
        if (chance(0.5)) await store.deleteSession(session_id)
      },
    ]
  }

  it('fits together, and nobody is told that it failed', { timeout: 120_000 }, async () => {
    const random = seededRandom()
    const failures: unknown[] = []
    const work = async (store: SessionStore) => {
      const all = actions(store, random)
      for (let step = 0; step < 40; step++) {
        await all[Math.floor(random() * all.length)]?.().catch((error: unknown) => {
          if (!isAppError(error) || !refused.has(error.code)) failures.push(error)
        })
      }
    }
    await Promise.all([one(), two(), one(), two(), one(), two()].map(work))
    expect(failures).toEqual([])
    for (const store of [one(), two()]) await store.recover('recovers', at(2_000))
    const found: Record<string, unknown[]> = {}
    for (const [name, text] of Object.entries(halves)) {
      const wrong = await rows(text)
      if (wrong.length > 0) found[name] = wrong
    }
    expect(found).toEqual({})
  })
})
