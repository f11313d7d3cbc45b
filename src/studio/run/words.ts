import type { Cost, Step, StepKind } from '../../core/steps/step.ts'
import { formatCost } from '../../core/text/format.ts'
import type { IconName } from '../parts/icon.tsx'

const words: Partial<Record<StepKind, string>> = { model: 'model call', tool: 'tool call', wait: 'waits' }

export function kindInWords(kind: StepKind): string {
  return words[kind] ?? kind
}

export function iconOf(kind: StepKind): IconName {
  return kind === 'wait' ? 'waiting' : kind
}

/** From which a run can be repeated. */
export const repeatable: readonly StepKind[] = ['model', 'tool', 'search', 'step']

/** Its name is a word too. Undefined while it is as most are: nothing is said then. */
export function stateOf({ state, isCut, kind }: Step): IconName | undefined {
  if (isCut) return 'interrupted'
  return state === 'done' || (state === 'waiting' && kind === 'wait') ? undefined : state
}

/** What a cost rests on. */
export function costInWords(cost: Cost | null): string {
  if (cost === null) return 'The cost is not known.'
  if (cost.local === true) return 'All models are local.'
  const prices = cost.as_of === null ? 'the config' : `the prices of ${cost.as_of}`
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
