import type { JSX } from 'preact'
import { formatCost, formatMs } from '../../core/text/format.ts'
import { Status } from '../parts/status.tsx'
import { isEnded } from '../state/conversation.ts'
import type { OpenedRun } from '../state/opened-run.ts'
import { heed } from './asides.ts'
import { changeOf, factsOf, textOf } from './compare.ts'

interface SpreadProps {
  a: OpenedRun
  tries: readonly OpenedRun[]
  chosen: number
  onChoose: (place: number) => void
}

/** How far several runs of the same differ: in what they say, in cost and time. */
export function Spread({ a, tries, chosen, onChoose }: SpreadProps): JSX.Element {
  heed(a, ...tries)
  const before = factsOf(a)
  // The status may be known before all that was said.
  const isOver = tries.every(({ run, events }) => isEnded(run.value) && events.isOver)
  const costs = tries.flatMap(({ run }) => run.value?.cost?.usd ?? [])
  const kinds = [...new Set(tries.map(textOf))]
  return (
    <section aria-label="Spread">
      <h3>Spread</h3>
      <p role="status">
        {isOver
          ? `${kinds.length === 1 ? 'The same answer' : `${kinds.length} different answers`} in ${tries.length} runs`
          : 'Under way…'}
        {costs.length < tries.length
          ? ''
          : `, cost ${formatCost({ usd: Math.min(...costs) })} to ${formatCost({ usd: Math.max(...costs) })}`}
      </p>
      <ol>
        {tries.map((one, place) => {
          const { ms, cost, output } = factsOf(one)
          const { value: run } = one.run
          return (
            <li key={one.runId}>
              <button type="button" class="quiet" aria-pressed={place === chosen} onClick={() => onChoose(place)}>
                {run === undefined ? 'Reading…' : <Status status={run.status} />} answer{' '}
                {kinds.indexOf(textOf(one)) + 1} · {formatMs(ms)} · {formatCost(cost)} · tokens out{' '}
                {changeOf(before.output, output) || '–'}
              </button>
            </li>
          )
        })}
      </ol>
    </section>
  )
}
