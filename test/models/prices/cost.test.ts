import { describe, expect, it } from 'vitest'
import type { ModelUsage, Usage } from '../../../src/core/run.ts'
import { type CallTimes, costOf, type GivenPrices } from '../../../src/models/prices/cost.ts'
import { createCosts } from '../../../src/models/prices/costs.ts'
import type { Period, PriceTable } from '../../../src/models/prices/table.ts'

const usage = (input_tokens: number, output_tokens: number, details: Partial<Usage> = {}): Usage => ({
  input_tokens,
  output_tokens,
  total_tokens: input_tokens + output_tokens,
  ...details,
})
const call = (model: string | null, input: number, output: number, details: Partial<Usage> = {}): ModelUsage => ({
  model,
  ...usage(input, output, details),
  largest_input_tokens: input,
})

const always = (...period: [Period[1], Period[2]?]): Period => [null, ...period] as Period
const table: PriceTable = {
  source: 'a test',
  version: '1',
  as_of: '2026-01-31',
  otherwise: { google: 'anthropic' },
  providers: {
    openai: [
      [['=plain'], always([2, 8])],
      [['=cached'], always([2, 8, 0.5, 2.5])],
      [['=long'], always([1, 10, 0.1], [200_000, 2, 15, 0.2])],
      [['=cheaper'], [null, [4, 8]], ['2026-06-01', [2, 4]]],
      [['=hourly'], [null, [1, 1]], ['22:00-02:00', [3, 3]]],
      [['=images'], [null]],
      [[['^dated-', '~-\\d{4}-\\d{2}-\\d{2}$']], always([1, 1])],
    ],
    google: [[['*gemini'], always([1, 1])]],
    anthropic: [[['^claude'], always([3, 15])]],
  },
}
const noon: CallTimes = { from: '2026-03-01T12:00:00.000Z', to: '2026-03-01T12:00:05.000Z' }
const cost = (sums: ModelUsage[], given: GivenPrices = {}, times = noon) =>
  costOf(sums, times, { given, table: () => table })
const usd = (sum: ModelUsage, given?: GivenPrices, times?: CallTimes) => cost([sum], given, times)?.usd

