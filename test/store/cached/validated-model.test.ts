import { setImmediate as yieldToLoop } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { isEnded } from '../../../src/core/run.ts'
import type { RunStart } from '../../../src/core/run-write.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { validatedStore } from '../../../src/store/cached/validated-store.ts'
import { postgresStore } from '../../../src/store/sessions/postgres/store.ts'
import { at, endOf, messageOf, type StartFields, seedOf, startOf } from '../../contract/session-store/builders.ts'
import { join, type Member, startBy } from '../../contract/store-cluster/members.ts'
import { look } from '../../contract/store-cluster/readers.ts'
import { memoryCluster } from '../../support/memory-cluster.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { emptiedSchema } from '../../support/postgres/emptied-schema.ts'

const kinds = [
  ...['start', 'start', 'start', 'finish', 'finish', 'finish', 'finish', 'read', 'read', 'begin', 'child', 'replace'],
  ...['append', 'resume', 'giveUp', 'refuse', 'update', 'summarize', 'share', 'erase', 'restore', 'create', 'delete'],
] as const

const anyStep = fc.record({
  do: fc.constantFrom(...kinds),
  by: fc.constantFrom(0, 0, 0, 1, 2),
  run: fc.nat({ max: 5 }),
  other: fc.nat({ max: 9 }),
  state: fc.option(fc.nat({ max: 3 })),
  flag: fc.boolean(),
  /** Turns of the event loop before it is asked, and before the answer is told. */
  after: fc.nat({ max: 3 }),
  ackAfter: fc.nat({ max: 4 }),
})
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never

const users = ['ann', 'bob', null] as const
/** Runs with even numbers are of one session, the others of another. */
const sessionOf = (run: number) => `s${run % 2}`

/** Who started which run: no id is used twice, and only the process of a run appends to it. */
type Starters = Map<string, Member>

/** `first`: of the runs that it may be about. */
async function play(member: Member, step: Step, first: number, starters: Starters): Promise<unknown> {
  const { store, owner } = member
  const { other, state, flag } = step
  const run = first + step.run
  const runId = `r${run}`
  const sessionId = sessionOf(run)
  const said = [messageOf(runId, 'assistant', `said by ${runId}`, at(4))]
  const left = state === null ? {} : { state: { left: state } }
  const starts = async (fields: StartFields['run'] = {}, more: Partial<RunStart> = {}) => {
    if (starters.has(runId)) return undefined
    starters.set(runId, member)
    const user_id = users[other % 3] ?? null
    const seed = seedOf({ session_id: sessionId, user_id, state: flag ? { seed: run } : null })
    const given = state === null ? null : { given: state }
    const asked = { run_id: runId, session_id: sessionId, user_id, ...fields }
    return store.startRun({ ...startBy(member, { run: asked, session: flag ? seed : null, state: given }), ...more })
  }
  switch (step.do) {
    case 'start':
      return starts({ status: other > 6 ? 'queued' : 'running' }, { unchecked: other === 0 })
    case 'child':
      return starts({ parent_run_id: `r${run - 2}` }, { state: null })
    case 'replace':
      return starts({}, { replaces: `r${run - (other > 4 ? 2 : 4)}`, whenBusy: flag ? 'queue' : 'refuse' })
    case 'begin':
      return store.beginRun(runId, 1, at(2))
    case 'finish': {
      const status = other > 6 ? 'input_required' : 'completed'
      return store.finishRun(endOf(runId, { status, messages: said, checked: flag, ...left }))
    }
    case 'giveUp':
      return store.finishRun(endOf(runId, { fence: null, status: 'cancelled', end_seq: 3, bringsBack: flag }))
    case 'refuse':
      return store.finishRun(endOf(runId, { status: 'failed', refused: [runId], bringsBack: flag }))
    case 'append':
      return starters
        .get(runId)
        ?.store.appendEvents({ run_id: runId, fence: 1, events: [], reserve_until: 1500, checked: true })
    case 'resume':
      return store.resumeRun({ run_id: runId, end_seq: 2, owner, at: at(3), events: [], reserve_until: 2000 })
    case 'read':
      return look(store, sessionId, runId)
    case 'update':
      return store.updateSession(sessionId, flag ? { state: { updated: state } } : { name: `n${other}` }, at(5))
    case 'share':
      return store.shareSession(sessionId, { user_id: users[other % 2] ?? null }, at(5))
    case 'summarize': {
      const counts = { run_count: 1, message_count: 1, created_at: at(6 + other) }
      return store.saveSummary({ session_id: sessionId, content: `summary ${state}`, model: 'm', ...counts })
    }
    case 'erase':
      return store.eraseUser(users[other % 2] ?? '', 100)
    case 'restore':
      return store.restoreTurn(runId, at(7))
    case 'create':
      return store.createSession(
        seedOf({ session_id: sessionId, user_id: users[other % 3] ?? null, state: { created: true } }),
      )
    case 'delete':
      return store.deleteSession(sessionId)
  }
}

