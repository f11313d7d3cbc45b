import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as yieldToLoop } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { SessionCache } from '../../../src/store/cached/cache.ts'
import { cachedStore } from '../../../src/store/cached/cached-store.ts'
import type { CacheEntry } from '../../../src/store/cached/entry.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { at, endOf, messageOf, seedOf, startOf } from '../../contract/session-store/builders.ts'
import { testSessionStore } from '../../contract/session-store.ts'
import { emptyDatabase } from '../../support/empty-database.ts'

const folders: string[] = []
async function databasePath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-active-'))
  folders.push(folder)
  return emptyDatabase('sessions', join(folder, 'sessions.db'))
}
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

testSessionStore('memory, its active sessions in memory', () => cachedStore(memoryStore()))
testSessionStore('sqlite, its active sessions in memory', async () =>
  cachedStore(sqliteStore({ path: await databasePath(), synchronous: 'NORMAL' })),
)
testSessionStore('memory, with room for nothing', () => cachedStore(memoryStore(), { sessions: 0, bytes: 0, runs: 0 }))

type Step = { after: number; ackAfter: number } & (
  | {
      do: 'start'
      run: number
      queued: boolean
      state: number | null
      creates: boolean
      child: boolean
    }
  | { do: 'begin' | 'resume' | 'giveUp'; run: number }
  | { do: 'finish'; run: number; fence: number; state: number | null; pauses: boolean }
  | { do: 'update' | 'summarize'; session: number; state: number }
  | { do: 'read'; session: number; limit: number }
  | { do: 'create' | 'delete'; session: number }
  | { do: 'prune' | 'restart' }
)

