import type { Usage } from '../../core/run.ts'
import { formatCost, formatCount } from '../parts/format.ts'
import type { IconName } from '../parts/icon.tsx'
import type { Cost, Step, StepKind } from '../state/run/steps.ts'

export const kinds: Readonly<Record<StepKind, [icon: IconName, words: string]>> = {
  run: ['run', 'run'],
  search: ['search', 'search'],
  model: ['model', 'model call'],
  tool: ['tool', 'tool call'],
  step: ['step', 'step'],
  wait: ['waiting', 'waits'],
  end: ['end', 'end'],
}

/** From which a run can be repeated. */
export const repeatable: readonly StepKind[] = ['model', 'tool', 'search', 'step']

/** Null while it is as most are: nothing is said then. */
export function stateOf({ state, isCut, kind }: Step): [icon: IconName, words: string] | null {
  if (isCut === true) return ['interrupted', 'interrupted']
  if (state === 'failed') return ['failed', 'failed']
  if (state === 'cancelled') return ['cancelled', 'cancelled']
  if (state === 'running') return ['running', 'running']
  return state === 'waiting' && kind !== 'wait' ? ['waiting', 'waits'] : null
}

/** `1,204 tokens in (1,000 cached), 96 out (20 reasoning)`. */
export function usageInWords(usage: Usage): string {
  const {
    input_tokens,
    output_tokens,
    cached_input_tokens: cached,
    cache_write_tokens: written,
    reasoning_tokens,
  } = usage
  const inside = [part(cached, 'cached'), part(written, 'put into the cache')].filter((words) => words !== '')
  const read = inside.length === 0 ? '' : ` (${inside.join(', ')})`
  const thought = part(reasoning_tokens, 'reasoning')
  return `${formatCount(input_tokens)} tokens in${read}, ${formatCount(output_tokens)} out${thought === '' ? '' : ` (${thought})`}`
}

function part(count: number | undefined, what: string): string {
  return count === undefined || count === 0 ? '' : `${formatCount(count)} ${what}`
}

/** What a cost rests on. */
export function costInWords(cost: Cost | null): string {
  if (cost === null) return 'The cost is not known.'
  if (cost.local === true) return 'All models ran on a machine of their own.'
  const prices = cost.as_of === null ? 'the prices of the configuration' : `the price table of ${cost.as_of}`
  return `${formatCost(cost)} by ${prices}.`
}

/** How long a step took, without the times when the run waited. Undefined while it is under way. */
export function tookMs(
  { startMs, endMs }: Step,
  pauses: readonly { fromMs: number; toMs: number }[],
): number | undefined {
  if (endMs === undefined) return undefined
  const waited = pauses.map(({ fromMs, toMs }) => Math.max(0, Math.min(endMs, toMs) - Math.max(startMs, fromMs)))
  return endMs - startMs - waited.reduce((sum, ms) => sum + ms, 0)
}
