import { describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { searchWordsOf } from '../../../src/core/text/message-search.ts'
import { at, claimOf, endOf, messageOf, seedOf, startOf, textEvents } from './builders.ts'

/** In a session, a run of a user that said and answered something, under a key. */
async function say(store: SessionStore, sessionId: string, userId: string, text: string): Promise<string> {
  const start = startOf({
    run: { session_id: sessionId, user_id: userId, metadata: { note: text } },
    text,
    claim: claimOf(`key ${userId} POST /run ${text}`),
  })
  const runId = start.run.run_id
  await store.startRun(start)
  await store.finishRun(
    endOf(runId, {
      end_seq: 4,
      events: textEvents(runId, 2, [`re: ${text}`]),
      messages: [messageOf(runId, 'assistant', `re: ${text}`)],
      error: { code: 'internal', message: `about ${text}` },
    }),
  )
  return runId
}

async function erase(store: SessionStore, userId: string): Promise<void> {
  for (let step = 0; (await store.eraseUser(userId, 2)) > 0; step++) expect(step).toBeLessThan(20)
}

export function testErasing(store: () => SessionStore): void {
  describe('erasing a user', () => {
    it('takes what was said in sessions of others, and leaves the rows, and what others said', async () => {
      await store().createSession(seedOf({ session_id: 'shared', user_id: 'ann' }))
      await store().shareSession('shared', { user_id: 'bob' }, at(1))
      const own: string[] = []
      for (const text of ['walrus', 'heron', 'ibis']) own.push(await say(store(), 'shared', 'ann', text))
      const others = await say(store(), 'shared', 'bob', 'pelican')
      const summary = { content: 'walrus', model: 'm', run_count: 4, message_count: 8, created_at: at(2) }
      await store().saveSummary({ session_id: 'shared', ...summary })
      await store().cacheAnswer({ key: 'question', run_id: own[0] ?? '', expires_at: at(86_400 * 365) })
      await store().searchMessages({ words: searchWordsOf('walrus') }, { limit: 1 })

      await erase(store(), 'ann')
      for (const runId of own) {
        expect(await store().findRun(runId)).toMatchObject({
          run_id: runId,
          session_id: 'shared',
          status: 'completed',
          user_id: null,
          metadata: null,
          messages: [],
          error: { code: 'internal', message: 'erased' },
        })
        expect((await store().readEvents(runId, 0, 10)).filter(({ type }) => type === 'text_delta')).toEqual([])
      }
      expect((await store().findRun(others))?.messages).toHaveLength(2)
      const { session } = (await store().findSession('shared')) ?? {}
      expect(session).toMatchObject({ user_id: 'bob', summary: null, run_count: 4 })
      expect(session?.shared_with.user_ids).toEqual([])
      expect(await store().findCached('question')).toBeUndefined()
      expect(await store().findClaim('key ann POST /run walrus')).toBeUndefined()
      expect(await store().findClaim('key bob POST /run pelican')).toMatchObject({ run_id: others })
      const find = async (word: string) =>
        (await store().searchMessages({ words: searchWordsOf(word) }, { limit: 9 })).items.length
      expect([await find('walrus'), await find('pelican')]).toEqual([0, 2])
      expect((await store().listSessions({ user_id: 'ann' }, { limit: 9 })).items).toEqual([])
    })

    it('takes what only a later version knows of a run, which a copy has otherwise', async () => {
      const runId = await say(store(), 'first', 'ann', 'walrus')
      const { session: first } = (await store().findSession('first')) ?? {}
      const [found] = await store().readRecords('first', undefined, 9)
      if (first === undefined || found === undefined) throw new Error(`Run '${runId}' is gone.`)
      const later = { mood: { of: 'ann', metadata: 'x'.repeat(5_000), sources: [] } }
      const run = { ...found, session_id: 'copied', run_id: 'run_copied', messages: [], metadata: null, later }
      const session = { ...first, session_id: 'copied', user_id: 'bob' }
      await store().restoreSession({
        session,
        summary: null,
        runs: (async function* () {
          yield { run }
        })(),
      })
      expect(await store().readRecords('copied', undefined, 9)).toMatchObject([{ later }])
      // Lists cut large texts without parsing them.
      expect((await store().listRuns({ user_id: 'ann' }, { limit: 9 })).items).toHaveLength(2)
      expect(await (store().findRunHead ?? store().findRun)('run_copied')).toMatchObject({ status: 'completed' })
      await erase(store(), 'ann')
      const [erased] = await store().readRecords('copied', undefined, 9)
      expect(JSON.stringify(erased)).not.toContain('ann')
      expect(erased).toMatchObject({ status: 'completed', entity_id: found.entity_id, end_seq: 4 })
    })

    it('takes the keys of runs in sessions of the user, and answers that tell of such a session', async () => {
      await store().createSession(seedOf({ session_id: 'own', user_id: 'ann' }), claimOf('key  POST /sessions 1'))
      await store().createSession(seedOf({ session_id: 'other', user_id: 'bob' }), claimOf('key  POST /sessions 2'))
      const runId = await say(store(), 'own', 'operator', 'walrus')
      await erase(store(), 'ann')
      await store().deleteSession('own')
      expect(await store().findRun(runId)).toBeUndefined()
      expect(await store().findClaim('key operator POST /run walrus')).toBeUndefined()
      expect(await store().findClaim('key  POST /sessions 1')).toBeUndefined()
      expect(await store().findClaim('key  POST /sessions 2')).toMatchObject({ key: 'key  POST /sessions 2' })
    })

    it('leaves runs that are not final, and users whose name only begins so', async () => {
      await store().createSession(seedOf({ session_id: 'shared', user_id: 'bob' }))
      const start = startOf({ run: { session_id: 'shared', user_id: 'ann' }, text: 'walrus' })
      await store().startRun(start)
      await store().createSession(seedOf({ session_id: 'other', user_id: 'bob' }))
      const anna = await say(store(), 'other', 'anna', 'heron')
      await erase(store(), 'ann')
      expect((await store().findRun(start.run.run_id))?.messages).toHaveLength(1)
      expect(await store().findRun(anna)).toMatchObject({ user_id: 'anna' })
    })
  })
}
