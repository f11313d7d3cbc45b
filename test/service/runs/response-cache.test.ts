import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Runnable } from '../../../src/core/runnable.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { collect, openServices, request, runnable } from '../../support/services.ts'

const source = { type: 'source', index: 1, source: 'a.md', document_id: 'doc_1', chunk_id: 'chk_1' } as const

/** Counts how often it really answers. */
function counting(cache: Partial<NonNullable<Runnable['cache']>> = {}, more: Partial<Runnable> = {}) {
  const counter = { calls: 0 }
  const entity = runnable(
    async function* ({ text }, context) {
      counter.calls++
      yield { type: 'model_call_start', call_id: 'c', model: 'm', messages: [] }
      yield source
      for (const word of ['answer ', `${counter.calls} `, `to ${text}`]) yield word
      if (text === 'change') context.state.changed = true
      const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
      yield { type: 'model_call_end', call_id: 'c', usage, finish_reason: 'stop', duration_ms: 1 }
    },
    { cache: { ttlMs: 60_000, reads: 'prompt', runs: 20, ...cache }, ...more },
  )
  return { counter, entity }
}

type Services = Awaited<ReturnType<typeof openServices>>
const ask = async ({ runs }: Services, text: string, more = {}) => {
  const handle = await runs.start(request('it', text, more))
  const events = await collect(handle.events())
  return { run: await handle.result(), events }
}

async function openFile(entity: Runnable) {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-cache-'))
  const path = join(folder, 'sessions.db')
  const services = await openServices({ it: entity }, sqliteStore({ path }))
  onTestFinished(async () => {
    await services.store.close()
    await rm(folder, { recursive: true, force: true })
  })
  return { services, path }
}

test('gives the recorded answer to the same question, and records it as a run of its own', async () => {
  const { counter, entity } = counting()
  const { services } = await openFile(entity)
  const first = await ask(services, 'q')
  const second = await ask(services, 'q')
  expect(counter.calls).toBe(1)
  expect(first.run).toMatchObject({ cache_hit: false, usage: { total_tokens: 3 } })
  expect(second.run).toMatchObject({ status: 'completed', cache_hit: true, usage: null })
  expect(second.run.run_id).not.toBe(first.run.run_id)
  expect(second.run.messages.map((message) => message.content)).toEqual(['q', 'answer 1 to q'])
  expect(second.run.sources).toMatchObject([source])
  const shown = (events: typeof first.events) =>
    events
      .filter(({ type }) => type === 'text_delta' || type === 'source')
      .map(({ run_id, seq, at, ...event }) => event)
  expect(shown(second.events)).toEqual(shown(first.events))
  expect(second.events.map((event) => event.type)).not.toContain('model_call_start')
  expect(second.events.at(-1)).toMatchObject({ type: 'run_end', cache_hit: true })
  expect(await services.store.findRun(second.run.run_id)).toEqual(second.run)
  const { session } = await services.sessions.get(second.run.session_id)
  expect(session.runs).toMatchObject([{ cache_hit: true }])
})

test('asks again when the input, the history, the summary or the entity differs, or when its time is over', async () => {
  const { counter, entity } = counting()
  const services = await openServices({ it: entity, other: entity })
  await ask(services, 'q', { sessionId: 'a' })
  await ask(services, 'r', { sessionId: 'b' })
  expect(counter.calls).toBe(2)
  await ask(services, 'q', { sessionId: 'a' })
  expect(counter.calls).toBe(3)
  await (await services.runs.start(request('other', 'q'))).result()
  expect(counter.calls).toBe(4)
  await services.store.createSession({
    ...{ session_id: 'c', agent_id: null, team_id: null, workflow_id: null, user_id: null },
    ...{ name: null, metadata: null, state: null, created_at: new Date().toISOString() },
  })
  const created_at = new Date().toISOString()
  await services.store.saveSummary({
    ...{ session_id: 'c', content: 'before', model: 'm', run_count: 0, message_count: 0, created_at },
  })
  expect((await ask(services, 'q', { sessionId: 'c' })).run.cache_hit).toBe(false)
  const short = counting({ ttlMs: 0 })
  const others = await openServices({ it: short.entity })
  await ask(others, 'q')
  await ask(others, 'q')
  expect(short.counter.calls).toBe(2)
})

test('finds the same history in another session', async () => {
  const { counter, entity } = counting()
  const services = await openServices({ it: entity })
  for (const sessionId of ['a', 'b']) for (const text of ['q', 'more']) await ask(services, text, { sessionId })
  expect(counter.calls).toBe(2)
})

