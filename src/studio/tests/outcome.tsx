import type { JSX } from 'preact'
import { formatCost, formatCount, formatScore } from '../../core/text/format.ts'
import { Icon } from '../parts/icon.tsx'
import type { KeptResult } from './project-tests.ts'

/** `flaky 2 of 3` when it passed some of the times. */
export function outcomeOf(result: KeptResult | undefined): string {
  if (result === undefined) return '–'
  const { passed, flaky, passes, times } = result
  return flaky ? `flaky ${passes} of ${times}` : passed ? 'passed' : 'failed'
}

interface OutcomeProps {
  result: KeptResult | undefined
  /** The run before that played the test. */
  before: KeptResult | undefined
}

/** A cell of the grid: shape and words, the score, how the tokens changed, and the cost. */
export function Outcome({ result, before }: OutcomeProps): JSX.Element {
  const outcome = outcomeOf(result)
  if (result === undefined) return <span class="more">{outcome}</span>
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

/** Of one of the times that it was played; no number when that is not known. */
function tokensOf(result: KeptResult | undefined): number {
  return Number(result?.usage?.total_tokens) / Number(result?.times)
}

function factsOf(result: KeptResult, before: KeptResult | undefined): string {
  const { score, cost } = result
  const change = Math.round(tokensOf(result) - tokensOf(before))
  return [
    score === null ? '' : formatScore(score),
    change ? `${change > 0 ? '+' : '−'}${formatCount(Math.abs(change))} tok` : '',
    cost === null ? '' : formatCost(cost),
  ]
    .filter((fact) => fact !== '')
    .join(' · ')
}