const session = fc.nat({ max: 2 })
const run = fc.nat({ max: 9 })
const state = fc.option(fc.nat({ max: 3 }))
const kind = <const T extends string>(...kinds: T[]) => fc.constantFrom(...kinds)
const times = { after: fc.nat({ max: 3 }), ackAfter: fc.nat({ max: 4 }) }
const fence = fc.constantFrom(1, 1, 1, 2)
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      ...times,
      do: kind('start'),
      run,
      queued: fc.boolean(),
      state,
      creates: fc.boolean(),
      child: fc.constantFrom(false, false, true),
    }),
  },
  { weight: 6, arbitrary: fc.record({ ...times, do: kind('finish'), run, fence, state, pauses: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ ...times, do: kind('read'), session, limit: fc.constantFrom(1, 2, 3, 50) }) },
  { weight: 3, arbitrary: fc.record({ ...times, do: kind('begin', 'resume', 'giveUp'), run }) },
  {
    weight: 2,
    arbitrary: fc.record({ ...times, do: kind('update', 'summarize'), session, state: fc.nat({ max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ ...times, do: kind('create', 'delete'), session }) },
  { weight: 1, arbitrary: fc.record({ ...times, do: kind('prune', 'restart') }) },
)

async function play(store: SessionStore, step: Step): Promise<unknown> {
  switch (step.do) {
    case 'start': {
      const sessionId = `s${step.run % 3}`
      const seed = seedOf({ session_id: sessionId, state: { seed: step.run } })
      const fields = {
        run_id: `r${step.run}`,
        session_id: sessionId,
        status: step.queued ? 'queued' : 'running',
      } as const
      const given = { run: { ...fields, parent_run_id: step.child ? 'r0' : null }, session: step.creates ? seed : null }
      return store.startRun(startOf({ ...given, state: step.state === null ? null : { given: step.state } }))
    }
    case 'begin':
      return store.beginRun(`r${step.run}`, 1, at(2))
    case 'resume': {
      const resume = { run_id: `r${step.run}`, end_seq: 2, owner: 'one', at: at(3), events: [], reserve_until: 2000 }
      return store.resumeRun(resume)
    }
    case 'giveUp':
      return store.finishRun(
        endOf(`r${step.run}`, { fence: null, status: 'cancelled', cancellation_reason: 'requested', end_seq: 3 }),
      )
    case 'finish': {
      const runId = `r${step.run}`
      const said = messageOf(runId, 'assistant', `said by ${runId}`, at(4))
      const left = step.state === null ? {} : { state: { left: step.state } }
      const status = step.pauses ? 'input_required' : 'completed'
      return store.finishRun(
        endOf(runId, { fence: step.fence, status, messages: [{ ...said, message_id: `m-${runId}` }], ...left }),
      )
    }
    case 'update':
      return store.updateSession(`s${step.session}`, { state: { updated: step.state } }, at(5))
    case 'summarize':
      return store.saveSummary({
        session_id: `s${step.session}`,
        content: `summary ${step.state}`,
        model: 'm',
        run_count: 1,
        message_count: 1,
        created_at: at(6),
      })
    case 'read': {
      await Promise.all([store.readBasis?.(`s${step.session}`), store.findSummary(`s${step.session}`)])
      return store.readHistory(`s${step.session}`, step.limit)
    }
    case 'create':
      return store.createSession(seedOf({ session_id: `s${step.session}`, state: { created: true } }))
    case 'delete':
      return store.deleteSession(`s${step.session}`)
    case 'prune':
      return store.prune({ maxSessions: 2 }, 10)
    case 'restart':
      await store.close()
      await store.open()
      return store.recover('one', at(7))
  }
}

/** Does at once what it is asked, and tells some turns of the event loop later, so that answers overtake each other. */
function late(inner: SessionStore, wait: () => number): SessionStore {
  return new Proxy(inner, {
    get(target, key, receiver) {
      const value = Reflect.get(target, key, receiver)
      if (typeof value !== 'function') return value
      return async (...given: unknown[]) => {
        const turns = wait()
        const answer = Promise.resolve(value.apply(target, given))
        answer.catch(() => {})
        for (let passed = 0; passed < turns; passed++) await yieldToLoop()
        return answer
      }
    },
  })
}

async function lookAt(store: SessionStore): Promise<unknown> {
  const looks = []
  for (const id of ['s0', 's1', 's2']) {
    for (const limit of [1, 2, 3, 50, 0]) looks.push(limit, await store.readHistory(id, limit))
    const found = await store.findSession(id)
    const { state, user_id } = (await (store.readBasis?.(id) ?? found?.session)) ?? {}
    looks.push(state ?? null, user_id ?? null)
    looks.push((await store.findSummary(id)) ?? null)
  }
  return JSON.parse(JSON.stringify(looks, (key, value) => (key === 'message_id' ? undefined : value)))
}

describe('active sessions', () => {
  it.each([
    ['with room for all', {}],
    ['with room for two sessions of two runs', { sessions: 2, runs: 2 }],
    ['with room for few bytes', { bytes: 8000 }],
  ])('tell what the store would, whatever is written at once and however late it answers, %s', async (_, limits) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(anyStep, { maxLength: 6 }), { maxLength: 12 }), async (bursts) => {
        const plain = memoryStore()
        let ackAfter = 0
        const owned = cachedStore(
          late(memoryStore(), () => ackAfter),
          limits,
        )
        await Promise.all([plain.open(), owned.open()])
        for (const burst of bursts) {
          const alone = burst.find((step) => step.do === 'restart')
          const pending: Promise<unknown>[] = []
          const settle = (work: Promise<unknown>) => pending.push(work.catch(() => {}))
          for (const step of alone === undefined ? burst : [alone]) {
            for (let passed = 0; passed < step.after; passed++) await yieldToLoop()
            settle(play(plain, step))
            ackAfter = step.ackAfter
            settle(play(owned, step))
          }
          await Promise.all(pending)
          ackAfter = 0
          expect(await lookAt(owned)).toEqual(await lookAt(plain))
        }
      }),
      { numRuns: 150 },
    )
  })

  it('read nothing from the store for the next run of a session that they have seen', async () => {
    const reads: string[] = []
    const store = cachedStore(noting(memoryStore(), reads))
    await store.open()
    await converse(store, 's', 30)
    const history = await store.readHistory('s', 21)
    expect(history.has_more).toBe(true)
    expect(history.runs.at(-1)?.messages.map(({ content }) => content)).toEqual(['q29', 'a29'])
    expect([await store.readBasis?.('s'), await store.findSummary('s')]).toEqual([
      { state: null, user_id: null },
      undefined,
    ])
    expect(reads).toEqual([])
  })

  it('keep no more of a session than is asked for, and as much as was', async () => {
    const reads: string[] = []
    const store = cachedStore(noting(memoryStore(), reads))
    await store.open()
    await converse(store, 's', 60)
    expect((await store.readHistory('s', 50)).runs).toHaveLength(50)
    expect(reads).toEqual(['readHistory'])
    expect((await store.readHistory('s', 50)).runs).toHaveLength(50)
    expect(reads).toEqual(['readHistory'])
  })

  it('read a session that they have not seen once, whoever asks how often', async () => {
    const reads: string[] = []
    const inner = memoryStore()
    await inner.open()
    await converse(inner, 's', 3)
    const store = cachedStore(noting(inner, reads))
    for (let asked = 0; asked < 3; asked++) {
      await store.readHistory('s', 21)
      await store.readBasis?.('s')
      await store.findSummary('s')
    }
    expect(reads).toEqual(['readHistory', 'findSession', 'findSummary'])
  })

  it('give runs without a user that of their session', async () => {
    const store = cachedStore(memoryStore())
    await store.open()
    const run = { session_id: 's' }
    await store.startRun(startOf({ run, session: seedOf({ session_id: 's', user_id: 'ann' }) }))
    const usersOf = async () => (await store.readHistory('s', 5)).runs.map(({ user_id }) => user_id)
    expect(await usersOf()).toEqual(['ann'])
    // The session has a user of which the cache has not heard yet.
    await store.shareSession('s', { user_id: 'bob' }, at(3))
    expect(await usersOf()).toEqual(['ann'])
    await store.startRun(startOf({ run: { ...run, status: 'queued' }, session: null }))
    expect(await usersOf()).toEqual(['ann', 'bob'])
  })

  it('show a message as soon as it has been checked', async () => {
    const store = cachedStore(memoryStore())
    await store.open()
    const start = { ...startOf({ run: { session_id: 's' }, text: 'fine' }), unchecked: true }
    const { run_id: runId } = start.run
    await store.startRun(start)
    const shown = async () => (await store.readHistory('s', 5)).runs.flatMap(({ messages }) => messages)
    expect((await shown()).map(({ content }) => content)).not.toContain('fine')
    await store.appendEvents({ run_id: runId, fence: 1, events: [], reserve_until: 1500, checked: true })
    expect(await shown()).toEqual(start.run.messages)
    await store.finishRun(endOf(runId, { checked: true }))
    expect(await shown()).toEqual(start.run.messages)
  })

  it('can not be changed by what an agent does to its input', async () => {
    const store = cachedStore(memoryStore())
    await store.open()
    const start = startOf({ run: { run_id: 'r', session_id: 's', metadata: { a: { b: 1 } } } })
    await store.startRun(start)
    const part = start.message.parts[0] as { text: string }
    expect(() => Object.assign(part, { text: 'changed' })).toThrow(TypeError)
    expect(() => start.message.parts.push(part as never)).toThrow(TypeError)
    expect(() => Object.assign(start.run.metadata?.a ?? {}, { b: 2 })).toThrow(TypeError)
  })
})

