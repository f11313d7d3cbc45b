import { setImmediate } from 'node:timers/promises'
import { signal } from '@preact/signals'
import { afterEach, expect, test, vi } from 'vitest'

/** What is used of it; its own types are those of a page. */
interface Watchers {
  watcherOf(studio: object): { isHere: { value: boolean } }
}

afterEach(() => vi.unstubAllGlobals())

const pinned = {
  pins: { ids: signal(['run_1']) },
  saves: signal(0),
  places: { path: '/studio' },
  chats: { openAside: (runId: string) => ({ runId }) },
}

test('a window that is denied locks watches for itself, and asks for none again', async () => {
  const request = vi.fn(async () => {
    await setImmediate()
    throw new DOMException('denied', 'SecurityError')
  })
  vi.stubGlobal('navigator', { locks: { request } })
  const { watcherOf } = await vi.importActual<Watchers>('../../src/studio/watch/watcher.ts')
  const watcher = watcherOf(pinned)
  for (let turn = 0; turn < 5; turn++) await setImmediate()
  expect([request.mock.calls.length, watcher.isHere.value]).toEqual([1, true])
})
