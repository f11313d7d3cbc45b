import { expect, test } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { collect, echo, gate, openServices, request, runnable } from '../../support/services.ts'
import { turns } from '../../support/turns.ts'

test('streams the events of a run in order, from any number', async () => {
  const { runs } = await openServices({ echo })
  const handle = await runs.start(request('echo', 'one two three', { mode: 'stream' }))
  const events = await collect(handle.events())
  expect(events.map((event) => [event.seq, event.type])).toEqual([
    [1, 'run_start'],
    [2, 'text_delta'],
    [3, 'text_delta'],
    [4, 'text_delta'],
    [5, 'run_end'],
  ])
  for (let after = 0; after <= 5; after++) {
    expect(await collect(await runs.events(handle.runId, after))).toEqual(events.slice(after))
  }
})

test('folds the same stream into the recorded run', async () => {
  const { runs } = await openServices({ echo })
  const run = await (await runs.start(request('echo', 'hello world'))).result()
  expect(run).toMatchObject({ status: 'completed', entity_id: 'echo', cache_hit: false, cancellation_reason: null })
  expect(run.messages.map((message) => [message.role, message.content])).toEqual([
    ['user', 'hello world'],
    ['assistant', 'hello world'],
  ])
  expect(await runs.get(run.run_id)).toEqual(run)
})

test('shows nothing before the start is durable and no end before the end is', async () => {
  const order: string[] = []
  const inner = memoryStore()
  const slow = (name: 'startRun' | 'finishRun') => async (argument: never) => {
    await turns(20)
    const result = await (inner[name] as (argument: never) => Promise<unknown>)(argument)
    order.push(`${name} durable`)
    return result
  }
  const store = new Proxy(inner, {
    get: (target, key, receiver) =>
      key === 'startRun' || key === 'finishRun' ? slow(key) : Reflect.get(target, key, receiver),
  }) as SessionStore
  const { runs } = await openServices({ echo }, store)
  const handle = await runs.start(request('echo', 'a b', { mode: 'stream' }))
  for await (const batch of handle.events()) for (const event of batch) order.push(event.type)
  expect(order).toEqual(['startRun durable', 'run_start', 'text_delta', 'text_delta', 'finishRun durable', 'run_end'])
})

test('lets an agent with effects begin only after its start is durable', async () => {
  const order: string[] = []
  const inner = memoryStore()
  const store = new Proxy(inner, {
    get: (target, key, receiver) =>
      key === 'startRun'
        ? async (start: Parameters<SessionStore['startRun']>[0]) => {
            await turns(20)
            const started = await inner.startRun(start)
            order.push('durable')
            return started
          }
        : Reflect.get(target, key, receiver),
  }) as SessionStore
  const acting = runnable(async function* () {
    order.push('acts')
    yield 'done'
  })
  const { runs } = await openServices({ acting }, store)
  await (await runs.start(request('acting', 'go'))).result()
  expect(order).toEqual(['durable', 'acts'])
})

test('records a cancelled run at once, keeps its partial output and drops what comes later', async () => {
  const { runnable: slow, begun, open } = gate()
  const { runs } = await openServices({ slow })
  const handle = await runs.start(request('slow', 'x', { mode: 'stream' }))
  const context = await begun(0)
  const cancelled = await runs.cancel(handle.runId, 'changed my mind')
  expect(cancelled).toMatchObject({ status: 'cancelled', cancellation_reason: 'changed my mind' })
  expect(context.signal.aborted).toBe(true)
  open(0)
  const events = await collect(handle.events())
  expect(events.at(-1)).toMatchObject({ type: 'run_end', status: 'cancelled', cancellation_reason: 'changed my mind' })
  expect((await runs.get(handle.runId)).messages.at(-1)?.content).toBe('a')
  await expect(runs.cancel(handle.runId)).rejects.toMatchObject({ code: 'conflict' })
})

