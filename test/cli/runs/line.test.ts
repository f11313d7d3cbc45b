import { expect, it } from 'vitest'
import { formatRun, type RunFacts } from '../../../src/cli/runs/line.ts'
import { paintFor } from '../../../src/cli/terminal/paint.ts'
import type { RunRecord } from '../../../src/core/run.ts'

const paint = paintFor({ isTTY: false })
const facts: RunFacts = {
  firstTokenMs: 212,
  tools: new Map([['search', 2]]),
  denied: 0,
  searches: { count: 0, ms: undefined },
  toolErrors: [],
  cost: { usd: 0.00412, as_of: null },
}

function run(change: Partial<RunRecord> = {}): RunRecord {
  return {
    run_id: 'run_1',
    session_id: 'ses_0123456789abcdef',
    parent_run_id: null,
    entity_id: 'docs',
    entity_kind: 'agent',
    status: 'completed',
    created_at: '2026-01-01T00:00:00.000Z',
    started_at: '2026-01-01T00:00:01.000Z',
    completed_at: '2026-01-01T00:00:02.400Z',
    cancellation_reason: null,
    error: null,
    cache_hit: false,
    usage: { input_tokens: 812, output_tokens: 96, total_tokens: 908 },
    user_id: null,
    metadata: null,
    background: false,
    timeout_ms: null,
    truncated: false,
    end_seq: 9,
    messages: [],
    sources: [],
    waiting: [],
    replaced_by: null,
    again_of: null,
    given: null,
    ...change,
  }
}

const line = (change: Partial<RunRecord> = {}, columns?: number, of = facts) =>
  formatRun(run(change), of, { paint, columns })

it('tells agent, session, time to the first token and in all, tokens, tools and status', () => {
  expect(line()).toBe(
    'completed  docs  ses_0123456789abcdef  first 212 ms  total 1.4 s  812 + 96 tokens  $0.0041  search ×2',
  )
})

it('shortens the session where the terminal is narrow', () => {
  expect(line({}, 80)).toContain('  docs  …abcdef  first')
  expect(line({}, 200)).toContain('ses_0123456789abcdef')
})

it.each<[string, Partial<RunRecord>, RegExp]>([
  [
    'failed',
    { status: 'failed', error: { code: 'timeout', message: 'Too\nslow.' } },
    /^failed .*\n {2}timeout: Too slow\.$/,
  ],
  [
    'cancelled',
    { status: 'cancelled', cancellation_reason: 'client_disconnected' },
    /^cancelled .* {2}client_disconnected {2}search ×2$/,
  ],
  ['paused', { status: 'input_required', completed_at: null }, /^waits {6}docs/],
  ['cached', { cache_hit: true }, / {2}from the cache {2}search ×2$/],
  ['a member of a team', { parent_run_id: 'run_0' }, /^completed {2}↳ docs/],
  ['long', { completed_at: '2026-01-01T00:02:05.000Z' }, /total 2 min 4 s/],
])('tells of a run that is %s', (_, change, expected) => {
  expect(line(change)).toMatch(expected)
})

it('tells what tools threw, a few of them', () => {
  const toolErrors = ['search: no\nindex', 'search: b', 'search: c', 'search: d']
  expect(line({}, undefined, { ...facts, toolErrors })).toMatch(/\n {2}search: no index\n {2}search: b\n {2}search: c$/)
})

it('lets nothing through that a terminal obeys', () => {
  const hostile = 'a\x1b]0;title\x07b\x1b[2J\r\u202e\x9b31m'
  const shown = line(
    { entity_id: hostile, cancellation_reason: hostile, status: 'failed', error: { code: 'x', message: hostile } },
    undefined,
    { ...facts, cost: null, tools: new Map([[hostile, 1]]), toolErrors: [hostile] },
  )
  expect([...shown].filter((character) => character < ' ' && character !== '\n')).toEqual([])
  expect(shown).not.toContain('\u202e')
})

it('tells cached tokens, denied calls and searches with their time', () => {
  const usage = { input_tokens: 812, output_tokens: 96, total_tokens: 908, cached_input_tokens: 600 }
  const shown = line({ usage }, undefined, { ...facts, denied: 1, searches: { count: 2, ms: 41 } })
  expect(shown).toContain('  812 (600 cached) + 96 tokens')
  expect(shown).toMatch(/ {2}1 denied {2}2 searches 41 ms {2}search ×2$/)
  expect(line({}, undefined, { ...facts, searches: { count: 1, ms: undefined } })).toContain('  1 search  search ×2')
})

it('is one line of a terminal of 80 columns, and leaves out the last of it', () => {
  const many = new Map(Array.from({ length: 9 }, (_, index) => [`a_tool_with_a_name_${index}`, 1]))
  const usage = { input_tokens: 81_200, output_tokens: 9_600, total_tokens: 90_800, cached_input_tokens: 60_000 }
  const shown = line({ usage }, 80, { ...facts, tools: many, denied: 2, searches: { count: 2, ms: 41 } })
  expect(shown).toHaveLength(80)
  expect(shown).toMatch(/81200 \(60000 cached\).*…$/)
})
