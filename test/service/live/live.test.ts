import { expect, test } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import { request } from '../../support/services.ts'
import { anyone, follow, openLive, reading, types } from './open.ts'

const has =
  (type: string, count = 1) =>
  (items: readonly { type: string }[]) =>
    items.filter((item) => item.type === type).length >= count

test('tells a run and its session at its start and its end, as the store has them', async () => {
  const { live, runs, waiting, pass } = await openLive()
  const reader = reading(await live.open(anyone))
  await reader.until(has('hello'))
  const handle = await runs.start(request('waiting', 'hello', { sessionId: 's' }))
  await waiting.begun(0)
  pass(100)
  await reader.until(has('session'))
  expect(reader.items.slice(1)).toMatchObject([
    { type: 'run', run: { run_id: handle.runId, status: 'running' } },
    { type: 'session', head: { session_id: 's', run_count: 1, status: 'running' } },
  ])
  waiting.open(0)
  await handle.result()
  pass(100)
  await reader.until(has('session', 2))
  expect(reader.items.slice(3)).toMatchObject([
    { type: 'run', run: { run_id: handle.runId, status: 'completed' } },
    { type: 'session', head: { session_id: 's', status: 'completed' } },
  ])
  live.close()
  await reader.done
})

test('sends the newest state only, at most ten times a second', async () => {
  const { live, sessions, pass, read } = await openLive()
  const reader = reading(await live.open(anyone))
  await sessions.create({ session_id: 's' })
  for (let count = 1; count <= 50; count++) {
    await sessions.update('s', { name: `name ${count}` })
    pass(20)
    await Promise.resolve()
  }
  // A read during which the time passed is followed by a rest.
  pass(2_000)
  await reader.until((items) => items.some((item) => item.type === 'session' && item.head.name === 'name 50'))
  expect(read.length).toBeLessThanOrEqual(12)
  live.close()
  await reader.done
})

test('reads nothing, sets no timer and notes nothing without a reader, and stops some time after the last', async () => {
  const { live, runs, timers, pass, read } = await openLive()
  await (await runs.start(request('echo', 'before'))).result()
  expect([read.length, timers.size]).toEqual([0, 0])
  const reader = await live.open(anyone)
  await reader.next()
  await reader.return()
  await (await runs.start(request('echo', 'lingers'))).result()
  pass(30_000)
  expect(timers.size).toBe(0)
  await (await runs.start(request('echo', 'after'))).result()
  expect([read.length, timers.size]).toEqual([0, 0])
  live.close()
})

test('goes on after the last event without a gap, with what the changed things are by then', async () => {
  const { live, sessions, pass } = await openLive()
  const first = reading(await live.open(anyone))
  await sessions.create({ session_id: 'one' })
  pass(100)
  await first.until(has('session'))
  const { last: after } = first
  const stopped = await live.open({ ...anyone, after })
  await stopped.return()
  await sessions.create({ session_id: 'two' })
  await sessions.update('one', { name: 'changed' })
  pass(100)
  await sessions.delete('two')
  pass(100)
  const second = reading(await live.open({ ...anyone, after }))
  pass(100)
  await second.until(has('session_deleted'))
  await second.until(has('session'))
  expect(second.items).toMatchObject([
    { type: 'hello' },
    { type: 'session_deleted', session_id: 'two' },
    { type: 'session', head: { session_id: 'one', name: 'changed' } },
  ])
  live.close()
  await Promise.all([first.done, second.done])
})

test.each([
  ['another process', 'srv_other.1', 'restarted'],
  ['a number that has not been', 'srv_one.999', 'missed'],
  ['no number', 'srv_one.x', 'missed'],
  ['nothing of ours', 'x', 'restarted'],
])('tells a reader to begin again whose last event is of %s', async (_, after, reason) => {
  const { live, pass } = await openLive()
  const reader = reading(await live.open({ ...anyone, after }))
  pass(100)
  await reader.until(has('reset'))
  expect(reader.items).toEqual([{ type: 'hello' }, { type: 'reset', reason }])
  live.close()
  await reader.done
})

