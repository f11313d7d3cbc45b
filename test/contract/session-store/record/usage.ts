import { describe, expect, it } from 'vitest'
import type { AgainOf, ModelUsage, RunRecord, Usage } from '../../../../src/core/run.ts'
import type { RunEnd } from '../../../../src/core/run-write.ts'
import type { SessionOverview } from '../../../../src/core/session.ts'
import type { SessionStore } from '../../../../src/core/store.ts'
import { at, endOf, eventOf, messageOf, seedOf, started, startOf } from '../builders.ts'

const sessionId = 's'
const usage = (input_tokens: number, more: Partial<Usage> = {}): Usage => ({
  input_tokens,
  output_tokens: 1,
  total_tokens: input_tokens + 1,
  ...more,
})

const nothing: Usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 }

type Counts = Record<string, number | null>

/** What the records of the turns add up to, by model. */
function summed(records: readonly RunRecord[]): Record<string, Counts> {
  const sums: Record<string, Counts> = {}
  for (const run of records) {
    if (run.parent_run_id !== null || run.again_of?.keep === 'no') continue
    const parts = run.usage_by_model ?? (run.usage === null ? [] : [{ model: null, ...run.usage }])
    for (const { model, largest_input_tokens: _largest, ...counts } of parts) {
      sums[model ?? ''] ??= {}
      const sum = sums[model ?? ''] as Counts
      for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count
    }
  }
  return sums
}

function shown(overview: SessionOverview | undefined): Record<string, Counts> {
  const entries = (overview?.usage_by_model ?? []).map(({ model, largest_input_tokens: _largest, ...counts }) => [
    model ?? '',
    counts,
  ])
  return Object.fromEntries(entries)
}

