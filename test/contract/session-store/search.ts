import { describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { type MessageSearch, searchWordsOf } from '../../../src/core/text/message-search.ts'
import { allPages, at, endOf, messageOf, seedOf, started } from './builders.ts'

export function testSearch(store: () => SessionStore): void {
  async function turn(sessionId: string, question: string, answer: string, second = 0): Promise<string> {
    const createdAt = at(second)
    const { runId } = await started(store(), { run: { session_id: sessionId, created_at: createdAt }, text: question })
    const messages = [messageOf(runId, 'assistant', answer, createdAt)]
    await store().finishRun(endOf(runId, { messages, completed_at: createdAt }))
    return runId
  }

  async function found(query: string, filter: Omit<MessageSearch, 'words'> = {}): Promise<string[]> {
    const { items } = await store().searchMessages({ words: searchWordsOf(query), ...filter }, { limit: 100 })
    return items.map(({ session_id, role }) => `${session_id} ${role}`)
  }

  describe('search', () => {
    it('finds messages that have all the words, the newest first, with what stands round them', async () => {
      const runId = await turn('tea', 'Which tea is green?', 'Sencha is a green tea from Japan.')
      await turn('coffee', 'Which coffee is green?', 'The unroasted one.', 1)
      const { items, next } = await store().searchMessages({ words: searchWordsOf('GREEN tea') }, { limit: 10 })
      expect(next).toBeNull()
      const base = { session_id: 'tea', run_id: runId, entity_id: 'echo', created_at: at(0) }
      const message_id = expect.stringMatching(/^msg_/)
      expect(items).toEqual([
        { ...base, message_id, role: 'assistant', snippet: 'Sencha is a green tea from Japan.' },
        { ...base, message_id, role: 'user', snippet: 'Which tea is green?' },
      ])
      expect(await found('green')).toEqual(['coffee user', 'tea assistant', 'tea user'])
      expect(await found('green sencha japan')).toEqual(['tea assistant'])
      expect(await found('sencha coffee')).toEqual([])
    })

    it('finds the beginnings of words, accents or none, identifiers, scripts without spaces, and data', async () => {
      await turn('a', 'Où est le CAFÉ?', 'maxRequestBytes in limits_file')
      await turn('b', '請問東京的天氣如何', '晴', 1)
      expect(await found('cafe')).toEqual(['a user'])
      expect(await found('café où')).toEqual(['a user'])
      expect(await found('reques*')).toEqual(['a assistant'])
      expect(await found('reques')).toEqual([])
      expect(await found('maxrequestbytes')).toEqual(['a assistant'])
      expect(await found('maxRequestBytes')).toEqual(['a assistant'])
      expect(await found('東京')).toEqual(['b user'])
      const { runId } = await started(store(), { run: { session_id: 'c', created_at: at(2) } })
      const message = {
        ...messageOf(runId, 'assistant', ''),
        parts: [{ type: 'data' as const, data: { city: 'Oslo' } }],
      }
      await store().finishRun(endOf(runId, { messages: [message] }))
      expect(await found('oslo')).toEqual(['c assistant'])
    })

    it('pages through everything once, also when a page ends within a run', async () => {
      for (let n = 0; n < 7; n++) await turn(`s${n}`, `word ${n}`, `word again ${n}`, n)
      const words = searchWordsOf('word')
      const whole = (await store().searchMessages({ words }, { limit: 100 })).items
      expect(whole).toHaveLength(14)
      for (const limit of [1, 3, 14]) {
        const pages = await allPages((cursor) => store().searchMessages({ words }, { limit, cursor }))
        expect(pages.flat()).toEqual(whole)
        expect(pages.every((page) => page.length <= limit)).toBe(true)
      }
      await expect(store().searchMessages({ words }, { limit: 1, cursor: 'x' })).rejects.toMatchObject({
        code: 'invalid_request',
      })
    })

    it('finds under present and earlier owners, and within a session', async () => {
      await store().createSession(seedOf({ session_id: 'mine', user_id: 'ann', agent_id: 'docs' }))
      await turn('mine', 'hello there', 'hello ann')
      await store().createSession(seedOf({ session_id: 'his', user_id: 'bob', agent_id: 'docs' }))
      await turn('his', 'hello there', 'hello bob', 1)
      expect(await found('hello', { user_id: 'ann' })).toEqual(['mine assistant', 'mine user'])
      expect(await found('hello', { agent_id: 'docs', user_id: 'bob' })).toEqual(['his assistant', 'his user'])
      expect(await found('hello', { session_id: 'mine' })).toEqual(['mine assistant', 'mine user'])
      expect(await found('hello', { session_id: 'MINE' })).toEqual([])
      for (const id of [`' OR '1'='1`, '"', 'mi ne', '', 'mine*'])
        expect(await found('hello', { session_id: id })).toEqual([])
      expect(await found('hello', { team_id: 'docs' })).toEqual([])
      await store().shareSession('mine', { user_id: 'bob' }, at(2))
      expect(await found('hello', { user_id: 'ann' })).toEqual(['mine assistant', 'mine user'])
      expect(await found('hello bob', { user_id: 'bob' })).toEqual(['his assistant'])
      expect(await found('there', { user_id: 'bob' })).toEqual(['his user', 'mine user'])
    })

    it('finds what was said since, and the answer of a run that was under way', async () => {
      expect(await found('first')).toEqual([])
      const { runId } = await started(store(), { run: { session_id: 'one' }, text: 'first question' })
      expect(await found('first')).toEqual(['one user'])
      await store().finishRun(endOf(runId, { messages: [messageOf(runId, 'assistant', 'first answer')] }))
      expect(await found('first')).toEqual(['one assistant', 'one user'])
    })

    it('gives the messages of a paused run as they are after it went on', async () => {
      const { runId } = await started(store(), { run: { session_id: 'one' }, text: 'question' })
      const said = (text: string) => [messageOf(runId, 'assistant', text)]
      await store().finishRun(endOf(runId, { status: 'input_required', messages: said('may I paint it red') }))
      expect(await found('red')).toEqual(['one assistant'])
      const resumed = await store().resumeRun({
        run_id: runId,
        end_seq: 2,
        owner: 'one',
        at: at(3),
        events: [],
        reserve_until: 2000,
      })
      expect(resumed).toEqual({ outcome: 'resumed', fence: 2 })
      expect(await found('red')).toEqual([])
      await store().finishRun(endOf(runId, { fence: 2, end_seq: 9, messages: said('it is blue') }))
      expect(await found('red')).toEqual([])
      expect(await found('blue')).toEqual(['one assistant'])
    })

    it('finds nothing of what was deleted, nor of what took its place', async () => {
      await turn('old', 'secret plan', 'the secret')
      expect(await found('secret')).toHaveLength(2)
      await store().deleteSession('old')
      expect(await found('secret')).toEqual([])
      await turn('new', 'public plan', 'the open', 1)
      expect(await found('secret')).toEqual([])
      expect(await found('plan')).toEqual(['new user'])
      expect(await store().prune({ maxSessions: 0 }, 10)).toBe(1)
      expect(await found('plan')).toEqual([])
    })

    it('leaves out the runs of team members, which are in no conversation', async () => {
      const parent = await turn('desk', 'research tea', 'done')
      await started(store(), {
        run: { session_id: 'desk', parent_run_id: parent, created_at: at(1) },
        session: null,
        text: 'research tea quickly',
      })
      expect(await found('research')).toEqual(['desk user'])
    })

    it('says of a long message where the words are, and cuts no character', async () => {
      const filler = 'lorem ipsum '.repeat(4_000)
      await turn('long', 'q', `${filler}the needle 😀${'😀'.repeat(300)} ${filler}end`)
      const { items } = await store().searchMessages({ words: searchWordsOf('needle') }, { limit: 10 })
      expect(items).toHaveLength(1)
      expect(items[0]?.snippet).toMatch(/^….*the needle 😀+…$/u)
      expect(items[0]?.snippet.length).toBeLessThan(250)
      expect(await found('needle end')).toEqual(['long assistant'])
    })
  })
}