test('tells a reader to begin again after more changes than are kept, and after all had left', async () => {
  const { live, sessions, pass } = await openLive()
  const first = reading(await live.open(anyone))
  await first.until(has('hello'))
  const { last } = first
  for (let count = 0; count < 1_001; count++) {
    await sessions.create({ session_id: `s${count}` })
    if (count % 100 === 0) pass(100)
  }
  pass(100)
  const second = reading(await live.open({ ...anyone, after: last }))
  pass(100)
  await second.until(has('reset'))
  expect(second.items[1]).toEqual({ type: 'reset', reason: 'missed' })
  const at = second.last
  live.close()
  await Promise.all([first.done, second.done])

  const other = await openLive()
  const gone = await other.live.open(anyone)
  await gone.return()
  other.pass(30_000)
  const third = reading(await other.live.open({ ...anyone, after: 'srv_one.0' }))
  other.pass(100)
  await third.until(has('reset'))
  expect(at).toMatch(/^srv_one\.\d+$/)
  other.live.close()
  await third.done
})

test('keeps the names of at most 1,000 things for a stalled reader, then tells it to begin again', async () => {
  const { live, sessions, pass } = await openLive()
  const stalled = await live.open(anyone)
  expect((await stalled.next()).value?.items).toEqual([{ type: 'hello' }])
  for (let count = 0; count < 1_500; count++) {
    await sessions.create({ session_id: `s${count}` })
    if (count % 100 === 0) pass(100)
    expect(stalled.pending).toBeLessThanOrEqual(1_000)
  }
  pass(100)
  const next = await stalled.next()
  expect(next.value?.items).toEqual([{ type: 'reset', reason: 'behind' }])
  await sessions.create({ session_id: 'later' })
  pass(100)
  expect((await stalled.next()).value?.items).toMatchObject([{ type: 'session', head: { session_id: 'later' } }])
  live.close()
})

test('drops the names of more changes than are kept between two steps, says so, and goes on', async () => {
  const { live, sessions, pass, read } = await openLive()
  const reader = reading(await live.open(anyone))
  await reader.until(has('hello'))
  await sessions.create({ session_id: 'first' })
  pass(100)
  await reader.until(has('session'))
  const { last: after } = reader
  live.agentsLoaded({ ok: true })
  for (let count = 0; count < 1_001; count++) await sessions.create({ session_id: `s${count}` })
  pass(2_000)
  await reader.until(has('reset'))
  pass(2_000)
  await reader.until(has('agents'))
  expect(reader.items.slice(2)).toEqual([
    { type: 'agents', agents: { version: 2, ok: true } },
    { type: 'reset', reason: 'behind' },
  ])
  expect(read).toEqual(['first'])
  const returned = reading(await live.open({ ...anyone, after }))
  pass(100)
  await returned.until(has('reset'))
  expect(returned.items[1]).toEqual({ type: 'reset', reason: 'missed' })
  await sessions.create({ session_id: 'later' })
  pass(2_000)
  for (const one of [reader, returned]) {
    await one.until((items) => items.some((item) => item.type === 'session' && item.head.session_id === 'later'))
  }
  live.close()
  await Promise.all([reader.done, returned.done])
})

test('reads that take long rest the longer, and events of followed runs do not wait for them', async () => {
  const opened = await openLive()
  const { live, sessions, runs, waiting, pass, timers, read } = opened
  const handle = await runs.start(request('waiting', 'hello', { sessionId: 'b' }))
  await waiting.begun(0)
  const slow = reading(await live.open({ ...anyone, follow: follow([[handle.runId, 0]]) }))
  await slow.until(has('run_event'))
  opened.onRead = () => pass(20)
  await sessions.create({ session_id: 'one' })
  pass(100)
  await slow.until(has('session'))
  opened.onRead = undefined
  await sessions.create({ session_id: 'two' })
  // Nor does a load of the agents.
  live.agentsLoaded({ ok: true })
  await slow.until(has('agents'))
  expect(read.includes('two')).toBe(false)
  pass(1_100)
  expect([timers.size, read.includes('two')]).toEqual([1, false])
  waiting.open(0)
  await slow.until((items) => items.some((item) => item.type === 'run_event' && item.event.type === 'run_end'))
  expect(read.includes('two')).toBe(false)
  pass(100)
  await slow.until((items) => items.some((item) => item.type === 'session' && item.head.session_id === 'two'))
  live.close()
  await slow.done
})

