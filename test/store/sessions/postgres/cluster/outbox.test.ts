import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { silentLogger } from '../../../../../src/core/logger.ts'
import type { Sql } from '../../../../../src/store/postgres/connection.ts'
import { type Line, readPayload } from '../../../../../src/store/sessions/postgres/cluster/lines.ts'
import { Outbox } from '../../../../../src/store/sessions/postgres/cluster/outbox.ts'

type Sent = Record<string, Line[]>

describe('what an instance sends to others', () => {
  let sent: Sent[] = []
  let payloads: string[] = []
  let isAway = false
  const sql = {
    async all(_: string, [channels, texts]: [string[], string[]]) {
      if (isAway) throw new Error('away')
      const all: Sent = {}
      for (const [n, channel] of channels.entries()) {
        all[channel] = [...(all[channel] ?? []), ...readPayload(texts[n] ?? '').map(({ line }) => line)]
      }
      sent.push(all)
      payloads.push(...texts)
    },
  } as unknown as Sql
  let outbox: Outbox
  beforeEach(() => {
    vi.useFakeTimers()
    outbox = new Outbox({ use: (use) => use(sql) }, (key) => `to ${key}`, silentLogger)
    outbox.open(1)
  })
  afterEach(async () => {
    await outbox.close()
    sent = []
    payloads = []
    isAway = false
    vi.useRealTimers()
  })
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
  const events = (run_id: string): Line => ({ kind: 'events', run_id })

  test('goes out together, once for each line, within 25 ms', async () => {
    outbox.put(2, events('r'))
    await pass(25)
    expect(sent.splice(0)).toEqual([{ 'to 2': [events('r')] }])
    for (const run of ['r', 's', 'r']) outbox.put(2, events(run))
    outbox.put(3, { kind: 'left' })
    await pass(25)
    expect(sent).toEqual([{ 'to 2': [events('s'), events('r')], 'to 3': [{ kind: 'left' }] }])
  })

  test('ends with what was put last, also when it was put before', async () => {
    for (const kind of ['watch', 'unwatch', 'watch'] as const) outbox.put(2, { kind })
    await pass(25)
    expect(sent).toEqual([{ 'to 2': [{ kind: 'unwatch' }, { kind: 'watch' }] }])
  })

  test('fits into payloads of Postgres, or becomes one line that says so', async () => {
    const ids = Array.from({ length: 300 }, (_, n) => `run_${n}_${'é'.repeat(20)}`)
    for (const id of ids) outbox.put(2, events(id))
    await pass(25)
    expect(sent.splice(0)).toEqual([{ 'to 2': ids.map(events) }])
    expect(payloads.length).toBeGreaterThan(1)
    for (const payload of payloads) expect(Buffer.byteLength(payload)).toBeLessThan(8000)
    for (const id of ids) for (const more of ['a', 'b', 'c']) outbox.put(2, events(id + more))
    outbox.put(3, events('x'.repeat(8000)))
    outbox.put(4, events('r'))
    await pass(25)
    expect(sent).toEqual([{ 'to 2': [{ kind: 'missed' }], 'to 3': [{ kind: 'missed' }], 'to 4': [events('r')] }])
  })

  test('becomes one line while it can not be sent, and goes out when it can', async () => {
    isAway = true
    outbox.put(2, events('r'))
    await pass(10_000)
    isAway = false
    outbox.put(2, { kind: 'left' })
    await pass(1000)
    expect(sent).toEqual([{ 'to 2': [{ kind: 'missed' }, { kind: 'left' }] }])
  })

  test('is nothing before the instance has a key, and after it is closed', async () => {
    isAway = true
    outbox.put(2, events('r'))
    await pass(25)
    await outbox.close()
    outbox.put(2, events('s'))
    const other = new Outbox({ use: (use) => use(sql) }, (key) => `to ${key}`, silentLogger)
    other.put(2, events('t'))
    isAway = false
    await pass(10_000)
    expect(sent).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })
})
