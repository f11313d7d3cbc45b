import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Runnable } from '../../../src/core/runnable.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import type { StartRun } from '../../../src/service/services.ts'
import { cachedStore } from '../../../src/store/cached/cached-store.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { at, seedOf } from '../../contract/session-store/builders.ts'
import { answer, scripted } from '../../runnables/fixture.ts'
import { echo, gate, openServices, request, runnable } from '../../support/services.ts'

const sessionId = 's'
const counting = runnable(async function* (_input, { state }) {
  state.n = Number(state.n ?? 0) + 1
  yield String(state.n)
})
const asks = runnable(async function* (_input, { resumed }) {
  if (resumed === undefined) yield { type: 'input_required', call_id: 'may', prompt: 'May I?' }
  else yield 'Thanks.'
})
/** Begins, and says nothing until it is cancelled. */
function silent() {
  const begun = Promise.withResolvers<void>()
  const waits = runnable(async function* (_input, { signal }) {
    begun.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    yield* []
  })
  return { waits, begun: begun.promise }
}
const superseded = { status: 'cancelled', cancellation_reason: 'superseded' }

async function openOn(store: SessionStore, entities: Record<string, Runnable>) {
  const services = await openServices({ echo, counting, asks, ...entities }, store)
  const { runs } = services
  const start = (id: string, more: Partial<StartRun> = {}) => runs.start(request(id, 'word', { sessionId, ...more }))
  const say = async (id: string, more: Partial<StartRun> = {}) => (await (await start(id, more)).result()).run_id
  const shown = async () => (await store.readHistory(sessionId, 20)).runs.map(({ run_id }) => run_id)
  const markOf = async (runId: string) => (await runs.get(runId)).replaced_by
  const stateNow = async () => (await store.findSession(sessionId))?.session.state
  return { ...services, start, say, shown, markOf, stateNow }
}

