import type { JSX } from 'preact'
import type { CallAnswer } from '../../core/run.ts'
import type { RunSteps } from '../../core/steps/steps.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import { Moment } from '../parts/moment.tsx'

/** What the run asked, and what it was told. */
export function Exchanges({ answer }: { answer: RunSteps }): JSX.Element | null {
  const told = answer.exchanges.map(({ asked, given }) =>
    given === undefined ? null : (
      <li key={asked.seq}>
        <p>
          <strong dir="auto">{asked.tool ?? asked.prompt}</strong>: <span dir="auto">{inWords(given)}</span>{' '}
          <Moment at={asked.at} />
        </p>
        {asked.data === undefined ? null : (
          <details>
            <summary>What it was about</summary>
            <JsonTree value={asked.data} />
          </details>
        )}
        <Value given={given} />
      </li>
    ),
  )
  return told.some((item) => item !== null) ? (
    <ul class="exchanges" aria-label="Questions of the run">
      {told}
    </ul>
  ) : null
}

export function inWords({ approved, reason, input, output, error }: CallAnswer): string {
  const why = reason ?? (typeof input === 'string' ? input : undefined)
  if (approved !== undefined) {
    const decision = approved ? 'allowed' : 'refused'
    return why === undefined ? decision : `${decision}: ${why}`
  }
  if (error !== undefined) return `failed: ${error}`
  const value = input ?? output
  return typeof value === 'string' ? value : 'answered'
}

function Value({ given: { input, output } }: { given: CallAnswer }): JSX.Element | null {
  const value = input ?? output
  return typeof value === 'object' && value !== null ? <JsonTree value={value} /> : null
}