/** Without the messages of runs under way: they may be checked at any time. */
async function told(...given: Parameters<typeof look>) {
  const { history, ...rest } = await look(...given)
  const runs = history.runs.map((run) => (isEnded(run.status) ? run : { ...run, messages: [] }))
  return { ...rest, history: { ...history, runs } }
}

/** A run of this member is told what the store says, as soon as it has started and later. */
async function probe(member: Member, plain: SessionStore, sessionId: string): Promise<void> {
  const run = { session_id: sessionId, user_id: null }
  let start = startOf({ run, session: null, owner: member.owner })
  let started = await member.store.startRun(start)
  if (started.outcome === 'busy') {
    start = startOf({ run: { ...run, parent_run_id: 'r0' }, session: null, owner: member.owner })
    started = await member.store.startRun(start)
  }
  if (started.outcome === 'session_missing') return
  expect(started.outcome).toBe('started')
  const { run_id: runId } = start.run
  const asTold = await told(plain, sessionId)
  expect(await told(member.store, sessionId, runId)).toEqual(asTold)
  expect(await told(member.store, sessionId, runId)).toEqual(asTold)
  const messages = [messageOf(runId, 'assistant', 'seen')]
  expect(await member.store.finishRun(endOf(runId, { messages }))).toBe('ok')
}

/** Does at once what it is asked, and tells some turns of the event loop later, so that answers overtake each other. */
function late(inner: SessionStore, wait: () => number): SessionStore {
  const names = ['startRun', 'beginRun', 'finishRun', 'readHistory', 'readBasis', 'findSummary'] as const
  const store = { ...inner }
  for (const name of names) {
    const method = inner[name] as ((...given: unknown[]) => Promise<unknown>) | undefined
    if (method === undefined) continue
    Object.assign(store, {
      async [name](...given: unknown[]) {
        const turns = wait()
        const answer = method(...given)
        answer.catch(() => {})
        for (let passed = 0; passed < turns; passed++) await yieldToLoop()
        return answer
      },
    })
  }
  return store
}

/** `open` gives three stores of one empty content and one more that caches nothing. */
async function check(
  numRuns: number,
  open: (wrap: (store: SessionStore) => SessionStore) => Promise<[SessionStore[], SessionStore]>,
): Promise<void> {
  const bursts = fc.array(fc.array(anyStep, { maxLength: 8 }), { maxLength: 10 })
  await fc.assert(
    fc.asyncProperty(bursts, async (all) => {
      let ackAfter = 0
      const [stores, plain] = await open((store) => validatedStore(late(store, () => ackAfter)))
      try {
        const members: Member[] = []
        const starters: Starters = new Map()
        for (const [place, store] of stores.entries()) members.push(await join(store, `m${place}`))
        for (const [place, burst] of all.entries()) {
          const pending: Promise<unknown>[] = []
          for (const step of burst) {
            for (let passed = 0; passed < step.after; passed++) await yieldToLoop()
            ackAfter = step.ackAfter
            pending.push(play(members[step.by] as Member, step, 4 * place, starters).catch(() => {}))
          }
          await Promise.all(pending)
          ackAfter = 0
          // The first look of a member finds what the burst left; the second one finds nothing else.
          for (const member of members) {
            for (const id of ['s0', 's1', 's0', 's1']) await probe(member, plain, id)
          }
        }
      } finally {
        for (const store of [...stores, plain]) await store.close()
      }
    }),
    { numRuns },
  )
}

describe('what runs are told of sessions that three cached stores change at random', () => {
  it('is what their shared memory says', { timeout: 120_000 }, async () => {
    await check(500, async (wrap) => {
      const { add } = memoryCluster()
      const stores = [0, 1, 2].map(() => wrap(add().store))
      const plain = add().store
      for (const store of [...stores, plain]) await store.open()
      return [stores, plain]
    })
  })
})

describePostgres('what runs are told of sessions on Postgres', () => {
  const schema = emptiedSchema()
  afterAll(() => schema.drop())

  it('is what the database says, whatever three cached stores change at random', { timeout: 120_000 }, async () => {
    await check(10, async (wrap) => {
      const { url, name } = await schema.empty()
      const [plain, ...stores] = [0, 1, 2, 3].map(() => postgresStore({ url, schema: name })) as [SessionStore]
      const cached = (stores as SessionStore[]).map(wrap)
      for (const store of [plain, ...cached]) await store.open()
      return [cached, plain]
    })
  })
})