describe('what calls cost', () => {
  it('is the price of a million tokens times the tokens, with the date of the table', () => {
    expect(cost([call('openai/plain', 1_000_000, 500_000)])).toEqual({ usd: 6, as_of: '2026-01-31' })
    expect(usd(call('openai/plain', 1, 0))).toBe(0.000002)
  })

  it('is not known with a call that reported nothing, unless its model is local', () => {
    const unreported = (model: string): ModelUsage => ({ model, ...usage(0, 0), unreported_calls: 1 })
    const partly = { ...call('openai/plain', 1, 1), unreported_calls: 2 }
    for (const sum of [unreported('openai/plain'), partly, unreported('own/model')]) {
      expect(cost([sum], { 'own/model': { input: 1, output: 1 } })).toBeNull()
      expect(cost([call('openai/plain', 1, 1), sum])).toBeNull()
    }
    expect(cost([unreported('offline')])).toEqual({ usd: 0, as_of: null, local: true })
    expect(cost([unreported('ollama/llama')])).toEqual({ usd: 0, as_of: null, local: true })
    expect(usd(partly, { 'openai/plain': 'local' })).toBe(0)
    expect(cost([call('openai/plain', 1_000_000, 0), unreported('offline')])).toEqual({ usd: 2, as_of: '2026-01-31' })
  })

  it('bills cached and written input at their own price, and once', () => {
    const details = { cached_input_tokens: 600_000, cache_write_tokens: 100_000 }
    expect(usd(call('openai/cached', 1_000_000, 0, details))).toBe(0.3 * 2 + 0.6 * 0.5 + 0.1 * 2.5)
    expect(usd(call('openai/plain', 1_000_000, 0, details))).toBe(2)
  })

  it('bills reasoning as output, of which it is a part, unless it has a price of its own', () => {
    const sum = call('openai/plain', 0, 1_000_000, { reasoning_tokens: 250_000 })
    expect(usd(sum)).toBe(8)
    expect(usd(sum, { 'openai/plain': { input: 2, output: 8, reasoning: 20 } })).toBe(0.75 * 8 + 0.25 * 20)
  })

  it('is unknown as soon as one part is, never the sum of the others', () => {
    const known = call('openai/plain', 1_000, 1_000)
    for (const part of [call('openai/never-heard-of', 1, 1), call(null, 1, 1), call('acme/x', 0, 0), call('x', 1, 1)]) {
      expect(cost([known, part])).toBeNull()
    }
    expect(cost([])).toBeNull()
    expect(cost([call('openai/images', 1, 1)])).toBeNull()
    expect(cost([call('__proto__/constructor', 1, 1), call('constructor', 1, 1)])).toBeNull()
  })

  it('is unknown for counts that contradict each other', () => {
    expect(cost([call('openai/cached', 10, 1, { cached_input_tokens: 11 })])).toBeNull()
    expect(cost([call('openai/cached', 10, 1, { cached_input_tokens: 6, cache_write_tokens: 6 })])).toBeNull()
    expect(cost([call('openai/plain', 10, 1, { reasoning_tokens: 2 })])).toBeNull()
    expect(cost([call('openai/plain', -1, 1)])).toBeNull()
  })

  it('is 0 and local on this machine, and only the sum of local calls is local', () => {
    const local = { usd: 0, as_of: null, local: true }
    for (const model of ['ollama/qwen3:8b', 'lmstudio/x', 'ollama.chat/x', 'offline']) {
      expect(cost([call(model, 5, 5)])).toEqual(local)
    }
    expect(cost([call('ollama/a', 1, 1), call('offline', 0, 0)])).toEqual(local)
    expect(cost([call('ollama/a', 1, 1), call('openai/plain', 0, 1_000_000)])).toEqual({ usd: 8, as_of: '2026-01-31' })
    expect(cost([call('ollama/gpt-oss:120b-cloud', 1, 1)])).toBeNull()
    expect(cost([call('ollama/glm-4.6:cloud', 1, 1)])).toBeNull()
  })

  it('is that of the config, where it has the model', () => {
    const given: GivenPrices = {
      'openai/plain': { input: 1, output: 1 },
      'compatible/mine': 'local',
      'ollama/a': { input: 0.1, output: 0.1 },
      'acme/x': { input: 4, output: 4, cachedInput: 1, cacheWrite: 5 },
    }
    expect(cost([call('openai/plain', 1_000_000, 0)], given)).toEqual({ usd: 1, as_of: null })
    expect(cost([call('openai.responses/plain', 1_000_000, 0)], given)).toEqual({ usd: 1, as_of: null })
    expect(cost([call('compatible/mine', 9, 9)], given)).toEqual({ usd: 0, as_of: null, local: true })
    expect(usd(call('ollama/a', 1_000_000, 0), given)).toBe(0.1)
    const details = { cached_input_tokens: 500_000, cache_write_tokens: 250_000 }
    expect(usd(call('acme/x', 1_000_000, 0, details), given)).toBe(0.25 * 4 + 0.5 * 1 + 0.25 * 5)
    const both = [call('acme/x', 1_000_000, 0), call('openai/cached', 1_000_000, 0)]
    expect(cost(both, given)).toEqual({ usd: 6, as_of: '2026-01-31' })
  })
})

describe('a price that depends on the size of a call', () => {
  const sum = (input: number, largest: number | undefined): ModelUsage => ({
    model: 'openai/long',
    ...usage(input, 100_000, { cached_input_tokens: 50_000 }),
    ...(largest === undefined ? {} : { largest_input_tokens: largest }),
  })

  it('is the lower one while no call is larger, however much they use together', () => {
    expect(usd(sum(1_050_000, 200_000))).toBe(1 + 0.05 * 0.1 + 1)
  })

  it('is the higher one for the whole of one large call', () => {
    expect(usd(sum(1_050_000, 1_050_000))).toBe(2 + 0.05 * 0.2 + 1.5)
  })

  it('is unknown for a sum of large and small calls, and for a sum that does not tell', () => {
    expect(usd(sum(1_050_000, 300_000))).toBeUndefined()
    expect(usd(sum(1_050_000, undefined))).toBeUndefined()
    expect(usd(sum(150_000, undefined))).toBe(0.1 + 0.005 + 1)
  })
})