test('tells each load of the agents to operators only, the latest also to one that comes later', async () => {
  const { live, sessions, pass } = await openLive()
  const operator = reading(await live.open(anyone))
  const user = reading(await live.open({ ...anyone, caller: 'ann', user: 'ann', operator: false }))
  const failed = { ok: false, error: { message: 'no such file', file: 'agents/a.ts', line: 3 } }
  live.agentsLoaded(failed)
  pass(100)
  await operator.until(has('agents'))
  live.agentsLoaded({ ok: true })
  pass(100)
  await operator.until(has('agents', 2))
  expect(operator.items.slice(1)).toEqual([
    { type: 'agents', agents: { version: 2, ...failed } },
    { type: 'agents', agents: { version: 3, ok: true } },
  ])
  const later = reading(await live.open(anyone))
  const laterUser = reading(await live.open({ ...anyone, caller: 'ann', user: 'ann', operator: false }))
  await sessions.create({ session_id: 's', user_id: 'ann' })
  pass(100)
  for (const one of [user, laterUser, later]) await one.until(has('session'))
  expect(types(later.items)).toEqual(['hello', 'agents', 'session'])
  expect([types(user.items), types(laterUser.items)]).toEqual([
    ['hello', 'session'],
    ['hello', 'session'],
  ])
  live.close()
  await Promise.all([operator, user, later, laterUser].map(({ done }) => done))
})

test('opens at most five streams for one caller', async () => {
  const { live } = await openLive()
  const open = await Promise.all([1, 2, 3, 4, 5].map(() => live.open({ ...anyone, caller: 'key:0' })))
  await expect(live.open({ ...anyone, caller: 'key:0' })).rejects.toMatchObject({ code: 'rate_limited' })
  await live.open({ ...anyone, caller: 'key:1' })
  await open[0]?.return()
  await live.open({ ...anyone, caller: 'key:0' })
  live.close()
  await expect(live.open(anyone)).rejects.toMatchObject({ code: 'unavailable' })
})

test('follows runs from any number on, ended ones too, and again when they are resumed', async () => {
  const { live, runs, waiting, pass } = await openLive()
  const ended = await runs.start(request('echo', 'one two', { sessionId: 'a' }))
  await ended.result()
  const handle = await runs.start(request('waiting', 'hello', { sessionId: 'b' }))
  await waiting.begun(0)
  const followed = follow([
    [ended.runId, 1],
    [handle.runId, 0],
    ['run_unknown', 0],
  ])
  const reader = reading(await live.open({ ...anyone, follow: followed }))
  const eventsOf = (runId: string) =>
    reader.items.flatMap((item): RunEvent[] =>
      item.type === 'run_event' && item.event.run_id === runId ? [item.event] : [],
    )
  await reader.until(() => eventsOf(ended.runId).at(-1)?.type === 'run_end')
  expect(eventsOf(ended.runId)[0]?.seq).toBe(2)
  await reader.until(() => eventsOf(handle.runId).some(({ type }) => type === 'text_delta'))
  waiting.open(0)
  await reader.until(() => eventsOf(handle.runId).at(-1)?.type === 'run_end')
  const numbers = eventsOf(handle.runId).map(({ seq }) => seq)
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
  pass(100)
  live.close()
  await reader.done
})

test("tells a user's reader what is the user's, and nothing more once it has been handed over", async () => {
  const { live, runs, sessions, waiting, pass } = await openLive()
  await sessions.create({ session_id: 'own', user_id: 'ann' })
  await sessions.create({ session_id: 'foreign', user_id: 'bob' })
  const handle = await runs.start(request('waiting', 'hello', { sessionId: 'own', userId: 'ann' }))
  await waiting.begun(0)
  const followed = follow([[handle.runId, 0]])
  const ann = reading(await live.open({ ...anyone, caller: 'ann', user: 'ann', follow: followed }))
  const bob = reading(await live.open({ ...anyone, caller: 'bob', user: 'bob', follow: followed }))
  await ann.until(has('run_event'))
  await sessions.update('own', { name: 'mine' })
  await sessions.update('foreign', { name: 'theirs' })
  pass(100)
  await ann.until(has('session'))
  await bob.until(has('session'))
  expect(types(bob.items)).toEqual(['hello', 'session'])
  expect(bob.items[1]).toMatchObject({ head: { session_id: 'foreign' } })

  const before = ann.items.filter(({ type }) => type !== 'reset').length
  await sessions.reuse('own', { user_id: 'bob' })
  waiting.open(0)
  await handle.result()
  pass(100)
  await bob.until((items) => items.some((item) => item.type === 'run' && item.run.status === 'completed'))
  await ann.until(has('reset'))
  await sessions.update('own', { name: 'after' })
  pass(100)
  await bob.until((items) => items.some((item) => item.type === 'session' && item.head.name === 'after'))
  expect(ann.items.filter(({ type }) => type !== 'reset')).toHaveLength(before)
  await sessions.delete('own')
  pass(100)
  await bob.until(has('session_deleted'))
  live.close()
  await Promise.all([ann.done, bob.done])
})
