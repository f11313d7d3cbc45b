import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { timestamp } from '../../../src/core/time.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { endOf, started } from '../../contract/session-store/builders.ts'

const startMs = Date.parse('2030-01-01T00:00:00.000Z')
const hourMs = 3_600_000

test.for(['memory', 'sqlite'])('expired answers go while the server runs, in %s', async (driver) => {
  let nowMs = startMs
  const clock = () => nowMs
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-answers-'))
  const store = driver === 'memory' ? memoryStore({ clock }) : sqliteStore({ path: join(folder, 'sessions.db'), clock })
  await store.open()
  onTestFinished(async () => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })
  const { runId } = await started(store)
  await store.finishRun(endOf(runId))
  const keep = (key: string) => store.cacheAnswer({ key, run_id: runId, expires_at: timestamp(nowMs + hourMs) })
  /** As the clock said when it was new. */
  const isKept = async (key: string) => {
    const presentMs = nowMs
    nowMs = startMs
    const found = store.findCached(key)
    nowMs = presentMs
    return (await found) !== undefined
  }
  await keep('old')
  nowMs += 2 * hourMs
  expect(await isKept('old')).toBe(true)
  await keep('new')
  while (await isKept('old')) await new Promise((resolve) => setImmediate(resolve))
  expect(await isKept('new')).toBe(true)
})