describe.each(['memory', 'sqlite'])('a run that replaces a turn, in %s', (kind) => {
  async function open(entities: Record<string, Runnable> = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'agentserve-replacing-'))
    const path = join(folder, 'agentserve.db')
    const store = cachedStore(kind === 'memory' ? memoryStore() : sqliteStore({ path }))
    const services = await openOn(store, entities)
    onTestFinished(async () => {
      await services.runs.shutdown(0)
      await store.close()
      await rm(folder, { recursive: true, force: true })
    })
    return { ...services, path }
  }

  it('with interrupt cancels what is under way and queued, also before that turn', async () => {
    const { waits, begun } = silent()
    const { start, say, shown, markOf, runs } = await open({ waits })
    const first = await say('echo')
    const active = await start('waits')
    await begun
    const queued = await start('echo', { mode: 'background' })
    const next = await say('echo', { replaces: queued.runId, strategy: 'interrupt' })
    expect(await active.result()).toMatchObject(superseded)
    expect(await queued.result()).toMatchObject(superseded)
    expect(await shown()).toEqual([first, active.runId, next])
    expect([await markOf(active.runId), await markOf(queued.runId)]).toEqual([null, next])
    expect((await runs.get(next)).status).toBe('completed')
  })

  it('with interrupt replaces all later turns, those under way too', async () => {
    const { waits, begun } = silent()
    const { start, say, shown, markOf } = await open({ waits })
    const first = await say('echo')
    const active = await start('waits')
    await begun
    const next = await say('echo', { replaces: first, strategy: 'interrupt' })
    expect(await active.result()).toMatchObject(superseded)
    expect(await shown()).toEqual([next])
    expect([await markOf(first), await markOf(active.runId)]).toEqual([next, next])
  })

  it('with reject is refused while a run is under way, and changes nothing', async () => {
    const { waits, begun } = silent()
    const { start, say, shown, runs, stateNow } = await open({ waits })
    const first = await say('counting')
    const paused = await say('asks')
    const active = await start('waits')
    await begun
    for (const replaces of [first, paused, active.runId]) {
      await expect(start('echo', { replaces, strategy: 'reject' })).rejects.toMatchObject({ code: 'conflict' })
    }
    expect(await shown()).toEqual([first, paused, active.runId])
    expect((await runs.get(paused)).status).toBe('input_required')
    expect((await runs.get(active.runId)).status).toBe('running')
    expect(await stateNow()).toEqual({ n: 1 })
    await runs.cancel(active.runId)
    const next = await say('counting', { replaces: first, strategy: 'reject' })
    expect(await shown()).toEqual([next])
    expect(await stateNow()).toEqual({ n: 1 })
  })

  it.each(['conflict', 'join'] as const)(
    'is answered again for its key (%s) and replaces nothing twice',
    async (way) => {
      const { runnable: slow, begun, open: go } = gate()
      const { start, say, shown, runs } = await open({ slow })
      const first = await say('echo')
      const keyed = { replaces: first, idempotency: { key: 'k', hash: 'h', whileRunning: way } }
      const made = await start('slow', keyed)
      await begun(0)
      if (way === 'join') expect((await start('slow', keyed)).runId).toBe(made.runId)
      else await expect(start('slow', keyed)).rejects.toMatchObject({ code: 'conflict', runId: made.runId })
      go(0)
      await made.result()
      const again = await start('slow', keyed)
      expect([again.runId, again.replayed]).toEqual([made.runId, true])
      const later = await say('echo')
      expect((await start('slow', keyed)).runId).toBe(made.runId)
      expect(await shown()).toEqual([made.runId, later])
      const other = { ...keyed, idempotency: { ...keyed.idempotency, hash: 'other' } }
      await expect(start('slow', other)).rejects.toMatchObject({ code: 'idempotency_mismatch' })
      expect((await runs.list({ session_id: sessionId }, { limit: 10 })).items).toHaveLength(3)
    },
  )

  it('is started once by equal requests at the same time', async () => {
    const { start, say, shown } = await open()
    const first = await say('echo')
    const keyed = { replaces: first, idempotency: { key: 'k', hash: 'h', whileRunning: 'join' as const } }
    const handles = await Promise.all(Array.from({ length: 5 }, () => start('echo', keyed)))
    const ids = new Set(handles.map(({ runId }) => runId))
    await Promise.all(handles.map((handle) => handle.result()))
    expect(ids.size).toBe(1)
    expect(await shown()).toEqual([...ids])
  })

  it('cancels the run that waited for approval and its children, and nothing else', async () => {
    const asking = agent({
      async *run() {
        yield { type: 'input_required', call_id: 'may', prompt: 'May I?' }
      },
    })
    const pair = team({ members: ['asking'], mode: 'sequence' })
    const { say, shown, runs, start } = await open({ asking, pair })
    const before = await say('asks')
    const paused = await say('pair')
    const [child] = (await runs.list({ parent_run_id: paused }, { limit: 10 })).items
    expect([(await runs.get(paused)).status, child?.status]).toEqual(['input_required', 'input_required'])
    const next = await say('echo', { replaces: paused })
    for (const id of [paused, child?.run_id ?? '']) {
      expect(await runs.get(id)).toMatchObject({ ...superseded, waiting: [] })
      await expect(runs.resume(id, { approved: true, mode: 'plain' })).rejects.toMatchObject({ code: 'conflict' })
    }
    expect((await runs.get(before)).status).toBe('input_required')
    await expect(start('echo', { replaces: child?.run_id ?? '' })).rejects.toMatchObject({ code: 'run_not_found' })
    expect(await shown()).toEqual([before, next])
  })

  it('keeps the place when its input is refused, and shows neither the input nor what it replaced', async () => {
    const secret = 'hunter2unmistakable'
    const model = scripted(answer('the wrong answer'), answer('fine'))
    const guarded = agent({
      model,
      guardrails: { input: ({ text }) => (text.includes(secret) ? { refuse: 'Not that.' } : undefined) },
    })
    const { start, say, shown, store, runs } = await open({ guarded })
    const wrong = await say('guarded')
    const handle = await runs.start(request('guarded', secret, { sessionId, replaces: wrong }))
    const refused = await handle.result()
    expect(refused).toMatchObject({ status: 'completed', messages: [{}, { content: 'Not that.' }] })
    expect(await shown()).toEqual([refused.run_id])
    await (await start('guarded')).result()
    const prompt = JSON.stringify(model.doStreamCalls.at(-1)?.prompt)
    expect(prompt).not.toMatch(new RegExp(`${secret}|wrong answer|Not that`))
    expect(JSON.stringify(await store.readRecords(sessionId, undefined, 10))).not.toContain(secret)
  })

  it('gives a run that is cancelled before it said anything its place back, with the state', async () => {
    const { waits, begun } = silent()
    const { start, say, shown, markOf, stateNow, runs } = await open({ waits })
    const [first, second] = [await say('counting'), await say('counting')]
    const active = await start('waits', { replaces: first })
    await begun
    expect(await shown()).toEqual([active.runId])
    await runs.cancel(active.runId)
    expect(await shown()).toEqual([first, second])
    expect([await markOf(active.runId), await markOf(first)]).toEqual([first, null])
    expect(await stateNow()).toEqual({ n: 2 })
  })

  it('has the user of the session, queued and resumed too', async () => {
    const users: (string | null)[] = []
    const { runnable: slow, begun, open: go } = gate()
    const early = runnable(
      async function* (_input, { userId }) {
        users.push(userId)
        yield 'x'
      },
      { sideEffects: false },
    )
    const tells = runnable(async function* (_input, { userId, resumed }) {
      users.push(userId)
      if (resumed === undefined) yield { type: 'input_required', call_id: 'may', prompt: 'May I?' }
      else yield 'Thanks.'
    })
    const { start, say, runs, sessions, store } = await open({ slow, tells, early })
    await store.createSession(seedOf({ session_id: sessionId, user_id: 'ann' }))
    const active = await start('slow')
    await begun(0)
    const queued = await start('tells', { mode: 'background' })
    const own = await start('tells', { mode: 'background', userId: 'bob' })
    go(0)
    await Promise.all([active.result(), queued.result(), own.result()])
    expect(users).toEqual(['ann', 'bob'])
    await sessions.reuse(sessionId, { user_id: 'cid' })
    for (const { runId } of [queued, own]) await (await runs.resume(runId, { approved: true, mode: 'plain' })).result()
    expect(users.splice(0)).toEqual(['ann', 'bob', 'ann', 'bob'])
    const later = [await say('early'), await say('tells')]
    expect(users).toEqual(['cid', 'cid'])
    const ids = [active.runId, queued.runId, own.runId, ...later]
    const recorded = await Promise.all(ids.map(async (id) => (await store.findRun(id))?.user_id))
    expect(recorded).toEqual(['ann', 'ann', 'bob', 'cid', 'cid'])
  })
})

