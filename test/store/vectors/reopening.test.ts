import { describe, expect, it } from 'vitest'
import { ListReplaced } from '../../../src/store/vectors/failure.ts'
import type { ClosableTable } from '../../../src/store/vectors/pgvector.ts'
import { reopening } from '../../../src/store/vectors/reopening.ts'

/** Of a list that has so many vectors, or is gone. */
function tableOf(count: () => Promise<number>) {
  const told: string[] = []
  const table: ClosableTable = {
    add: async () => {},
    search: async () => [],
    counts: async () => new Map(),
    missing: async () => [],
    removeGenerations: async () => void (await count()),
    compact: async () => {},
    count,
    close: async () => void told.push('closed'),
    abandon: async () => void told.push('abandoned'),
  }
  return { table, told }
}
const gone = () => tableOf(() => Promise.reject(new ListReplaced('gone')))
const retry = { code: 'unavailable', retryAfterSeconds: 1 }
const errorsOf = async (all: Promise<unknown>[]) =>
  (await Promise.allSettled(all)).map((one) => (one.status === 'rejected' ? one.reason : one.value))

describe('a list that another server has dropped', () => {
  it('is opened once for all that use it at the time, and they use the new one', async () => {
    const first = gone()
    let opened = 0
    const table = reopening(first.table, async () => {
      opened++
      return tableOf(async () => 7).table
    })
    expect(await Promise.all([table.count(), table.count(), table.count()])).toEqual([7, 7, 7])
    expect([opened, first.told]).toEqual([1, ['abandoned']])
  })

  it('tells all of them to retry when there is no other, and opens it once there is', async () => {
    let next: ClosableTable | undefined
    const table = reopening(gone().table, async () => next)
    expect(await errorsOf([table.count(), table.count()])).toMatchObject([retry, retry])
    next = tableOf(async () => 7).table
    expect(await table.count()).toBe(7)
  })

  it('has nothing left to remove when there is no other, or the next one is gone as well', async () => {
    for (const next of [undefined, gone().table]) {
      const table = reopening(gone().table, async () => next)
      expect(await errorsOf([table.removeGenerations([1])])).toEqual([undefined])
    }
    const broken = reopening(tableOf(() => Promise.reject(new Error('broken'))).table, async () => undefined)
    await expect(broken.removeGenerations([1])).rejects.toThrow('broken')
  })

  it('tells them to retry when the next one is gone as well', async () => {
    const next = gone()
    const table = reopening(gone().table, async () => next.table)
    expect(await errorsOf([table.count()])).toMatchObject([retry])
    await table.close()
    expect(next.told).toContain('closed')
  })
})
