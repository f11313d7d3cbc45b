import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/core/json.ts'
import type { RunEnd } from '../../../src/core/run-write.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { at, endOf, messageOf, seedOf } from '../session-store/builders.ts'
import { begin, type Member, type Members, startBy } from './members.ts'

const sessionId = 's'
const limit = 21

/** What a run is told of its session; without a run, what anybody is told. */
export async function look(store: SessionStore, id = sessionId, reader?: string) {
  const basis = await (store.readBasis?.(id, reader) ?? store.findSession(id).then((found) => found?.session))
  return {
    history: await store.readHistory(id, limit, undefined, reader),
    state: basis?.state,
    user: basis?.user_id,
    summary: (await store.findSummary(id, reader)) ?? null,
  }
}

interface Turn {
  text: string
  replaces?: string
  state?: JsonObject
  user?: string
  end?: Partial<RunEnd>
}

/** One turn of the session, which reads what it is told before it ends. */
async function say(member: Member, { text, replaces, state, user, end = {} }: Turn): Promise<string> {
  const run = { session_id: sessionId, user_id: user ?? null }
  const start = { ...startBy(member, { run, text, state: state ?? null }), replaces }
  expect(await member.store.startRun(start)).toMatchObject({ outcome: 'started' })
  const { run_id: runId } = start.run
  await look(member.store, sessionId, runId)
  const messages = [messageOf(runId, 'assistant', `re ${text}`)]
  expect(await member.store.finishRun(endOf(runId, { messages, ...end }))).toBe('ok')
  return runId
}

const summary = { session_id: sessionId, content: 'all', model: 'm', run_count: 1, message_count: 2, created_at: at(9) }

/** What another process may do to a session of the two turns. */
const changes: Record<string, (other: Member, turns: [string, string]) => Promise<unknown>> = {
  'a run': (other) => say(other, { text: 'more' }),
  'a run that left a state': (other) => say(other, { text: 'more', end: { state: { left: 1 } } }),
  'a run with a state': (other) => say(other, { text: 'more', state: { given: 1 } }),
  'a run that waits': (other) => waiting(other),
  'a paused run that went on': async (other) => {
    const runId = await say(other, { text: 'may I?', end: { status: 'input_required', end_seq: 2 } })
    const resume = { run_id: runId, end_seq: 2, owner: other.owner, at: at(3), events: [], reserve_until: 2000 }
    expect(await other.store.resumeRun(resume)).toMatchObject({ outcome: 'resumed' })
    expect(await other.store.finishRun(endOf(runId, { fence: 2, end_seq: 9 }))).toBe('ok')
  },
  'a refused message': async (other) => {
    const { runId } = await begin(other, { run: { session_id: sessionId }, text: 'secret' })
    expect(await other.store.finishRun(endOf(runId, { status: 'failed', refused: [runId] }))).toBe('ok')
  },
  'another name': (other) => other.store.updateSession(sessionId, { name: 'other' }, at(5)),
  'another state': (other) => other.store.updateSession(sessionId, { state: { other: true } }, at(5)),
  'another user': (other) => other.store.shareSession(sessionId, { user_id: 'cid' }, at(5)),
  'a summary': (other) => other.store.saveSummary(summary),
  'a summary that a run replaced': async (other, [, second]) => {
    await other.store.saveSummary(summary)
    await say(other, { text: 'instead', replaces: second })
  },
  'an erased user': async (other) => expect(await other.store.eraseUser('bob', 100)).toBeGreaterThan(0),
  'a replaced turn': (other, [, second]) => say(other, { text: 'instead', replaces: second }),
  'a replaced turn that came back': async (other, [, second]) => {
    await say(other, { text: 'instead', replaces: second })
    expect(await other.store.restoreTurn(second, at(7))).toEqual({ outcome: 'restored' })
  },
  'a turn that a silent run did not replace': async (other, [first]) => {
    const silent = { status: 'failed', messages: [], bringsBack: true } as const
    await say(other, { text: 'instead', replaces: first, end: silent })
  },
  'its deletion': async (other) => expect(await other.store.deleteSession(sessionId)).toBe(true),
  'another session in its place, with as many changes': async (other) => {
    await other.store.deleteSession(sessionId)
    await say(other, { text: 'new one' })
    await say(other, { text: 'new two' })
  },
  'its deletion and a copy, with as many changes': async (other) => {
    const session = (await other.store.findSession(sessionId))?.session
    if (session === undefined) throw new Error('There is no session.')
    const [first] = await other.store.readRecords(sessionId, undefined, 1)
    await other.store.deleteSession(sessionId)
    async function* runs() {
      if (first !== undefined) yield { run: first }
    }
    await other.store.restoreSession({ session, summary: null, runs: runs() })
    for (const name of ['one', 'two', 'three', 'four']) await other.store.updateSession(sessionId, { name }, at(5))
  },
}

