import type { JSX } from 'preact'
import type { CallAnswer } from '../../core/run.ts'
import type { RunSteps } from '../../core/steps/steps.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import { Moment } from '../parts/moment.tsx'
import { inWords } from './given.ts'

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

function Value({ given: { input, output } }: { given: CallAnswer }): JSX.Element | null {
  const value = output ?? input
  return typeof value === 'object' && value !== null ? <JsonTree value={value} /> : null
}