describe('a price that depends on the time', () => {
  const at = (from: string | null, to = from) => ({ from, to })

  it('is that of the day of the calls, unknown across a change, and when the time is not known', () => {
    const sum = call('openai/cheaper', 1_000_000, 0)
    expect(usd(sum, {}, at('2026-05-31T23:59:59.999Z'))).toBe(4)
    expect(usd(sum, {}, at('2026-06-01T00:00:00.000Z'))).toBe(2)
    expect(usd(sum, {}, at('2026-05-31T23:59:59.999Z', '2026-06-01T00:00:00.000Z'))).toBeUndefined()
    expect(usd(sum, {}, at(null, '2026-06-02T00:00:00.000Z'))).toBeUndefined()
    expect(usd(sum, {}, at(null, '2026-05-02T00:00:00.000Z'))).toBe(4)
    expect(usd(sum, {}, at('2026-07-01T00:00:00.000Z', null))).toBe(2)
  })

  it('is that of the hour, over midnight too, and unknown across the hour', () => {
    const sum = call('openai/hourly', 1_000_000, 0)
    expect(usd(sum, {}, at('2026-03-01T21:59:59.999Z'))).toBe(1)
    expect(usd(sum, {}, at('2026-03-01T23:59:00.000Z', '2026-03-02T00:01:00.000Z'))).toBe(3)
    expect(usd(sum, {}, at('2026-03-01T01:59:00.000Z', '2026-03-01T02:00:00.000Z'))).toBeUndefined()
    expect(usd(sum, {}, at('2026-03-01T12:00:00.000Z', '2026-03-02T12:00:00.000Z'))).toBeUndefined()
  })
})

describe('the row of a model', () => {
  it('is found whatever the case of its name and the dashes of its date, and with another provider', () => {
    expect(usd(call('openai/PLAIN', 1_000_000, 0))).toBe(2)
    expect(usd(call('openai/dated-20260131', 1_000_000, 0))).toBe(1)
    expect(usd(call('google/claude-sonnet-5', 1_000_000, 0))).toBe(3)
    expect(usd(call('vertex.anthropic/claude-sonnet-5', 1_000_000, 0))).toBe(3)
    expect(usd(call('openai/claude-sonnet-5', 1_000_000, 0))).toBeUndefined()
  })
})

describe('costs by the config and the shipped table', () => {
  const costs = createCosts({})
  const at = '2026-11-22T12:00:00.000Z'
  const times = { created_at: at, started_at: at, completed_at: at }

  it('are null where the record does not say what a model used', () => {
    expect(costs.ofRun(times)).toBeNull()
    expect(costs.ofCall({ usage: usage(1, 1), at })).toBeNull()
    expect(costs.ofCall({ model: 'openai/gpt-5', usage: null, at })).toBeNull()
  })

  it('are local for a call on this machine that reports no usage', () => {
    expect(costs.ofCall({ model: 'offline', usage: null, at })).toEqual({ usd: 0, as_of: null, local: true })
  })

  it('follow the config that is in force', () => {
    const run = { ...times, usage_by_model: [call('compatible/x', 1_000_000, 0)] }
    expect(costs.ofRun(run)).toBeNull()
    costs.replace({ 'compatible/x': { input: 3, output: 3 } })
    expect(costs.ofRun(run)).toEqual({ usd: 3, as_of: null })
    costs.replace({})
    expect(costs.ofRun(run)).toBeNull()
  })

  it('of a session are those of the time of its turns, which a fork does not know', () => {
    const session = { created_at: at, updated_at: at, usage_by_model: [call('google/gemini-3.6-flash', 1_000_000, 0)] }
    expect(costs.ofSession({ ...session, forked_from: null })?.usd).toBe(0.75)
    const forked_from = { session_id: 's', run_id: null }
    expect(costs.ofSession({ ...session, forked_from })?.usd).toBe(0.75)
    expect(costs.ofSession({ ...session, forked_from, updated_at: '2027-01-01T00:00:00.000Z' })).toBeNull()
  })
})
