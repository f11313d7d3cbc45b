import { expect, it, vi } from 'vitest'
import type { RunEnd } from '../../../../../src/core/run-write.ts'
import {
  at,
  claimOf,
  endOf,
  messageOf,
  seedOf,
  startOf,
  textEvents,
} from '../../../../contract/session-store/builders.ts'
import { describePostgres } from '../../../../support/postgres/describe-postgres.ts'
import { storePair } from '../../../../support/postgres/store-pair.ts'

/** The statement of a group. */
const group = /^WITH (?:xs|unused) AS/

describePostgres('writes to Postgres whose connection breaks', () => {
  const { one, two, proxy, rows } = storePair()
  const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
  const sums = () => rows('SELECT runs::int, total_tokens::int FROM session_usage')

  it.each(['request', 'answer'] as const)(
    'are written once, and answered as ever, when the %s is lost',
    async (what) => {
      const start = startOf({
        session: seedOf({ session_id: 's', state: { a: 1 } }),
        state: { b: 2 },
        claim: claimOf('k'),
      })
      const { run_id: runId } = start.run
      const started = proxy().lose(what, group)
      expect(await two().startRun(start)).toMatchObject({ outcome: 'started', fence: 1, created_session: true })
      await started

      const batch = { run_id: runId, fence: 1, events: textEvents(runId, 2, ['a', 'b']), reserve_until: 1003 }
      const appended = proxy().lose(what, group)
      expect(await two().appendEvents(batch)).toBe('ok')
      await appended

      const events = textEvents(runId, 4, ['c'])
      const end = endOf(runId, { end_seq: 5, events, usage, messages: [messageOf(runId, 'assistant', 'abc')] })
      const ended = proxy().lose(what, group)
      expect(await two().finishRun(end)).toBe('ok')
      await ended

      expect(await two().finishRun(end)).toBe('already_final')
      expect((await one().readEvents(runId, 1, 9)).map(({ seq }) => seq)).toEqual([2, 3, 4, 5])
      expect((await one().findSession('s'))?.session).toMatchObject({ run_count: 1, state: { a: 1, b: 2 } })
      expect(await sums()).toEqual([{ runs: 1, total_tokens: 3 }])
      expect(await one().findClaim('k')).toMatchObject({ run_id: runId })
    },
  )

  it('keep each row of a group apart: what was refused stays refused', async () => {
    const running = startOf({ session: seedOf({ session_id: 'busy' }) })
    await one().startRun(running)
    const merged = startOf({ session: seedOf({ session_id: 'merged' }), claim: claimOf('k') })
    const end = endOf(merged.run.run_id, { usage, end_seq: 3, events: textEvents(merged.run.run_id, 2, ['x']) })
    const waits = { ...startOf({ run: { session_id: 'busy' }, session: null }), whenBusy: 'queue' as const }
    const lost = proxy().lose('answer', group)
    const answers = await Promise.all([
      two().startRun(merged),
      two().finishRun(end),
      two().startRun(startOf({ run: { session_id: 'busy' }, session: null })),
      two().startRun(waits),
      two().startRun(startOf({ run: { session_id: 'none' }, session: null })),
      two().finishRun(endOf('none')),
      two().finishRun(endOf(running.run.run_id, { fence: 9 })),
    ])
    await lost
    expect(answers).toMatchObject([
      { outcome: 'started', created_session: true },
      'ok',
      { outcome: 'busy' },
      { outcome: 'queued' },
      { outcome: 'session_missing' },
      'missing',
      'fenced',
    ])
    expect(await sums()).toEqual([{ runs: 1, total_tokens: 3 }])
    expect((await one().findSession('busy'))?.session.run_count).toBe(2)
  })

  it.each<[string, Partial<RunEnd>]>([
    ['brings back', { status: 'failed', bringsBack: true }],
    ['refuses', { status: 'failed', refused: [] }],
  ])('are written once when the commit of a write that goes alone is lost: an end that %s', async (_, fields) => {
    const start = startOf({})
    const { run_id: runId } = start.run
    await two().startRun(start)
    const lost = proxy().lose('answer', /^COMMIT/)
    expect(await two().finishRun(endOf(runId, { usage, ...fields }))).toBe('ok')
    await lost
    expect(await sums()).toEqual([{ runs: 1, total_tokens: 3 }])
  })

  it('wait while the database is away, and are answered when it is back', async () => {
    const start = startOf({})
    await proxy().refuse()
    proxy().cut()
    const starting = two().startRun(start)
    const ending = two().finishRun(endOf(start.run.run_id, { completed_at: at(3) }))
    await expect(two().findRun(start.run.run_id)).rejects.toMatchObject({ code: 'unavailable' })
    await proxy().heal()
    expect(await starting).toMatchObject({ outcome: 'started', created_session: true })
    expect(await ending).toBe('ok')
    expect(await one().findRun(start.run.run_id)).toMatchObject({ status: 'completed' })
  })

  it('go on over another connection when theirs has fallen silent', async () => {
    const start = startOf({})
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      proxy().stall()
      const starting = two().startRun(start)
      await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0))
      vi.advanceTimersByTime(20_000)
      await proxy().heal()
      await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0))
      vi.advanceTimersByTime(50)
      expect(await starting).toMatchObject({ outcome: 'started' })
    } finally {
      vi.useRealTimers()
    }
    expect(await one().findRun(start.run.run_id)).toMatchObject({ status: 'running' })
  })

  it('are refused when the store closes while the database is away', async () => {
    await proxy().refuse()
    proxy().cut()
    const starting = two().startRun(startOf({}))
    const refused = expect(starting).rejects.toMatchObject({ code: 'unavailable' })
    await two().close()
    await refused
  })
})
