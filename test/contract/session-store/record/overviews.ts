import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/core/json.ts'
import type { Part } from '../../../../src/core/message.ts'
import type { RunStatus } from '../../../../src/core/run.ts'
import type { SessionOverview } from '../../../../src/core/session.ts'
import type { SessionListFilter, SessionStore } from '../../../../src/core/store.ts'
import { allPages, at, endOf, seedOf, started, startOf, turnsIn } from '../builders.ts'

const sessionId = 's'
const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }

export function testOverviews(store: () => SessionStore): void {
  const { say, begin, finish, open } = turnsIn(store)
  const overview = (id = sessionId, userId?: string) => store().findOverview(id, userId)
  const title = async () => (await overview())?.title

  async function ask(parts: Part[], unchecked = false): Promise<string> {
    const start = startOf({ run: { session_id: sessionId, status: 'queued' }, session: null })
    const message = { ...start.message, parts }
    const run = { ...start.run, messages: [message] }
    expect(await store().startRun({ ...start, run, message, unchecked })).toMatchObject({ outcome: 'queued' })
    return run.run_id
  }

  describe('overviews', () => {
    it('show what a session is, and its last turn', async () => {
      const metadata = { forked_from: { session_id: 'origin', run_id: 'run_o' } }
      await store().createSession(
        seedOf({ session_id: sessionId, name: 'Named', agent_id: 'owner', user_id: 'ann', metadata }),
      )
      const empty: SessionOverview = {
        session_id: sessionId,
        name: 'Named',
        title: null,
        entity_id: 'owner',
        entity_kind: 'agent',
        user_id: 'ann',
        run_count: 0,
        status: null,
        waiting: 0,
        usage: null,
        usage_by_model: [],
        forked_from: metadata.forked_from,
        created_at: at(0),
        updated_at: at(0),
      }
      expect(await overview()).toEqual(empty)
      await say({ text: 'first  question\n' }, { usage })
      const run = { session_id: sessionId, entity_id: 'other', entity_kind: 'team' as const }
      const { runId } = await started(store(), { run, session: null, text: 'second' })
      const waiting = ['a', 'b'].map((call_id) => ({ kind: 'approval' as const, call_id, prompt: '?' }))
      await finish(runId, { status: 'input_required', waiting, completed_at: at(9) })
      const child = { session_id: sessionId, parent_run_id: runId, created_at: at(9) }
      await started(store(), { run: child, session: null, text: 'inside' })
      const full = {
        ...empty,
        title: 'first question',
        entity_id: 'other',
        entity_kind: 'team',
        run_count: 2,
        status: 'input_required',
        waiting: 2,
        usage,
        usage_by_model: [{ model: null, ...usage }],
        updated_at: at(9),
      }
      expect(await overview()).toEqual(full)
      expect((await store().listOverviews({}, { limit: 5 })).items).toEqual([full])
      expect(await overview('none')).toBeUndefined()
    })

    it.each([
      [null],
      ['x'],
      [[]],
      [{}],
      [{ session_id: 1 }],
      [{ session_id: 's', run_id: 3 }],
      [{ session_id: { a: 1 } }],
    ])('name no origin that is not one: %j', async (forked_from) => {
      const metadata = { forked_from }
      await store().createSession(seedOf({ session_id: sessionId, metadata }))
      expect((await overview())?.forked_from).toBeNull()
    })

    it('name an origin without a run', async () => {
      await store().createSession(
        seedOf({ session_id: sessionId, metadata: { forked_from: { session_id: 'o', more: 1 } } }),
      )
      expect((await overview())?.forked_from).toEqual({ session_id: 'o', run_id: null })
    })
  })

  describe('the title of a session', () => {
    const text = (said: string): Part => ({ type: 'text', text: said })
    const nameless: Part = { type: 'file', media_type: 'image/png', url: 'https://example.com/a' }
    const named = (name: string): Part => ({ ...nameless, name })
    const data = (value: Json): Part => ({ type: 'data', data: value })

    it.each<[what: string, parts: Part[], expected: string | null]>([
      ['is one line', [text(' a\n\n b\t\u00a0c ')], 'a b c'],
      ['has no control or direction characters', [text('a\u001b[31mb\u202ec\u2066d\u0007')], 'a[31mbcd'],
      ['has at most 120 characters', [text('ab '.repeat(90))], 'ab '.repeat(40).trim()],
      ['is cut between characters', [text(`${'a'.repeat(119)}😀😀`)], `${'a'.repeat(119)}😀`],
      ['never has half of a character', [text(`${'a'.repeat(118)}👩‍👩‍👧x`)], 'a'.repeat(118)],
      ['is the first text that says something', [text(' \n'), text('two')], 'two'],
      ['is none of a nameless file', [nameless], null],
      ['is the first data without text', [data({ b: [1, 'x'], a: null }), data(2)], '{"b":[1,"x"],"a":null}'],
      ['is the name of a file before data', [data(1), named('a.txt')], 'a.txt'],
      ['is none of much data', [data('x'.repeat(300_000))], null],
      ['is none of many numbers', [data(Array(5_000).fill(1))], null],
      ['is the name of a file without text', [nameless, named('a\u001b\n b.txt'), named('c.txt')], 'a b.txt'],
      ['is a text after a file', [named('a.txt'), text('yes')], 'yes'],
      ['is a text after data', [{ type: 'data', data: [{ type: 'text', text: 'no' }] }, text('yes')], 'yes'],
      ['comes from the beginning of a long text', [text(`${'long '.repeat(400_000)}`)], 'long '.repeat(24).trim()],
      ['comes from a text before much data', [text('see'), { type: 'data', data: 'x'.repeat(300_000) }], 'see'],
      ['stays whole where JSON escapes it', [text(`"\\{[${'\u0001\\"'.repeat(3_000)}`)], `"\\{[${'\\"'.repeat(58)}`],
    ])('%s', async (_what, parts, expected) => {
      await open()
      await ask(parts)
      expect(await title()).toBe(expected)
    })

    it('waits for the check of the input, and never shows a refused one', async () => {
      await open()
      const checked = await ask([text('good')], true)
      expect(await title()).toBeNull()
      await store().appendEvents({ run_id: checked, fence: 1, events: [], reserve_until: 2_000, checked: true })
      expect(await title()).toBe('good')
      await store().deleteSession(sessionId)
      await open()
      for (const long of ['bad', 'bad '.repeat(40_000)]) {
        const refused = await ask([text(long)], true)
        expect(await title()).toBeNull()
        await store().finishRun(endOf(refused, { status: 'failed', refused: [refused] }))
        expect(await title()).toBeNull()
      }
    })

    it('is of the present conversation, and goes with what an erased user said', async () => {
      await store().createSession(seedOf({ session_id: sessionId, user_id: 'bob' }))
      const wrong = await say({ text: 'wrong' })
      const right = await say({ text: 'right', replaces: wrong })
      expect(await overview()).toMatchObject({ title: 'right', run_count: 2 })
      expect(await store().restoreTurn(wrong, at(5))).toEqual({ outcome: 'restored' })
      expect(await title()).toBe('wrong')
      await store().restoreTurn(right, at(6))
      await store().deleteSession(sessionId)
      await store().createSession(seedOf({ session_id: sessionId, user_id: 'bob' }))
      const run = { session_id: sessionId, user_id: 'ann' }
      const { runId } = await started(store(), { run, session: null, text: 'secret' })
      await finish(runId)
      while ((await store().eraseUser('ann', 5)) > 0);
      expect(await title()).toBeNull()
    })
  })

  describe('a list of overviews', () => {
    /** Ten sessions, whose last turns have these statuses in turn. */
    const statuses = ['completed', 'failed', 'input_required', 'queued', 'running'] as const
    async function fill(): Promise<void> {
      for (let n = 0; n < 10; n++) {
        const id = `s${n}`
        const owners = { user_id: n % 2 === 0 ? 'ann' : 'bob', agent_id: n < 5 ? 'one' : 'two' }
        await store().createSession(seedOf({ session_id: id, ...owners }))
        const status = statuses[n % 5] ?? 'completed'
        // An earlier turn with another status.
        const before = await started(store(), { run: { session_id: id, created_at: at(n) }, session: null })
        await finish(before.runId, { status: status === 'failed' ? 'completed' : 'failed', completed_at: at(n) })
        const run = { session_id: id, created_at: at(n), status: status === 'queued' ? status : ('running' as const) }
        const { runId } = await started(store(), { run, session: null, text: id })
        const isActive = status === 'queued' || status === 'running'
        if (!isActive) await finish(runId, { status, completed_at: at(n) })
      }
      await store().createSession(seedOf({ session_id: 'empty', user_id: 'ann', created_at: at(20) }))
    }

    it.each<SessionListFilter>([
      {},
      { user_id: 'ann' },
      { user_id: 'bob', agent_id: 'two' },
      { updated_before: at(5) },
      ...statuses.map((status) => ({ status })),
      { status: 'cancelled' },
      { status: 'failed', user_id: 'ann' },
      { status: 'completed', agent_id: 'one', updated_before: at(8) },
      { status: 'failed', user_id: 'bob', as_user: true },
      { status: 'none' as RunStatus },
    ])('has the sessions of the list, in its order and pages: %j', async (filter) => {
      await fill()
      const [whole, overviews, counted] = await Promise.all([
        allPages((cursor) => store().listSessions(filter, { limit: 3, cursor })),
        allPages((cursor) => store().listOverviews(filter, { limit: 3, cursor })),
        store().countSessions(filter),
      ])
      const ids = whole.flat().map(({ session_id }) => session_id)
      expect(overviews.map((page) => page.length)).toEqual(whole.map((page) => page.length))
      expect(overviews.flat().map(({ session_id }) => session_id)).toEqual(ids)
      expect(counted).toBe(ids.length)
      const { status, updated_before: before = at(99) } = filter
      const expected = [...Array(10).keys()].filter(
        (n) =>
          (status === undefined || statuses[n % 5] === status) &&
          (filter.user_id === undefined || (n % 2 === 0) === (filter.user_id === 'ann')) &&
          (filter.agent_id === undefined || n < 5 === (filter.agent_id === 'one')) &&
          at(n) < before,
      )
      const empty = status === undefined && filter.user_id !== 'bob' && at(20) < before ? ['empty'] : []
      expect(ids).toEqual([...empty, ...expected.reverse().map((n) => `s${n}`)])
      if (status !== undefined) expect(new Set(overviews.flat().map((item) => item.status)).size).toBeLessThan(2)
    })

    it('follows the status of the last turn', async () => {
      await open()
      const listed = async (status: RunStatus) =>
        (await store().listOverviews({ status }, { limit: 5 })).items.map(({ session_id }) => session_id)
      const first = await begin({ text: 'one' })
      expect([await listed('running'), await listed('completed')]).toEqual([[sessionId], []])
      await begin({ text: 'two', queued: true })
      await finish(first)
      expect([await listed('queued'), await listed('completed')]).toEqual([[sessionId], []])
      await begin({ text: 'three', queued: true, replaces: first })
      expect(await store().countSessions({ status: 'queued' })).toBe(1)
      expect(await store().countSessions({ status: 'completed' })).toBe(0)
    })
  })

  describe('the overview for an earlier user', () => {
    async function handedOver(): Promise<{ first: string }> {
      await store().createSession(
        seedOf({ session_id: sessionId, user_id: 'ann', name: 'mine', metadata: { forked_from: { session_id: 'o' } } }),
      )
      const first = await say({ text: 'of ann' }, { usage, completed_at: at(3) })
      await store().shareSession(sessionId, { user_id: 'bob' }, at(4))
      return { first }
    }

    it('is what it was at the handover, whatever came later', async () => {
      const { first } = await handedOver()
      await say({ text: 'of bob', replaces: first, second: 6 }, { usage, completed_at: at(7), status: 'failed' })
      const before: Partial<SessionOverview> = {
        name: null,
        title: 'of ann',
        run_count: 1,
        status: 'completed',
        usage,
        usage_by_model: [{ model: null, ...usage }],
        forked_from: null,
        updated_at: at(3),
      }
      expect(await overview(sessionId, 'ann')).toMatchObject(before)
      const now = { name: 'mine', title: 'of bob', run_count: 2, status: 'failed', updated_at: at(7) }
      for (const user of ['bob', undefined]) expect(await overview(sessionId, user)).toMatchObject(now)
      expect(await overview(sessionId, 'eve')).toBeUndefined()
      const listed = async (filter: SessionListFilter) => (await store().listOverviews(filter, { limit: 5 })).items
      expect(await listed({ user_id: 'ann', as_user: true })).toEqual([await overview(sessionId, 'ann')])
      expect(await listed({ user_id: 'ann' })).toEqual([await overview()])
      for (const [status, found] of [
        ['completed', 1],
        ['failed', 0],
      ] as const) {
        const filter = { user_id: 'ann', as_user: true, status }
        expect(await listed(filter)).toHaveLength(found)
        expect((await store().listSessions(filter, { limit: 5 })).items).toHaveLength(found)
        expect(await store().countSessions(filter)).toBe(found)
      }
    })

    it('shows nothing of a session that was handed over before its first turn', async () => {
      await store().createSession(seedOf({ session_id: sessionId, user_id: 'ann' }))
      await store().shareSession(sessionId, { user_id: 'bob' }, at(4))
      await say({ text: 'of bob' }, { usage })
      const empty = { title: null, run_count: 0, status: null, usage: null, usage_by_model: [], updated_at: at(0) }
      expect(await overview(sessionId, 'ann')).toMatchObject(empty)
      expect(await store().countSessions({ user_id: 'ann', as_user: true, status: 'completed' })).toBe(0)
      expect(await store().countSessions({ user_id: 'ann', as_user: true })).toBe(1)
    })

    it('sums what the readable turns used, by model', async () => {
      await store().createSession(seedOf({ session_id: sessionId, user_id: 'ann' }))
      const a = { model: 'a', ...usage, cached_input_tokens: 0, largest_input_tokens: 1 }
      await say({ text: 'one' }, { usage, usage_by_model: [a] })
      await say({ text: 'two' }, { usage, usage_by_model: [a, { model: 'b', ...usage }] })
      await say({ text: 'three' }, {})
      const whole = await overview()
      await store().shareSession(sessionId, { user_id: 'bob' }, at(4))
      await say({ text: 'four' }, { usage, usage_by_model: [a] })
      const { usage: sum, usage_by_model } = (await overview(sessionId, 'ann')) ?? {}
      expect({ usage: sum, usage_by_model }).toEqual({
        usage: whole?.usage,
        usage_by_model: whole?.usage_by_model,
      })
    })
  })
}
