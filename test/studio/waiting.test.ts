import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { PageClient } from '../../src/client/page.ts'
import { Waiting } from '../../src/studio/state/waiting.ts'
import type { LiveEvent } from '../../src/wire/live.ts'

/** As the server has them; `answer` lets a reading that is under way end. */
let server: string[]
let readings: (() => void)[]
let waiting: Waiting

beforeEach(() => {
  vi.useFakeTimers()
  server = []
  readings = []
  const list = () =>
    new Promise((resolve, reject) =>
      readings.push(() => {
        if (server.includes('broken')) return reject(new Error('broken'))
        resolve({ sessions: server.slice(0, 100).map((session_id) => ({ session_id })), total: server.length })
      }),
    )
  waiting = new Waiting({ sessions: { list } } as unknown as PageClient)
})
afterEach(() => {
  waiting.close()
  vi.useRealTimers()
})

async function answer(): Promise<void> {
  for (const resolve of readings.splice(0)) resolve()
  await vi.advanceTimersByTimeAsync(0)
}

const changed = (session_id: string, status: string) => ({ type: 'session', head: { session_id, status } }) as LiveEvent

async function begin(...ids: string[]): Promise<void> {
  server = ids
  waiting.read()
  await answer()
}

test('one that waits is counted once, and no longer when it goes on or is deleted', async () => {
  await begin('a', 'b')
  waiting.receive([changed('c', 'input_required'), changed('c', 'input_required'), changed('d', 'running')])
  expect(waiting.count.value).toBe(3)
  waiting.receive([changed('a', 'running'), { type: 'session_deleted', session_id: 'b' }])
  expect(waiting.count.value).toBe(1)
})

test('what changes while it is read counts', async () => {
  server = ['a']
  waiting.read()
  waiting.receive([changed('a', 'completed'), changed('b', 'input_required')])
  expect(waiting.count.value).toBe(undefined)
  waiting.receive([changed('c', 'input_required')])
  await answer()
  expect(waiting.count.value).toBe(2)
})

test('of more than are named, an unknown one is asked for, at most once a second', async () => {
  await begin(...Array.from({ length: 150 }, (_, place) => `s${place}`))
  expect(waiting.count.value).toBe(150)
  waiting.receive([changed('s1', 'running')])
  expect(waiting.count.value).toBe(149)
  server = server.filter((id) => id !== 's1' && id !== 's140')
  for (let times = 0; times < 5; times++) waiting.receive([changed('s140', 'running')])
  expect([waiting.count.value, readings.length]).toEqual([149, 0])
  await vi.advanceTimersByTimeAsync(1000)
  expect(readings).toHaveLength(1)
  await answer()
  expect(waiting.count.value).toBe(148)
})

test('no number is told that is not known', async () => {
  await begin('a')
  await begin('broken')
  expect(waiting.count.value).toBe(undefined)
  waiting.receive([changed('a', 'input_required')])
  expect(waiting.count.value).toBe(undefined)
})
