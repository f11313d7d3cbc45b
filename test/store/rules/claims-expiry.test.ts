import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { timestamp } from '../../../src/core/time.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'

const hourMs = 3_600_000
const startMs = Date.parse('2030-01-01T00:00:00.000Z')

async function openStore(driver: string) {
  const time = { ms: startMs }
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-claims-'))
  const path = join(folder, 'sessions.db')
  const clock = () => time.ms
  const store: SessionStore = driver === 'memory' ? memoryStore({ clock }) : sqliteStore({ path, clock })
  await store.open()
  onTestFinished(async () => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })
  const claim = (key: string) => store.claim({ key, hash: 'h', expires_at: timestamp(time.ms + 24 * hourMs) })
  /** Those that are still kept, as the clock said when they were new. */
  const kept = async (keys: string[]) => {
    const { ms } = time
    time.ms = startMs
    const found = await Promise.all(keys.map((key) => store.findClaim(key)))
    time.ms = ms
    return found.filter((record) => record !== undefined).length
  }
  return { store, time, claim, kept }
}

const keysOf = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}${index}`)

test.for(['memory', 'sqlite'])('expired claims go with the first of a new hour, in %s', async (driver) => {
  const { time, claim, kept, store } = await openStore(driver)
  const old = keysOf('old', 500)
  await Promise.all(old.map(claim))
  await store.completeClaim('old0', { done: true })
  time.ms += 23 * hourMs
  await claim('young')
  expect(await kept(old)).toBe(500)
  time.ms += 2 * hourMs
  await claim('new')
  await store.check()
  expect(await kept(old)).toBe(0)
  expect(await kept(['young', 'new'])).toBe(2)
})

test.for(['memory', 'sqlite'])('expired claims go with each thousand new ones, in %s', async (driver) => {
  const { time, claim, kept, store } = await openStore(driver)
  const old = keysOf('old', 10)
  await Promise.all(old.map(claim))
  time.ms += 24 * hourMs - 1
  await claim('first of its hour')
  await store.check()
  time.ms += 1
  await Promise.all(keysOf('some', 900).map(claim))
  expect(await kept(old)).toBe(10)
  await Promise.all(keysOf('more', 200).map(claim))
  await store.check()
  expect(await kept(old)).toBe(0)
  expect(await kept([...keysOf('some', 900), ...keysOf('more', 200)])).toBe(1_100)
})