describe('the memory of sessions', () => {
  const put = (memory: SessionCache, known: CacheEntry, work: () => void) => memory.written(known, ++known.asked, work)

  it('holds as many sessions, runs and bytes as it may, and forgets the longest unused first', () => {
    const memory = new SessionCache({ sessions: 10, bytes: 200_000, runs: 5 })
    for (let count = 0; count < 100; count++) {
      const known = memory.runBegins(`s${count}`)
      put(memory, known, () => known.begin(startOf({})))
      for (let runs = 0; runs < 8; runs++) {
        const start = startOf({ text: 'x'.repeat(count * 50), run: { run_id: `r${count}-${runs}` } })
        const said = messageOf(`r${count}-${runs}`, 'assistant', 'y'.repeat(count * 50))
        put(memory, known, () => known.startRun(start))
        put(memory, known, () => known.endRun(endOf(start.run.run_id, { messages: [said] })))
      }
      expect(known.runCount).toBeLessThanOrEqual(5)
      expect(memory.size).toBeLessThanOrEqual(11)
      expect(memory.bytes).toBeLessThanOrEqual(200_000)
      memory.runEnds(known)
      expect(memory.size).toBeLessThanOrEqual(10)
      expect(memory.find(`s${count}`)).toBe(known)
    }
    expect(memory.find('s80')).toBeUndefined()
    memory.forgetAll()
    expect([memory.size, memory.bytes]).toEqual([0, 0])
  })

  it('keeps a session with a run under way, without what it held when there is no room for that', () => {
    const memory = new SessionCache({ sessions: 1, bytes: 40_000, runs: 100 })
    const [busy, other] = [memory.runBegins('busy'), memory.runBegins('other')]
    for (const known of [busy, other]) {
      const starts = Array.from({ length: 9 }, () => startOf({}))
      put(memory, known, () => known.begin(startOf({})))
      for (const start of starts) put(memory, known, () => known.startRun(start))
    }
    for (let count = 0; count < 5; count++) memory.get(`idle${count}`)
    expect(memory.bytes).toBeLessThanOrEqual(40_000)
    expect([memory.find('busy'), memory.find('other')]).toEqual([busy, other])
    for (const known of [busy, other]) memory.runEnds(known)
    expect(memory.size).toBe(1)
  })
})

async function converse(store: SessionStore, sessionId: string, turns: number): Promise<void> {
  for (let count = 0; count < turns; count++) {
    const start = startOf({ run: { session_id: sessionId }, text: `q${count}` })
    await store.startRun(start)
    const runId = start.run.run_id
    await store.finishRun(endOf(runId, { messages: [messageOf(runId, 'assistant', `a${count}`)] }))
  }
}

function noting(inner: SessionStore, reads: string[]): SessionStore {
  return new Proxy(inner, {
    get(target, key, receiver) {
      if (typeof key === 'string' && /^(read|find|list)/.test(key) && key in target) reads.push(key)
      return Reflect.get(target, key, receiver)
    },
  })
}
