import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { shippedTable } from '../../../src/models/prices/table.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import type { RunDetail } from '../../../src/wire/run.ts'
import { eventsOf, serveAgents } from '../../runnables/agent-server.ts'
import { keyVariables, modelOf, openRecorded, recordedCalls } from '../recorded-calls.ts'

/*
 * What ten calls cost, calculated by hand: millions of tokens times the price of a million, as the providers' price lists and
 * the table of 2026-09-23 have it. An update of the table that changes one of these prices has to change this test too.
 */

beforeAll(() => {
  for (const name of keyVariables) vi.stubEnv(name, 'key-of-nobody-0123456789')
})
afterAll(() => {
  vi.unstubAllEnvs()
})

const million = 1_000_000

/** DeepSeek's day is from 00:30 to 16:30 UTC. */
const isDay = (at: string) => at.slice(11, 16) >= '00:30' && at.slice(11, 16) < '16:30'

/** By the answer's file: dollars. */
const byHand: Record<string, (at: string) => number> = {
  // 2006 in, 1920 of them cached, 812 out with 576 of reasoning: $1.25, $0.125, $10.
  'openai-responses': () => (86 * 1.25 + 1920 * 0.125 + 812 * 10) / million,
  // 2006 in, 1920 of them cached, 300 out: $2.50, $1.25, $10.
  'openai-chat': () => (86 * 2.5 + 1920 * 1.25 + 300 * 10) / million,
  // 188,107 in, 188,086 of them written to the cache, 393 out: $3, $3.75, $15. Below the limit of 200,000.
  'anthropic-cache-write': () => (21 * 3 + 188_086 * 3.75 + 393 * 15) / million,
  // 100,298 in, 100,000 of them cached and 248 written, 503 out: $1, $0.10, $1.25, $5.
  'anthropic-cache-read': () => (50 * 1 + 100_000 * 0.1 + 248 * 1.25 + 503 * 5) / million,
  // 5210 in, 4096 of them cached, 923 out with 801 of thoughts: $1.25, $0.125, $10. Below the limit of 200,000.
  'google-thinking': () => (1114 * 1.25 + 4096 * 0.125 + 923 * 10) / million,
  // 40 in, 12 out: $0.30, $2.50.
  'google-plain': () => (40 * 0.3 + 12 * 2.5) / million,
  // 1300 in, 1024 of them cached, 210 out: $0.27, $0.07, $1.10 by day, $0.135, $0.035, $0.55 by night.
  deepseek: (at) =>
    (isDay(at) ? 276 * 0.27 + 1024 * 0.07 + 210 * 1.1 : 276 * 0.135 + 1024 * 0.035 + 210 * 0.55) / million,
  // 77 in, 33 out: $2, $6.
  mistral: () => (77 * 2 + 33 * 6) / million,
  // 32 in, 6 of them cached, 103 out with 94 of reasoning: $0.30, $0.075, $0.50.
  xai: () => (26 * 0.3 + 6 * 0.075 + 103 * 0.5) / million,
  // 1540 in, 1280 of them cached, 184 out with 130 of reasoning: $0.15, $0.075, $0.60.
  groq: () => (260 * 0.15 + 1280 * 0.075 + 184 * 0.6) / million,
}

/** The same in full. */
const inFull: Record<string, number> = {
  'openai-responses': 0.0084675,
  'openai-chat': 0.005615,
  'anthropic-cache-write': 0.7112805,
  'anthropic-cache-read': 0.012875,
  'google-thinking': 0.0111345,
  'google-plain': 0.000042,
  mistral: 0.000352,
  xai: 0.00005975,
  groq: 0.0002454,
}

test('the calls are those of at least five providers, cached and reasoning tokens among them', () => {
  expect(recordedCalls.map(({ answer }) => answer).toSorted()).toEqual(Object.keys(byHand).toSorted())
  expect(new Set(recordedCalls.map(({ name }) => name.split('/', 1)[0])).size).toBeGreaterThanOrEqual(5)
  expect(shippedTable().as_of).toBe('2026-09-23')
})

describe.each(recordedCalls)('a call of $name ($answer)', (call) => {
  test('costs in every answer what it costs by hand', async () => {
    await using recorded = await openRecorded(call)
    await using server = await serveAgents({ asked: agent({ model: await modelOf(call, recorded.fetch) }) })
    const read = async (path: string) => (await server.call('GET', `/api/v1${path}`)).json
    const answer = (await server.ask('asked', 'Why is it foggy?')).json as RunDetail
    const [ended] = eventsOf(await server.events(answer.run_id), 'model_call_end')
    const at = String(ended?.at)
    const usd = byHand[call.answer]?.(at)
    if (inFull[call.answer] !== undefined) expect(usd).toBeCloseTo(Number(inFull[call.answer]), 12)

    const expected = { usd: expect.closeTo(Number(usd), 12), as_of: '2026-09-23' }
    expect(ended?.cost).toEqual(expected)
    const run = await read(`/runs/${answer.run_id}`)
    const trace = await read(`/runs/${answer.run_id}/trace`)
    expect(trace.calls).toMatchObject([{ cost: expected }])
    // A night that begins in the middle of this run leaves its price open.
    if (isDay(run.started_at) !== isDay(run.completed_at)) return
    const list = await read('/runs')
    const history = await read(`/sessions/${answer.session_id}/history?stream_events=true`)
    const session = await read(`/sessions/${answer.session_id}`)
    for (const shown of [answer, run, list.runs[0], history.runs[0], session.runs[0]])
      expect(shown.cost).toEqual(expected)
    expect(eventsOf(history.runs[0].events, 'model_call_end')[0]?.cost).toEqual(expected)
  })
})
