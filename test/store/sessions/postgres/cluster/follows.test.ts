import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Wake } from '../../../../../src/core/cluster/cluster.ts'
import { silentLogger } from '../../../../../src/core/logger.ts'
import type { Sql } from '../../../../../src/store/postgres/connection.ts'
import { Follows } from '../../../../../src/store/sessions/postgres/cluster/follows.ts'

describe('runs that an instance follows', () => {
  const running = { run_id: 'r', owner: 2, status: 'running', fence: 1, recorded_seq: 1 }
  const wake = { kind: 'events', run_id: 'r' }
  let rows: object[] = []
  let wakes: Wake[] = []
  let asked: [number, string[]][] = []
  let follows: Follows
  const read = { all: async () => rows } as unknown as Sql
  beforeEach(async () => {
    vi.useFakeTimers()
    ;[rows, wakes, asked] = [[running], [], []]
    follows = new Follows(
      { read, logger: silentLogger },
      (owner, runIds) => asked.push([owner, runIds]),
      (one) => wakes.push(one),
    )
    follows.isDeaf = false
    follows.add('r')
    await vi.advanceTimersByTimeAsync(0)
  })
  afterEach(async () => {
    await follows.close()
    vi.useRealTimers()
  })
  /** What the next look finds, and what it wakes. */
  const look = async (...found: object[]) => {
    rows = found
    await vi.advanceTimersByTimeAsync(1000)
    return wakes.splice(0)
  }

  test('are asked for every second, and wake for what nobody told of', async () => {
    expect([wakes, asked]).toEqual([[], [[2, ['r']]]])
    expect(await look({ ...running, recorded_seq: 5 })).toEqual([wake])
    expect(await look({ ...running, recorded_seq: 5 })).toEqual([])
    expect(asked).toHaveLength(3)
  })

  test('do not wake again for events that their owner told of', async () => {
    follows.heard('r')
    follows.heard('other')
    expect(await look({ ...running, recorded_seq: 5 })).toEqual([])
    expect(await look({ ...running, recorded_seq: 6 })).toEqual([wake])
  })

  test('wake for another owner, an end and a deletion in any case', async () => {
    for (const found of [[{ ...running, fence: 2 }], [{ ...running, status: 'completed' }], []]) {
      follows.heard('r')
      expect(await look(...found)).toEqual([wake])
    }
  })
})