it('a retry is answered by the first run when that took the place after the key was looked up', async () => {
  const inner = memoryStore()
  const held = Promise.withResolvers<void>()
  const looked = Promise.withResolvers<void>()
  let isFirst = true
  const findClaim: SessionStore['findClaim'] = async (key) => {
    const claim = await inner.findClaim(key)
    if (!isFirst) return claim
    isFirst = false
    looked.resolve()
    await held.promise
    return claim
  }
  const { start, say, shown } = await openOn({ ...inner, findClaim }, {})
  const first = await say('echo')
  const keyed = { replaces: first, idempotency: { key: 'k', hash: 'h', whileRunning: 'conflict' as const } }
  const late = start('echo', keyed)
  await looked.promise
  const made = await say('echo', keyed)
  held.resolve()
  expect(await late).toMatchObject({ runId: made, replayed: true })
  expect(await shown()).toEqual([made])
})

describe('a run that replaced a turn when the process was killed', () => {
  /** What the next process finds: the first one never ends anything. */
  async function open(entities: Record<string, Runnable> = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'agentserve-replacing-'))
    const path = join(folder, 'agentserve.db')
    const written = Promise.withResolvers<void>()
    const inner = sqliteStore({ path })
    const appendEvents: SessionStore['appendEvents'] = async (...append) => {
      const outcome = await inner.appendEvents(...append)
      written.resolve()
      return outcome
    }
    const first = await openOn(cachedStore({ ...inner, appendEvents }), entities)
    const stores = [first.store]
    onTestFinished(async () => {
      await first.runs.shutdown(0)
      for (const store of stores) await store.close()
      await rm(folder, { recursive: true, force: true })
    })
    async function restart() {
      const store = cachedStore(sqliteStore({ path }))
      stores.push(store)
      const next = await openOn(store, entities)
      next.runs.adopt((await store.recover('own_next', at(90))).queued)
      return next
    }
    return { ...first, restart, written: written.promise }
  }

  it('gives the place back, with the state, if it had said nothing', async () => {
    const { waits, begun } = silent()
    const { start, say, restart } = await open({ waits })
    const [first, second] = [await say('counting'), await say('counting')]
    const keyed = { replaces: second, idempotency: { key: 'k', hash: 'h', whileRunning: 'conflict' as const } }
    const killed = await start('waits', keyed)
    await begun
    const next = await restart()
    expect(await next.shown()).toEqual([first, second])
    expect(await next.stateNow()).toEqual({ n: 2 })
    expect(await next.runs.get(killed.runId)).toMatchObject({ status: 'interrupted', replaced_by: second })
    const resumed = next.runs.resume(killed.runId, { mode: 'plain' })
    await expect(resumed).rejects.toMatchObject({ code: 'conflict' })
    await expect(next.start('waits', keyed)).rejects.toMatchObject({ code: 'run_interrupted' })
    const third = await next.say('counting', { replaces: second })
    expect(await next.shown()).toEqual([first, third])
    expect(await next.stateNow()).toEqual({ n: 2 })
  })

  it('keeps the place if its first text was recorded', async () => {
    const { runnable: slow, begun } = gate()
    const { start, say, restart, written } = await open({ slow })
    const [first, second] = [await say('counting'), await say('counting')]
    const killed = await start('slow', { replaces: second })
    await begun(0)
    await written
    const next = await restart()
    expect(await next.shown()).toEqual([first, killed.runId])
    expect(await next.stateNow()).toEqual({ n: 1 })
    expect(await next.markOf(second)).toBe(killed.runId)
  })

  it('is answered for its key by the next process if it had ended', async () => {
    const { say, restart } = await open()
    const first = await say('echo')
    const keyed = { replaces: first, idempotency: { key: 'k', hash: 'h', whileRunning: 'join' as const } }
    const made = await say('echo', keyed)
    const next = await restart()
    const again = await next.start('echo', keyed)
    expect([again.runId, again.replayed]).toEqual([made, true])
    expect(await next.shown()).toEqual([made])
  })

  it('is begun by the next process if it was queued, and replaces what it replaced', async () => {
    const { waits, begun } = silent()
    const { start, say, restart } = await open({ waits })
    const first = await say('counting')
    const active = await start('waits')
    await begun
    const second = await start('echo', { mode: 'background' })
    const queued = await start('counting', { replaces: second.runId, mode: 'background' })
    const next = await restart()
    await next.runs.idle()
    expect(await next.runs.get(queued.runId)).toMatchObject({ status: 'completed', replaced_by: null })
    expect(await next.runs.get(second.runId)).toMatchObject({ status: 'cancelled', replaced_by: queued.runId })
    expect(await next.shown()).toEqual([first, active.runId, queued.runId])
    expect(await next.stateNow()).toEqual({ n: 2 })
  })
})
