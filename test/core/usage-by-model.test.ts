import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EmittedEvent, RunEvent } from '../../src/core/event.ts'
import { RunFold } from '../../src/core/events/fold.ts'
import { addModelUsage, addUsage, isReported, type ModelUsage, type Usage } from '../../src/core/run.ts'

const count = fc.nat(1_000_000)
const usage = fc
  .record({
    input_tokens: count,
    output_tokens: count,
    cached_input_tokens: fc.option(count, { nil: undefined }),
    cache_write_tokens: fc.option(count, { nil: undefined }),
    reasoning_tokens: fc.option(count, { nil: undefined }),
  })
  .map((tokens) => {
    const { input_tokens, output_tokens } = tokens
    return JSON.parse(JSON.stringify({ ...tokens, total_tokens: input_tokens + output_tokens })) as Usage
  })
const model = fc.constantFrom('openai/a', 'anthropic/b', 'ollama/c')

/** A call of this version, of an earlier one (whose end does not name the model), without usage, refused, or cut off. */
const call = fc
  .tuple(model, fc.option(usage), fc.constantFrom('named', 'earlier', 'refused', 'cut off'), fc.uuid())
  .map(([name, used, how, call_id]): EmittedEvent[] => {
    const start: EmittedEvent = { type: 'model_call_start', call_id, model: name }
    if (how === 'cut off') return [start]
    const end = { type: 'model_call_end', call_id, finish_reason: 'stop', duration_ms: 1 } as const
    if (how === 'refused') return [start, { ...end, model: name, usage: null, refused: true }]
    return [start, { ...end, ...(how === 'named' && { model: name }), usage: used }]
  })
/** A child run: told by model, not told, or told wrongly. */
const step = fc
  .tuple(fc.array(fc.tuple(model, usage), { minLength: 1, maxLength: 4 }), fc.constantFrom('told', 'not told', 'wrong'))
  .map(([calls, how]): EmittedEvent[] => {
    const sum = calls.reduce<Usage | null>((all, [, one]) => addUsage(all, one), null) as Usage
    const byModel = calls.reduce<ModelUsage[]>((all, [name, one]) => addModelUsage(all, name, one), [])
    const told = how === 'wrong' ? byModel.map((one) => ({ ...one, input_tokens: one.input_tokens + 1 })) : byModel
    return [
      {
        type: 'step_end',
        step_id: 's',
        status: 'completed',
        usage: sum,
        duration_ms: 1,
        ...(how === 'not told' ? {} : { usage_by_model: told }),
      },
    ]
  })
const other = fc.constant<EmittedEvent[]>([{ type: 'text_delta', text: 'x' }])
const events = fc.array(fc.oneof(call, step, other), { maxLength: 20 }).map((all) => all.flat())

function recorded(all: readonly EmittedEvent[]): RunEvent[] {
  return all.map((event, place) => ({ ...event, run_id: 'run_1', seq: place + 2, at: '2026-01-01T00:00:00.000Z' }))
}

test('what the models used amounts to what the run used, whatever its events tell', () => {
  fc.assert(
    fc.property(events, fc.nat(40), (all, cut) => {
      const fold = new RunFold()
      // In two pages, as a record is read.
      fold.addRecorded(recorded(all).slice(0, cut))
      fold.addRecorded(recorded(all).slice(cut))
      const { usage: sum, usage_by_model: byModel } = fold.used()
      expect(byModel?.filter(isReported).reduce<Usage | null>(addUsage, null) ?? null).toEqual(sum)
      expect(new Set(byModel?.map(({ model: name }) => name)).size).toBe(byModel?.length ?? 0)
    }),
  )
})

test('a resumed run goes on from the sums of its record', () => {
  for (const [before = [], after = []] of fc.sample(fc.tuple(events, events), 50)) {
    const whole = new RunFold()
    whole.addRecorded(recorded([...before, ...after]))
    const resumed = new RunFold()
    resumed.addRecorded(recorded(before))
    resumed.addRecorded(recorded(after))
    expect(resumed.used()).toEqual(whole.used())
  }
})

test('counts every call whose usage the record does not have, by model, and no other', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(call, other), { maxLength: 20 }), fc.nat(40), (calls, cut) => {
      const all = calls.flat()
      const missing: Record<string, number> = {}
      for (const event of all) {
        if (event.type !== 'model_call_start') continue
        const end = all.find((one) => one.type === 'model_call_end' && one.call_id === event.call_id)
        const isKnown = end?.type === 'model_call_end' && (end.usage !== null || end.refused === true)
        if (!isKnown) missing[event.model] = (missing[event.model] ?? 0) + 1
      }
      const recovered = new RunFold()
      recovered.addRecorded(recorded(all).slice(0, cut))
      recovered.addRecorded(recorded(all).slice(cut))
      const live = new RunFold()
      for (const event of all) live.add(event)
      for (const fold of [recovered, live]) {
        // To look does not count twice.
        fold.used()
        const counted = (fold.used().usage_by_model ?? []).flatMap(({ model: name, unreported_calls: count }) =>
          count === undefined ? [] : [[String(name), count] as const],
        )
        expect(Object.fromEntries(counted)).toEqual(missing)
      }
    }),
  )
})

test('passes on what child runs did not report, and counts a child run without an end', () => {
  const child = (step_id: string): EmittedEvent => ({
    type: 'step_start',
    step_id,
    name: 'x',
    child_run_id: `run_${step_id}`,
  })
  const unreported: ModelUsage = {
    model: 'openai/a',
    input_tokens: 0,
    output_tokens: 0,
    total_tokens: 0,
    unreported_calls: 2,
  }
  const end = { type: 'step_end', status: 'completed', duration_ms: 1 } as const
  const fold = new RunFold()
  fold.add(child('1'))
  fold.add({ ...end, step_id: '1', usage_by_model: [unreported] })
  fold.add({ type: 'step_start', step_id: 'own', name: 'y' })
  fold.add(child('2'))
  const open = { model: null, input_tokens: 0, output_tokens: 0, total_tokens: 0, unreported_calls: 1 }
  expect(fold.used()).toStrictEqual({ usage: null, usage_by_model: [unreported, open] })
  // Resumed: it begins again and ends.
  fold.add(child('2'))
  fold.add({ ...end, step_id: '2' })
  expect(fold.used()).toStrictEqual({ usage: null, usage_by_model: [unreported] })
})

test('a run without usage has none by model', () => {
  const fold = new RunFold()
  fold.add({ type: 'text_delta', text: 'x' })
  expect(fold.used()).toStrictEqual({ usage: null })
})