test('cancels a run whose client has gone, unless it shall continue', async () => {
  const { runnable: slow, begun, open } = gate()
  const { runs } = await openServices({ slow })
  const client = new AbortController()
  const first = await runs.start(request('slow', 'x', { signal: client.signal, sessionId: 's1' }))
  const second = await runs.start(
    request('slow', 'x', { signal: client.signal, sessionId: 's2', onDisconnect: 'continue' }),
  )
  await begun(1)
  client.abort()
  expect(await first.result()).toMatchObject({ status: 'cancelled', cancellation_reason: 'client_disconnected' })
  open(1)
  expect(await second.result()).toMatchObject({ status: 'completed' })
})

test('stops a run that takes longer than the request timeout, even one that ignores its signal', async () => {
  const { runnable: slow } = gate()
  const { runs } = await openServices({ slow }, memoryStore(), 20)
  const plain = await runs.start(request('slow', 'x'))
  expect(await plain.result()).toMatchObject({ status: 'cancelled', cancellation_reason: 'timeout' })
  const streamed = await runs.start(request('slow', 'x', { mode: 'stream' }))
  expect((await collect(streamed.events())).at(-1)).toMatchObject({ type: 'run_end', cancellation_reason: 'timeout' })
})

test('records a failed run with its partial output and says nothing of a foreign error', async () => {
  const failing = runnable(async function* () {
    yield 'half'
    throw new Error('password=hunter2')
  })
  const { runs } = await openServices({ failing })
  const run = await (await runs.start(request('failing', 'x'))).result()
  expect(run).toMatchObject({ status: 'failed', error: { code: 'run_failed' } })
  expect(run.messages.at(-1)?.content).toBe('half')
  expect(JSON.stringify(run)).not.toContain('hunter2')
  expect((await collect(await runs.events(run.run_id, 0))).at(-1)).toMatchObject({ type: 'run_error' })
})

test('never runs two of one session at a time, and in the order they came', async () => {
  let running = 0
  let most = 0
  const texts: string[] = []
  const counting = runnable(async function* ({ text }) {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    texts.push(text)
    yield text
    running--
  })
  const { runs, store } = await openServices({ counting })
  const handles = await Promise.all(
    Array.from({ length: 20 }, (_, index) => runs.start(request('counting', String(index), { sessionId: 'one' }))),
  )
  await Promise.all(handles.map((handle) => handle.result()))
  expect(most).toBe(1)
  expect(texts).toEqual(Array.from({ length: 20 }, (_, index) => String(index)))
  expect((await store.findSession('one'))?.session.run_count).toBe(20)
  expect(runs.active).toBe(0)
})

test('rejects or supersedes when the session already runs', async () => {
  const { runnable: slow, begun, open } = gate()
  const { runs } = await openServices({ slow })
  const first = await runs.start(request('slow', '1', { sessionId: 'one' }))
  await begun(0)
  await expect(runs.start(request('slow', '2', { sessionId: 'one', strategy: 'reject' }))).rejects.toMatchObject({
    code: 'conflict',
  })
  const third = await runs.start(request('slow', '3', { sessionId: 'one', strategy: 'interrupt' }))
  expect(await first.result()).toMatchObject({ status: 'cancelled', cancellation_reason: 'superseded' })
  await begun(1)
  open(1)
  expect(await third.result()).toMatchObject({ status: 'completed' })
})

test('bounds the queue of a session', async () => {
  const { runnable: slow, begun } = gate()
  const { runs, sessions } = await openServices({ slow })
  await runs.start(request('slow', 'x', { sessionId: 'one' }))
  await begun(0)
  for (let index = 0; index < 100; index++) await runs.start(request('slow', 'x', { sessionId: 'one' }))
  await expect(runs.start(request('slow', 'x', { sessionId: 'one' }))).rejects.toMatchObject({ code: 'rate_limited' })
  await sessions.delete('one')
  expect(runs.active).toBe(0)
})

test('answers a repeated request with the first run, and refuses another body under its key', async () => {
  const { runs } = await openServices({ echo })
  const idempotency = { key: 'k', hash: 'h', whileRunning: 'conflict' } as const
  const first = await (await runs.start(request('echo', 'hello', { idempotency }))).result()
  const again = await runs.start(request('echo', 'hello', { idempotency }))
  expect(again).toMatchObject({ replayed: true, runId: first.run_id })
  expect(await again.result()).toEqual(first)
  const other = { ...idempotency, hash: 'other' }
  await expect(runs.start(request('echo', 'bye', { idempotency: other }))).rejects.toMatchObject({
    code: 'idempotency_mismatch',
  })
})

