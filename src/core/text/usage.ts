import type { Usage } from '../run.ts'
import { formatCount } from './format.ts'

/** `1,204 tokens in (1,000 cached), 96 out (20 reasoning)`. */
export function usageInWords(usage: Usage): string {
  return tokensIn(usage, ' tokens in', ',')
}

/** `1,330 in (1,204 cached) 212 out`. */
export function usageInShort(usage: Usage): string {
  return tokensIn(usage, ' in', '')
}

function tokensIn(usage: Usage, taken: string, between: string): string {
  const { cached_input_tokens: cached, cache_write_tokens: written, reasoning_tokens: thought } = usage
  const read = inside([
    [cached, 'cached'],
    [written, 'put into the cache'],
  ])
  const made = inside([[thought, 'reasoning']])
  return `${formatCount(usage.input_tokens)}${taken}${read}${between} ${formatCount(usage.output_tokens)} out${made}`
}

function inside(counts: readonly [count: number | undefined, what: string][]): string {
  const told = counts.flatMap(([count, what]) => (count ? [`${formatCount(count)} ${what}`] : []))
  return told.length === 0 ? '' : ` (${told.join(', ')})`
}
