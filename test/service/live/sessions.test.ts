import { expect, test } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import type { LiveItem } from '../../../src/service/live/items.ts'
import { request, runnable } from '../../support/services.ts'
import { anyone, follow, openLive, reading, types } from './open.ts'

const inSession = (...sessions: string[]) => ({ ...anyone, follow: follow([], sessions) })

const eventsOf = (items: readonly LiveItem[], runId?: string): RunEvent[] =>
  items.flatMap((item) =>
    item.type === 'run_event' && (runId === undefined || item.event.run_id === runId) ? [item.event] : [],
  )
const hasEnded = (runId: string) => (items: readonly LiveItem[]) => eventsOf(items, runId).at(-1)?.type === 'run_end'

test('sends a run that begins in a followed session and its events at once, before the lists tell of it', async () => {
  const { live, runs } = await openLive()
  const reader = reading(await live.open(inSession('s')))
  await reader.until((items) => items.length > 0)
  const elsewhere = await runs.start(request('echo', 'not this', { sessionId: 'other' }))
  await elsewhere.result()
  const { runId } = await runs.start(request('echo', 'one two', { sessionId: 's' }))
  await reader.until(hasEnded(runId))
  expect(reader.items[1]).toMatchObject({ type: 'run', run: { run_id: runId, session_id: 's' } })
  expect(eventsOf(reader.items).map(({ seq, type }) => `${seq} ${type}`)).toEqual([
    '1 run_start',
    '2 text_delta',
    '3 text_delta',
    '4 run_end',
  ])
  expect(new Set(types(reader.items.slice(2)))).toEqual(new Set(['run_event']))
  live.close()
  await reader.done
})

test('sends from the beginning what is under way or waits when the stream opens, and nothing ended', async () => {
  const { live, runs, waiting } = await openLive()
  await (await runs.start(request('echo', 'before', { sessionId: 's' }))).result()
  const first = await runs.start(request('waiting', 'x', { sessionId: 's', mode: 'background' }))
  await waiting.begun(0)
  const second = await runs.start(request('echo', 'then', { sessionId: 's', mode: 'background' }))
  const reader = reading(await live.open(inSession('s')))
  await reader.until((items) => eventsOf(items, first.runId).some(({ type }) => type === 'text_delta'))
  waiting.open(0)
  await reader.until(hasEnded(second.runId))
  expect(hasEnded(first.runId)(reader.items)).toBe(true)
  expect(new Set(eventsOf(reader.items).map(({ run_id: runId }) => runId))).toEqual(
    new Set([first.runId, second.runId]),
  )
  for (const { runId } of [first, second]) expect(eventsOf(reader.items, runId)[0]?.seq).toBe(1)
  live.close()
  await reader.done
})

test('goes on with a resumed run at once, also with one that had paused before the stream opened', async () => {
  const asks = runnable(async function* (_input, { resumed }) {
    yield resumed === undefined ? { type: 'input_required', call_id: 'may', prompt: 'May I?' } : 'Thanks.'
  })
  const { live, runs, registry } = await openLive()
  registry.register('asks', asks)
  const reader = reading(await live.open(inSession('s')))
  const { runId } = await runs.start(request('asks', 'x', { sessionId: 's' }))
  await reader.until(hasEnded(runId))
  const later = reading(await live.open(inSession('s')))
  await later.until((items) => items.length > 0)
  await (await runs.resume(runId, { approved: true, mode: 'plain' })).result()
  for (const { items, until } of [reader, later]) {
    await until(() => eventsOf(items, runId).some(({ type }) => type === 'text_delta'))
    await until(hasEnded(runId))
    const numbers = eventsOf(items, runId).map(({ seq }) => seq)
    expect(numbers[0]).toBe(1)
    expect(numbers).toEqual([...new Set(numbers)].toSorted((one, other) => one - other))
  }
  live.close()
  await Promise.all([reader.done, later.done])
})

test("a user gets nothing of another's followed session, nor more of one that was handed over", async () => {
  const { live, runs, sessions, waiting } = await openLive()
  await sessions.create({ session_id: 's', user_id: 'ann' })
  const as = async (user: string) =>
    reading(await live.open({ ...inSession('s'), caller: user, user, operator: false }))
  const [ann, bob] = [await as('ann'), await as('bob')]
  const first = await runs.start(request('waiting', 'x', { sessionId: 's', userId: 'ann' }))
  await ann.until((items) => eventsOf(items).some(({ type }) => type === 'text_delta'))
  await sessions.reuse('s', { user_id: 'bob' })
  waiting.open(0)
  await first.result()
  const second = await runs.start(request('echo', 'for bob', { sessionId: 's', userId: 'bob' }))
  await bob.until(hasEnded(second.runId))
  expect(new Set(eventsOf(bob.items).map(({ run_id: runId }) => runId))).toEqual(new Set([second.runId]))
  expect(eventsOf(ann.items).map(({ type }) => type)).toEqual(['run_start', 'text_delta'])
  live.close()
  await Promise.all([ann.done, bob.done])
})

test('keeps a bounded number of turns for a stalled reader, tells it to begin again, and goes on', async () => {
  const { live, runs, pass } = await openLive()
  const stalled = await live.open(inSession('s'))
  await stalled.next()
  for (let count = 0; count < 250; count++) {
    await (await runs.start(request('echo', 'x', { sessionId: 's' }))).result()
  }
  const reader = reading(stalled)
  pass(2_000)
  await reader.until((items) => items.some((item) => item.type === 'reset' && item.reason === 'behind'))
  const ended = (items: readonly LiveItem[]) => eventsOf(items).filter(({ type }) => type === 'run_end').length
  await reader.until((items) => ended(items) === 200)
  const { runId } = await runs.start(request('echo', 'after', { sessionId: 's' }))
  await reader.until(hasEnded(runId))
  expect(ended(reader.items)).toBe(201)
  live.close()
  await reader.done
})

test('follows any number of turns one after the other, each once', async () => {
  const { live, runs, pass } = await openLive()
  const reader = reading(await live.open(inSession('s')))
  const ids: string[] = []
  for (let count = 0; count < 220; count++) {
    const handle = await runs.start(request('echo', 'x', { sessionId: 's' }))
    ids.push(handle.runId)
    await handle.result()
    await reader.until(hasEnded(handle.runId))
  }
  pass(2_000)
  await reader.until((items) => items.some(({ type }) => type === 'session'))
  expect(eventsOf(reader.items).flatMap(({ type, run_id: runId }) => (type === 'run_end' ? [runId] : []))).toEqual(ids)
  expect(types(reader.items)).not.toContain('reset')
  live.close()
  await reader.done
})
