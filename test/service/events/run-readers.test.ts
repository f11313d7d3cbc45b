import { expect, test } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { collect, echo, gate, openServices, request } from '../../support/services.ts'

const text = Array.from({ length: 2_000 }, (_, index) => `word-${index}`).join(' ')

function countingStore() {
  const inner = memoryStore()
  const calls = { readEvents: 0, findRun: 0 }
  const counted =
    (name: keyof typeof calls) =>
    (...given: never[]) => {
      calls[name]++
      return (inner[name] as (...all: never[]) => unknown)(...given)
    }
  const store = new Proxy(inner, {
    get: (target, key, receiver) => (key in calls ? counted(key as 'findRun') : Reflect.get(target, key, receiver)),
  }) as SessionStore
  return { store, calls }
}

test('a crowd that reads an ended run costs the store what one reader does', async () => {
  const { store, calls } = countingStore()
  const { runs } = await openServices({ echo }, store)
  const { run_id: runId } = await (await runs.start(request('echo', text))).result()
  calls.readEvents = 0
  const alone = await collect(await runs.events(runId, 0))
  const once = calls.readEvents
  expect([alone.length, once > 3]).toEqual([2_002, true])
  const crowd = await Promise.all(Array.from({ length: 100 }, async () => collect(await runs.events(runId, 0))))
  for (const events of crowd) expect(events).toEqual(alone)
  // Not kept: the first page and the last, which hold more than text, and the empty one after it.
  expect(calls.readEvents - once).toBeLessThanOrEqual(3)
})

test('readers at the same place of a run under way get the very same events', async () => {
  const { runnable, begun, open } = gate()
  const { runs } = await openServices({ gate: runnable })
  const { runId } = await runs.start(request('gate', 'x', { mode: 'background' }))
  await begun(0)
  const readers = await Promise.all(Array.from({ length: 3 }, () => runs.events(runId, 0)))
  open(0)
  const read = await Promise.all(
    readers.map(async (batches) => {
      const all: (readonly RunEvent[])[] = []
      for await (const batch of batches) all.push(batch)
      return all
    }),
  )
  expect(read[0]?.flat().map(({ type }) => type)).toEqual(['run_start', 'text_delta', 'text_delta', 'run_end'])
  for (const batches of read) {
    expect(batches.length).toBe(read[0]?.length)
    for (const [index, batch] of batches.entries()) expect(batch).toBe(read[0]?.[index])
  }
})

test('a run that was deleted is not there for new readers, whatever others have read', async () => {
  const { store, runs, sessions } = await openServices({ echo })
  const run = await (await runs.start(request('echo', text))).result()
  await collect(await runs.events(run.run_id, 0))
  await sessions.delete(run.session_id)
  await expect(runs.events(run.run_id, 0)).rejects.toMatchObject({ code: 'run_not_found' })
  await store.close()
})