test('tells users, metadata and state apart for an agent that sees them', async () => {
  const { counter, entity } = counting({ reads: 'context' })
  const services = await openServices({ it: entity })
  for (const more of [{}, { userId: 'u' }, { metadata: { a: 1 } }, { state: { b: 1 } }]) {
    await ask(services, 'q', more)
    expect((await ask(services, 'q', more)).run.cache_hit).toBe(true)
  }
  expect(counter.calls).toBe(4)
})

test('tells users apart whatever an agent sees, unless its answers are shared', async () => {
  const own = counting()
  const shared = counting({ shared: true })
  const services = await openServices({ it: own.entity, shared: shared.entity })
  for (const userId of ['ann', 'bob', undefined, 'ann']) {
    await ask(services, 'q', { userId })
    await (await services.runs.start(request('shared', 'q', { userId }))).result()
  }
  expect(own.counter.calls).toBe(3)
  expect(shared.counter.calls).toBe(1)
})

test('keeps no answer that changed the state, failed or was cancelled', async () => {
  const { counter, entity } = counting()
  const failing = runnable(
    async function* () {
      yield 'half'
      throw new Error('no')
    },
    { cache: { ttlMs: 60_000, reads: 'prompt', runs: 20 } },
  )
  const services = await openServices({ it: entity, failing })
  await ask(services, 'change')
  expect((await ask(services, 'change')).run.cache_hit).toBe(false)
  expect(counter.calls).toBe(2)
  for (const cacheHit of [false, false]) {
    expect(await (await services.runs.start(request('failing', 'q'))).result()).toMatchObject({ cache_hit: cacheHit })
  }
})

test('outlives a restart for a known version, and neither restart nor reload for an unknown one', async () => {
  const known = counting({ version: 'one' })
  const { services, path } = await openFile(known.entity)
  await ask(services, 'q')
  const unknown = counting()
  services.registry.replace(new Map([['it', unknown.entity]]))
  await ask(services, 'q')
  expect((await ask(services, 'q')).run.cache_hit).toBe(true)
  services.registry.replace(new Map([['it', counting().entity]]))
  expect((await ask(services, 'q')).run.cache_hit).toBe(false)
  services.registry.replace(new Map([['it', counting({ version: 'two' }).entity]]))
  expect((await ask(services, 'q')).run.cache_hit).toBe(false)
  await services.store.close()
  const again = await openServices({ it: counting({ version: 'one' }).entity }, sqliteStore({ path }))
  onTestFinished(() => again.store.close())
  expect((await ask(again, 'q')).run).toMatchObject({ cache_hit: true, messages: [{}, { content: 'answer 1 to q' }] })
})

test('answers itself when the recorded answer is not whole or the store fails', async () => {
  const { counter, entity } = counting()
  const inner = memoryStore()
  let broken: 'events' | 'cache' | undefined
  const store = new Proxy(inner, {
    get: (target, key, receiver) => {
      if (key === 'readEvents' && broken === 'events') return async () => []
      if ((key === 'findCached' || key === 'cacheAnswer') && broken === 'cache')
        return async () => Promise.reject(new Error('no'))
      return Reflect.get(target, key, receiver)
    },
  })
  const services = await openServices({ it: entity }, store)
  await ask(services, 'q')
  for (const how of ['events', 'cache'] as const) {
    broken = how
    const { run } = await (async () => ({ run: await (await services.runs.start(request('it', 'q'))).result() }))()
    expect(run).toMatchObject({ status: 'completed', cache_hit: false })
  }
  expect(counter.calls).toBe(3)
})

test('sees the earlier runs past those that wait behind it', async () => {
  const seen: string[][] = []
  const entity = runnable(async function* (_input, { history }) {
    yield 'x'
    seen.push((await history(2)).map((message) => message.content))
  })
  const services = await openServices({ it: entity })
  await ask(services, 'one', { sessionId: 's' })
  const handles = await Promise.all(
    Array.from({ length: 40 }, (_, n) => services.runs.start(request('it', `n${n}`, { sessionId: 's' }))),
  )
  await Promise.all(handles.map((handle) => handle.result()))
  expect(seen[1]).toEqual(['one', 'x'])
  expect(seen[40]).toEqual(['n37', 'x', 'n38', 'x'])
})

test('keeps no answer that a person had to allow', async () => {
  let calls = 0
  const asking = runnable(
    async function* (_input, { resumed }) {
      calls++
      if (resumed === undefined) yield { type: 'input_required', call_id: 'may', prompt: 'May I?' }
      else yield 'done'
    },
    { cache: { ttlMs: 60_000, reads: 'prompt', runs: 0 } },
  )
  const services = await openServices({ it: asking })
  const first = await ask(services, 'q')
  await (await services.runs.resume(first.run.run_id, { approved: true, mode: 'plain' })).result()
  expect((await ask(services, 'q')).run).toMatchObject({ status: 'input_required', cache_hit: false })
  expect(calls).toBe(3)
})
