import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Chats } from '../../src/studio/state/chats.ts'
import type { LiveEvent } from '../../src/wire/live.ts'
import { at, headOf, playSessions, settled } from '../support/studio/played-sessions.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const waits = (n: number, second = n) => headOf(n, { status: 'input_required', updated_at: at(second) })

/** Of 300 sessions the first `count` wait. */
async function begin(count: number, answered = true) {
  const play = playSessions(300)
  for (let n = 0; n < count; n++) play.stored.set(`ses_${n}`, waits(n))
  if (!answered) play.hold()
  const chats = new Chats(play.client, () => {})
  chats.waiting.show({ status: 'input_required' })
  await settled()
  const receive = (...heads: ReturnType<typeof headOf>[]) =>
    chats.receive(heads.map((head): LiveEvent => ({ type: 'session', head })))
  return { ...play, chats, receive, count: () => chats.waits.value }
}

test('one that waits is counted once, and no longer when it goes on or is deleted', async () => {
  const { chats, receive, count } = await begin(2)
  receive(waits(3, 400), waits(3, 401), headOf(4, { status: 'running', updated_at: at(402) }))
  expect(count()).toBe(3)
  receive(headOf(0, { status: 'running', updated_at: at(403) }))
  chats.receive([{ type: 'session_deleted', session_id: 'ses_1' }])
  expect(count()).toBe(1)
})

test('what changes while it is read counts', async () => {
  const { receive, release, count } = await begin(1, false)
  receive(headOf(0, { updated_at: at(400) }), waits(1, 401))
  expect(count()).toBe(0)
  receive(waits(2, 402))
  await release()
  expect(count()).toBe(2)
})

test('of more than one page has, an unknown one is asked for, at most once a second', async () => {
  const { asked, stored, receive, count } = await begin(150)
  expect(count()).toBe(150)
  receive(headOf(149, { updated_at: at(400) }))
  expect(count()).toBe(149)
  stored.set('ses_149', headOf(149))
  stored.set('ses_1', headOf(1))
  for (let times = 0; times < 5; times++) receive(headOf(1, { updated_at: at(401 + times) }))
  expect([count(), askedFor(asked)]).toEqual([149, 1])
  await vi.advanceTimersByTimeAsync(1000)
  expect([count(), askedFor(asked)]).toEqual([148, 2])
})

test('what does not wait and never did asks for nothing when all that wait are known', async () => {
  const { asked, receive, count } = await begin(2)
  for (let n = 100; n < 120; n++) receive(headOf(n, { status: 'running', updated_at: at(400 + n) }))
  await vi.advanceTimersByTimeAsync(1000)
  expect([count(), askedFor(asked)]).toEqual([2, 1])
})

test('no number is told that is not known', async () => {
  const { chats, fail, receive, count } = await begin(1)
  fail(new Error('broken'))
  chats.readAgain()
  await settled()
  expect(count()).toBe(0)
  receive(waits(1, 400))
  expect(count()).toBe(0)
})

test('a page that is closed asks for nothing any more', async () => {
  const { asked, chats, receive } = await begin(2)
  receive(waits(3, 400))
  chats.close()
  await vi.advanceTimersByTimeAsync(1000)
  expect(askedFor(asked)).toBe(1)
})

/** How often those that wait were asked for. */
function askedFor(asked: readonly { status?: string | undefined }[]): number {
  return asked.filter(({ status }) => status === 'input_required').length
}
