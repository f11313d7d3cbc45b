import { expect, test } from 'vitest'
import { againLines, usageLines } from '../../../src/cli/runs/facts.ts'

const usage = { input_tokens: 812, output_tokens: 96, total_tokens: 908 }

test('tokens are shown once more only where there is more to say', () => {
  expect(usageLines({ usage: null })).toEqual([])
  expect(usageLines({ usage, usage_by_model: [{ model: 'openai/gpt', ...usage }] })).toEqual([])
  const details = { cached_input_tokens: 600, cache_write_tokens: 0, reasoning_tokens: 40 }
  expect(usageLines({ usage: { ...usage, ...details } })).toEqual([
    '812 (600 cached, 0 written to the cache) + 96 (40 reasoning) tokens',
  ])
})

test('each of several models has a line, and its name no codes for the terminal', () => {
  const lines = usageLines({
    usage,
    usage_by_model: [
      { model: 'a/\u001b[31mred', ...usage, reasoning_tokens: 7 },
      { model: null, ...usage },
    ],
  })
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatch(/red {2}812 \+ 96 \(7 reasoning\) tokens$/)
  expect(lines[0]).not.toContain('\u001b')
  expect(lines[1]).toBe('unknown model  812 + 96 tokens')
})

test('a run that repeats another names it, and where it began', () => {
  expect(againLines({ again_of: null })).toEqual([])
  expect(againLines({})).toEqual([])
  expect(againLines({ again_of: { run_id: 'run_1', from: 12, after: 'ask', keep: 'fork' } })).toEqual([
    'run_1  from event 12  in a fork',
  ])
  expect(againLines({ again_of: { run_id: 'run_1', from: null, after: 'ask', keep: 'no' } })).toEqual([
    'run_1  from its beginning  not kept',
  ])
})
