import type { JSX } from 'preact'
import { counted, formatCost, formatMs } from '../../core/text/format.ts'
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
  const texts = tries.map(textOf)
  // A try that failed before it said anything is no answer of its own.
  const kinds = [...new Set(texts.filter((text) => text !== ''))]
  return (
    <section aria-label="Spread">
      <h3>Spread</h3>
      <p role="status">
        {isOver ? whatWasSaid(texts, kinds.length) : 'Under way…'}
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
                {run === undefined ? 'Reading…' : <Status status={run.status} />}{' '}
                {texts[place] ? `answer ${kinds.indexOf(texts[place]) + 1}` : 'no text'} · {formatMs(ms)} ·{' '}
                {formatCost(cost)} · tokens out {changeOf(before.output, output) || '–'}
              </button>
            </li>
          )
        })}
      </ol>
    </section>
  )
}

function whatWasSaid(texts: readonly string[], kinds: number): string {
  const runs = `in ${counted(texts.length, 'run')}`
  if (kinds === 0) return `No text ${runs}`
  const silent = texts.filter((text) => text === '').length
  const answers = kinds === 1 ? 'The same answer' : `${kinds} different answers`
  return `${answers} ${runs}${silent === 0 ? '' : `, no text in ${silent}`}`
}