test('joins or refuses a repeated request while the first still runs', async () => {
  const { runnable: slow, begun, open } = gate()
  const { runs } = await openServices({ slow })
  const idempotency = { key: 'k', hash: 'h', whileRunning: 'join' } as const
  const first = await runs.start(request('slow', 'x', { idempotency }))
  await begun(0)
  await expect(
    runs.start(request('slow', 'x', { idempotency: { ...idempotency, whileRunning: 'conflict' } })),
  ).rejects.toMatchObject({ code: 'conflict' })
  const joined = await runs.start(request('slow', 'x', { idempotency }))
  open(0)
  expect(joined.runId).toBe(first.runId)
  expect((await joined.result()).run_id).toBe((await first.result()).run_id)
})

test('refuses what does not exist', async () => {
  const { runs } = await openServices({ echo })
  await expect(runs.start(request('nobody', 'x'))).rejects.toMatchObject({ code: 'agent_not_found' })
  await expect(runs.start(request('echo', 'x', { sessionId: 'gone', unknownSession: 'refuse' }))).rejects.toMatchObject(
    {
      code: 'session_not_found',
    },
  )
  await expect(runs.get('run_x')).rejects.toMatchObject({ code: 'run_not_found' })
  await expect(runs.events('run_x', 0)).rejects.toMatchObject({ code: 'run_not_found' })
})

test('gives a run the messages before it, and keeps the state that it changed', async () => {
  const remembering = runnable(async function* (_input, context) {
    const count = Number(context.state.count ?? 0) + 1
    context.state.count = count
    yield (await context.history()).map((message) => message.content).join('|')
  })
  const { runs, store } = await openServices({ remembering })
  const first = await (await runs.start(request('remembering', 'one', { state: { count: 41 } }))).result()
  const second = await (await runs.start(request('remembering', 'two', { sessionId: first.session_id }))).result()
  const third = await (await runs.start(request('remembering', 'three', { sessionId: first.session_id }))).result()
  expect(second.messages.at(-1)?.content).toBe('one')
  expect(third.messages.at(-1)?.content).toBe('one|two|one')
  expect((await store.findSession(first.session_id))?.session.state).toEqual({ count: 44 })
})

test('reads a long run completely although its window is bounded, however late the reader comes', async () => {
  const long = runnable(async function* () {
    for (let index = 0; index < 20_000; index++) yield `${index} `
  })
  const { runs } = await openServices({ long })
  const handle = await runs.start(request('long', 'x', { mode: 'stream' }))
  const iterator = handle.events()[Symbol.asyncIterator]()
  const first = await iterator.next()
  await handle.result()
  const events = first.done ? [] : [...first.value]
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) events.push(...next.value)
  expect(events.map((event) => event.seq)).toEqual(Array.from({ length: 20_002 }, (_, index) => index + 1))
})

test('shuts down: refuses new work, cancels runs at the deadline, keeps queued background runs', async () => {
  const { runnable: slow, begun } = gate()
  const { runs, store } = await openServices({ slow })
  const first = await runs.start(request('slow', '1', { sessionId: 'one' }))
  await begun(0)
  const waiting = await runs.start(request('slow', '2', { sessionId: 'one', mode: 'background' }))
  await runs.shutdown(10)
  expect(await first.result()).toMatchObject({ status: 'cancelled', cancellation_reason: 'shutdown' })
  expect((await store.findRun(waiting.runId))?.status).toBe('queued')
  await expect(runs.start(request('slow', '3'))).rejects.toMatchObject({ code: 'unavailable' })
})

test("fails with another run's end, and does not take it for its own", async () => {
  for (const code of ['run_cancelled', 'run_interrupted'] as const) {
    const calling = runnable(async function* () {
      yield 'I asked. '
      throw new AppError(code, 'It was stopped.', { runId: 'run_elsewhere' })
    })
    const { runs } = await openServices({ calling })
    const handle = await runs.start(request('calling', 'x'))
    expect(await handle.result()).toMatchObject({ status: 'failed', error: { code } })
  }
})
