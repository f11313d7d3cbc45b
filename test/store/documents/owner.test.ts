import { expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { Owner } from '../../../src/store/documents/postgres/owner.ts'
import type { Sql } from '../../../src/store/postgres/connection.ts'

/** A database that registers each process once, and says of each that it was taken for dead. */
function forgetful(): {
  owner: Owner
  dead: (work: (sql: Sql) => Promise<unknown>) => Promise<never>
  fail: () => void
} {
  const later = Promise.withResolvers<never>()
  const registered: number[] = []
  const work = async <T>(use: (sql: Sql) => Promise<T>): Promise<T> => {
    if (registered.length > 0) return later.promise
    registered.push(1)
    return use({ all: async () => [{ owner_key: 1 }] as never, run: async () => 0 })
  }
  const owner = new Owner({
    deadAfterMs: 3_600_000,
    timers: { set: () => ({ refresh: () => {}, unref: () => {} }), clear: () => {} },
    now: () => 0,
    logger: silentLogger,
    work,
    tell: work,
    onLost: () => {},
    onGone: () => {},
  })
  return {
    owner,
    dead: async (use) => use({ all: async () => [], run: async () => 0 }) as Promise<never>,
    fail: () => later.reject(new Error('the database is away')),
  }
}

test('a process that can not register anew fails its callers, and nothing else', async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => void unhandled.push(error)
  process.on('unhandledRejection', note)
  const { owner, dead, fail } = forgetful()
  const held = Promise.withResolvers<void>()
  const slow = owner.owned(
    async () => {},
    async (use) => {
      await held.promise
      return dead(use)
    },
  )
  const quick = owner.owned(async () => {}, dead)
  await expect(quick).rejects.toMatchObject({ code: 'unavailable' })
  // Registers anew, while another transaction hears that the first name is dead.
  const next = owner.key()
  held.resolve()
  await expect(slow).rejects.toMatchObject({ code: 'unavailable' })
  fail()
  await expect(next).rejects.toThrow('the database is away')
  await new Promise(setImmediate)
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})