/** The same numbers each time. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

export function testUsage(store: () => SessionStore): void {
  const records = (id: string) => store().readRecords(id, undefined, 1_000)
  const begin = async (run: Partial<RunRecord> = {}) =>
    (await started(store(), { run: { session_id: sessionId, ...run }, session: null })).runId
  const finish = (runId: string, more: Partial<RunEnd>) => store().finishRun(endOf(runId, more))
  const open = () => store().createSession(seedOf({ session_id: sessionId }))
  const again: AgainOf = { run_id: 'run_x', from: null, after: 'ask', keep: 'no' }

  async function copyTo(id: string): Promise<void> {
    const found = await store().findSession(sessionId)
    if (found === undefined) return
    const { runs: _runs, run_count: _count, summary: _summary, ...session } = found.session
    const ended = (await records(sessionId)).filter(({ end_seq }) => end_seq !== null)
    async function* pieces() {
      for (const run of ended) {
        const messages = run.messages.map((message) => ({ ...message, run_id: `${id}${run.run_id}` }))
        const parent_run_id = run.parent_run_id && `${id}${run.parent_run_id}`
        const marks = { replaced_by: null, follows: undefined, again_of: null, parent_run_id }
        yield { run: { ...run, ...marks, run_id: `${id}${run.run_id}`, session_id: id, messages } }
      }
    }
    await store().restoreSession({ session: { ...session, session_id: id }, summary: null, runs: pieces() })
  }

  describe('what a session used', () => {
    it('has what an interrupted turn used, and nothing of an interrupted try', async () => {
      await open()
      const call = (runId: string, tokens: number) => {
        const end = {
          type: 'model_call_end',
          call_id: 'c',
          model: 'a',
          usage: usage(tokens),
          finish_reason: 'stop',
        } as const
        const events = [eventOf(runId, 2, { ...end, duration_ms: 1 })]
        return store().appendEvents({ run_id: runId, fence: 1, events, reserve_until: 2_000 })
      }
      const turn = await begin()
      const tried = await begin({ again_of: again })
      expect([await call(turn, 5), await call(tried, 50)]).toEqual(['ok', 'ok'])
      await store().recover('two', at(20))
      expect(await store().findRun(tried)).toMatchObject({ status: 'interrupted', usage: usage(50) })
      expect((await store().findOverview(sessionId))?.usage).toEqual(usage(5))
    })

    it('is the sum of its turns by model, with the details that were reported', async () => {
      await open()
      expect(await store().findOverview(sessionId)).toMatchObject({ usage: null, usage_by_model: [] })
      const a: ModelUsage = { model: 'a', ...usage(5, { cached_input_tokens: 0 }), largest_input_tokens: 4 }
      const b: ModelUsage = { model: 'b', ...usage(2), largest_input_tokens: 2 }
      await finish(await begin(), { usage: usage(7), usage_by_model: [b, a] })
      await finish(await begin(), {
        usage: usage(1),
        usage_by_model: [{ model: 'a', ...usage(1), largest_input_tokens: 1 }],
      })
      await finish(await begin(), { usage: usage(3, { reasoning_tokens: 1 }) })
      await finish(await begin(), {})
      const child = await begin({ parent_run_id: 'run_p' })
      await finish(child, { usage: usage(100), usage_by_model: [{ model: 'a', ...usage(100) }] })
      await finish(await begin({ again_of: again }), { usage: usage(100) })
      const overview = await store().findOverview(sessionId)
      expect(overview?.usage_by_model).toEqual([
        { model: null, ...usage(3, { reasoning_tokens: 1 }) },
        {
          model: 'a',
          input_tokens: 6,
          output_tokens: 2,
          total_tokens: 8,
          cached_input_tokens: 0,
          largest_input_tokens: 4,
        },
        b,
      ])
      expect(overview?.usage).toEqual({
        input_tokens: 11,
        output_tokens: 4,
        total_tokens: 15,
        cached_input_tokens: 0,
        reasoning_tokens: 1,
      })
    })

    it('has a run once that pauses, goes on and is cancelled at a second pause', async () => {
      await open()
      const other = await begin()
      await finish(other, { usage: usage(2), usage_by_model: [{ model: 'a', ...usage(2) }] })
      const runId = await begin()
      const used = (n: number, details = {}) => ({
        usage: usage(n, details),
        usage_by_model: [{ model: 'a', ...usage(n, details) }],
      })
      const sum = async () => (await store().findOverview(sessionId))?.usage
      await finish(runId, { status: 'input_required', end_seq: 4, ...used(10, { cached_input_tokens: 3 }) })
      expect(await sum()).toMatchObject({ input_tokens: 12, cached_input_tokens: 3 })
      const resume = { run_id: runId, owner: 'one', at: at(3), events: [], reserve_until: 2_000 }
      await store().resumeRun({ ...resume, end_seq: 4 })
      expect(await sum()).toEqual(usage(2))
      await finish(runId, { fence: 2, status: 'input_required', end_seq: 8, ...used(15) })
      expect(await sum()).toMatchObject({ input_tokens: 17 })
      await finish(runId, { fence: null, status: 'cancelled', end_seq: 9, ...used(15) })
      expect(await sum()).toMatchObject({ input_tokens: 17 })
      expect(await finish(runId, { fence: null, status: 'cancelled', end_seq: 9, ...used(15) })).toBe('already_final')
      expect(shown(await store().findOverview(sessionId))).toEqual(summed(await records(sessionId)))
    })

    it('says how many calls reported nothing, and is null while no call reported anything', async () => {
      await open()
      const unreported = (count: number): ModelUsage => ({ model: 'a', ...nothing, unreported_calls: count })
      await finish(await begin(), { usage_by_model: [unreported(2)] })
      await finish(await begin(), { usage_by_model: [unreported(1), { ...unreported(1), model: null }] })
      const overview = await store().findOverview(sessionId)
      expect(overview?.usage).toBeNull()
      expect(overview?.usage_by_model).toStrictEqual([{ ...unreported(1), model: null }, unreported(3)])
      const runId = await begin()
      const paused = { ...unreported(1), ...usage(4), largest_input_tokens: 4 }
      await finish(runId, { status: 'input_required', end_seq: 4, usage: usage(4), usage_by_model: [paused] })
      expect(await store().findOverview(sessionId)).toMatchObject({
        usage: usage(4),
        usage_by_model: [{ model: null }, { model: 'a', input_tokens: 4, unreported_calls: 4 }],
      })
      await store().resumeRun({ run_id: runId, owner: 'one', at: at(3), events: [], reserve_until: 2_000, end_seq: 4 })
      const taken = await store().findOverview(sessionId)
      expect(taken?.usage).toBeNull()
      expect(taken?.usage_by_model).toMatchObject([{ model: null }, { model: 'a', unreported_calls: 3 }])
    })

    it('counts the call that its process did not live to end', async () => {
      await open()
      const runId = await begin()
      const call = { type: 'model_call_start', call_id: 'c', model: 'a' } as const
      const events = [eventOf(runId, 2, call as never)]
      await store().appendEvents({ run_id: runId, fence: 1, events, reserve_until: 2_000 })
      await store().recover('two', at(9))
      const unreported = [{ model: 'a', ...nothing, unreported_calls: 1 }]
      expect(await store().findOverview(sessionId)).toMatchObject({ usage: null, usage_by_model: unreported })
      expect(await store().findRun(runId)).toMatchObject({ usage: null, usage_by_model: unreported })
    })

    it('has a run that its process left, and nothing once the session is deleted', async () => {
      await open()
      const runId = await begin()
      const call = { type: 'model_call_end', usage: usage(9), finish_reason: 'stop', duration_ms: 1 } as const
      await store().appendEvents({
        run_id: runId,
        fence: 1,
        events: [eventOf(runId, 2, { ...call, call_id: 'c', model: 'a' } as never)],
        reserve_until: 2_000,
      })
      await store().recover('two', at(9))
      expect((await store().findOverview(sessionId))?.usage).toMatchObject({ input_tokens: 9 })
      expect(shown(await store().findOverview(sessionId))).toEqual(summed(await records(sessionId)))
      await store().deleteSession(sessionId)
      expect(await store().findOverview(sessionId)).toBeUndefined()
      await open()
      expect(await store().findOverview(sessionId)).toMatchObject({ usage: null, run_count: 0 })
    })

    it.each([1, 2, 3, 4])('equals the sum of its turns whatever happens, in order %i', async (seed) => {
      const random = randomOf(seed)
      const active = new Map<string, number>()
      const paused = new Map<string, { seq: number; fence: number }>()
      const turns: string[] = []
      let seq = 2
      let copies = 0
      const reported = (): Partial<RunEnd> => {
        const details = random(2) === 0 ? {} : { cached_input_tokens: random(2), reasoning_tokens: random(3) }
        if (random(5) === 0) return {}
        if (random(4) === 0) return { usage: usage(random(9), details) }
        const models = ['a', 'b', 'a b'].slice(0, 1 + random(3))
        if (random(4) === 0) {
          const unreported_calls = 1 + random(3)
          return { usage_by_model: models.map((model) => ({ model, ...nothing, unreported_calls })) }
        }
        const by = (model: string): ModelUsage => {
          const more = random(3) === 0 ? { unreported_calls: 1 + random(3) } : {}
          return { model, ...usage(random(50), details), ...more }
        }
        return { usage: usage(9), usage_by_model: models.map(by) }
      }
      const pick = <T>(items: Iterable<T>): T | undefined => [...items][random([...items].length)]
      await open()
      for (let step = 0; step < 120; step++) {
        const what = random(9)
        if (what < 3) {
          const kind = random(5)
          const run = {
            session_id: sessionId,
            ...(kind === 0 && { parent_run_id: pick(turns) ?? 'run_p' }),
            ...(kind === 1 && { again_of: again }),
            ...(kind > 1 && { status: 'queued' as const }),
          }
          const replaces = kind > 2 ? pick(turns) : undefined
          const start = { ...startOf({ run, session: null }), ...(replaces && { replaces }) }
          const { outcome } = await store().startRun(start)
          if (outcome === 'started' || outcome === 'queued') active.set(start.run.run_id, 1)
          if (outcome === 'queued') turns.push(start.run.run_id)
        } else if (what < 7) {
          const runId = pick(active.keys())
          if (runId === undefined) continue
          const fence = active.get(runId) ?? 1
          active.delete(runId)
          const status = (['completed', 'failed', 'input_required', 'input_required'] as const)[random(4)] ?? 'failed'
          const said = random(2) === 0 ? [] : [messageOf(runId, 'assistant', 'x')]
          const end = { status, fence, end_seq: seq++, messages: said, ...reported() }
          const ends = {
            ...end,
            ...(status === 'failed' && { bringsBack: random(2) === 0 }),
            ...(random(6) === 0 && { refused: [runId] }),
          }
          expect(await finish(runId, ends)).toBe('ok')
          if (status === 'input_required') paused.set(runId, { seq: seq - 1, fence })
        } else if (what === 7) {
          const runId = pick(paused.keys())
          const pause = paused.get(runId ?? '')
          if (runId === undefined || pause === undefined) continue
          paused.delete(runId)
          if (random(3) === 0) {
            await finish(runId, { fence: null, status: 'cancelled', end_seq: seq++, ...reported() })
            continue
          }
          const resume = {
            run_id: runId,
            end_seq: pause.seq,
            owner: 'one',
            at: at(3),
            events: [],
            reserve_until: 2_000,
          }
          const { outcome } = await store().resumeRun(resume)
          if (outcome === 'resumed') active.set(runId, pause.fence + 1)
        } else if (random(8) === 0) {
          const id = `copy${copies++}-`
          await copyTo(id)
          expect(shown(await store().findOverview(id))).toEqual(summed(await records(id)))
        } else if (random(12) === 0) {
          await store().deleteSession(sessionId)
          for (const all of [active, paused]) all.clear()
          turns.length = 0
          await open()
        }
        expect(shown(await store().findOverview(sessionId)), `after step ${step}`).toEqual(
          summed(await records(sessionId)),
        )
      }
      await store().recover('two', at(99))
      expect(shown(await store().findOverview(sessionId))).toEqual(summed(await records(sessionId)))
    })
  })
}
