import type { JSX } from 'preact'
import { formatCost, formatCount, formatScore } from '../../core/text/format.ts'
import { Icon } from '../parts/icon.tsx'
import type { KeptResult } from './project-tests.ts'

/** `flaky 2 of 3` when it passed some of the times. */
export function outcomeOf({ passed, flaky, passes, times }: KeptResult): 'passed' | 'failed' | `flaky ${string}` {
  return flaky ? `flaky ${passes} of ${times}` : passed ? 'passed' : 'failed'
}

interface OutcomeProps {
  result: KeptResult | undefined
  /** The run before that played the test. */
  before: KeptResult | undefined
}

/** A cell of the grid: shape and words, the score, how the tokens changed, and the cost. */
export function Outcome({ result, before }: OutcomeProps): JSX.Element {
  if (result === undefined) return <span class="more">–</span>
  const outcome = outcomeOf(result)
  const kind = result.flaky ? 'input_required' : result.passed ? 'completed' : 'failed'
  return (
    <>
      <span class={`status ${kind}`}>
        <Icon name={result.flaky ? 'interrupted' : result.passed ? 'done' : 'failed'} />{' '}
        <span class={result.flaky ? undefined : 'hidden'}>{outcome}</span>
      </span>{' '}
      {factsOf(result, before)}
    </>
  )
}

function factsOf({ score, usage, cost, times }: KeptResult, before: KeptResult | undefined): string {
  const tokens = (usage?.total_tokens ?? 0) / times - (before?.usage?.total_tokens ?? 0) / (before?.times ?? 1)
  const isKnown = usage !== null && before !== undefined && before.usage !== null
  const change = Math.round(tokens)
  return [
    score === null ? '' : formatScore(score),
    !isKnown || change === 0 ? '' : `${change > 0 ? '+' : '−'}${formatCount(Math.abs(change))} tok`,
    cost === null ? '' : formatCost(cost),
  ]
    .filter((fact) => fact !== '')
    .join(' · ')
}