async function waiting(other: Member): Promise<void> {
  const run = { session_id: sessionId, status: 'queued' } as const
  const { runId } = await begin(other, { run, session: null, state: { waited: 1 } })
  expect(await other.store.beginRun(runId, 1, at(3))).toBe('begun')
  expect(await other.store.finishRun(endOf(runId))).toBe('ok')
}

export function testReaders(members: Members): void {
  /** Two turns, the last one here: what a process knows best. */
  async function twoTurns(first: Member, second = first): Promise<[string, string]> {
    const one = await say(first, { text: 'one', user: 'bob' })
    return [one, await say(second, { text: 'two', user: 'ann', end: { state: { n: 2 } } })]
  }

  describe('what a run is told of its session', () => {
    it.each(Object.entries(changes))('is as another process left it: %s', async (_, change) => {
      const [a, b] = await members(2)
      const turns = await twoTurns(a)
      await change(b, turns)
      for (let next = 0; next < 2; next++) {
        const { runId } = await begin(a, { run: { session_id: sessionId, user_id: 'ann' }, text: 'next' })
        const told = await look(a.store, sessionId, runId)
        expect(told).toEqual(await look(b.store))
        expect(await look(a.store, sessionId, runId)).toEqual(told)
        await a.store.finishRun(endOf(runId))
      }
    })

    it('is as another process left it when the run begins after it has waited', async () => {
      const [a, b] = await members(2)
      await twoTurns(a)
      const { runId: before } = await begin(b, { run: { session_id: sessionId }, text: 'before' })
      const { runId } = await begin(a, { run: { session_id: sessionId }, text: 'after' })
      const messages = [messageOf(before, 'assistant', 're before')]
      await b.store.finishRun(endOf(before, { messages, state: { before: true } }))
      expect(await a.store.beginRun(runId, 1, at(3))).toBe('begun')
      const told = await look(a.store, sessionId, runId)
      expect(told).toEqual(await look(b.store))
      expect(told.state).toEqual({ before: true })
    })

    it('has its own beginning, and the runs of this process that began inside it', async () => {
      const [a, b] = await members(2)
      await twoTurns(a, b)
      const { runId } = await begin(a, { run: { session_id: sessionId }, text: 'outer', state: { merged: 1 } })
      const child = await begin(a, { run: { session_id: sessionId, parent_run_id: runId }, session: null })
      const told = await look(a.store, sessionId, runId)
      await a.store.finishRun(endOf(child.runId))
      expect(await look(a.store, sessionId, runId)).toEqual(told)
      expect(told).toEqual(await look(b.store))
      expect(told.state).toEqual({ n: 2, merged: 1 })
    })

    it('tells nobody else what only the run may be told', async () => {
      const [a, b] = await members(2)
      await twoTurns(a)
      await begin(a, { run: { session_id: sessionId }, text: 'under way' })
      await b.store.updateSession(sessionId, { state: { other: true } }, at(5))
      await b.store.shareSession(sessionId, { user_id: 'cid' }, at(6))
      await b.store.saveSummary(summary)
      expect(await look(a.store)).toEqual(await look(b.store))
      expect(await look(a.store)).toMatchObject({ state: { other: true }, user: 'cid', summary })
    })

    it('is the same as without a run of this process when the session was just made', async () => {
      const [a, b] = await members(2)
      await a.store.createSession(seedOf({ session_id: sessionId, user_id: 'ann', state: { made: true } }))
      const { runId } = await begin(b, { run: { session_id: sessionId }, session: null })
      expect(await look(b.store, sessionId, runId)).toEqual(await look(a.store))
    })
  })
}
