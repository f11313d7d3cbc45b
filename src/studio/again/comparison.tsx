import type { JSX } from 'preact'
import { formatCost, formatCount, formatMs } from '../../core/text/format.ts'
import { whereOf } from '../parts/hits.tsx'
import { Status } from '../parts/status.tsx'
import type { OpenedRun } from '../state/opened-run.ts'
import type { Studio } from '../state/studio.ts'
import { heed } from './asides.ts'
import { changeOf, factsOf, type PassagePair, passagePairs, type RunFacts, textOf, toolPairs } from './compare.ts'
import { onlyIn, Part, TextDiff } from './part.tsx'
import { PromptDiff } from './prompt-diff.tsx'

interface ComparisonProps {
  studio: Studio
  a: OpenedRun
  b: OpenedRun
}

/** What differs between two runs. It is drawn again while one of them goes on. */
export function Comparison({ studio, a, b }: ComparisonProps): JSX.Element {
  heed(a, b)
  return (
    <>
      <Facts a={a} b={b} />
      <Part title="Answer">
        <TextDiff before={textOf(a.events)} after={textOf(b.events)} />
      </Part>
      <PromptDiff studio={studio} a={a} b={b} />
      <Tools a={a} b={b} />
      <Passages a={a} b={b} />
    </>
  )
}

const rows: readonly [
  name: string,
  words: (facts: RunFacts) => string,
  number?: (facts: RunFacts) => number | undefined,
][] = [
  ['Model', ({ models }) => models || '–'],
  ['Time', ({ ms }) => formatMs(ms), ({ ms }) => ms],
  ['Tokens in', ({ input }) => countOf(input), ({ input }) => input],
  ['Tokens out', ({ output }) => countOf(output), ({ output }) => output],
  ['Cost', ({ cost }) => formatCost(cost), ({ cost }) => cost?.usd],
]

function countOf(count: number | undefined): string {
  return count === undefined ? '–' : formatCount(count)
}

/** Status, model, time, tokens and cost, with what changed. */
export function Facts({ a, b }: { a: OpenedRun; b: OpenedRun }): JSX.Element {
  heed(a, b)
  const [before, after] = [factsOf(a), factsOf(b)]
  return (
    <table class="facts-of-two">
      <thead>
        <tr>
          <td />
          <th scope="col">A</th>
          <th scope="col">B</th>
          <th scope="col">B to A</th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">Status</th>
          {[a, b].map(({ run }, side) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they are A and B
            <td key={side}>{run.value === undefined ? '–' : <Status status={run.value.status} />}</td>
          ))}
          <td />
        </tr>
        {rows.map(([name, words, number]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{words(before)}</td>
            <td>{words(after)}</td>
            <td>
              {number === undefined
                ? before.models === after.models
                  ? ''
                  : 'another'
                : changeOf(number(before), number(after))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Nobody reads more of them side by side. */
const most = 50

/** What each tool was asked and gave, in both. */
export function Tools({ a, b }: { a: OpenedRun; b: OpenedRun }): JSX.Element | null {
  heed(a, b)
  const pairs = toolPairs(a.events.all, b.events.all)
  if (pairs.length === 0) return null
  return (
    <Part title="Tools">
      <ul class="pairs">
        {pairs.slice(0, most).map(({ name, input, called, outputs: [before, after] }, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they have nothing but their place
          <li key={place}>
            <strong>{name}</strong> <code dir="auto">{input.replaceAll(/\s+/g, ' ').slice(0, 200)}</code>
            {onlyIn(called)}
            {called.includes(false) ? (
              <pre dir="auto">{(before ?? after ?? 'no result').slice(0, 2000)}</pre>
            ) : (
              <TextDiff before={before} after={after} />
            )}
          </li>
        ))}
      </ul>
      <More count={pairs.length - most} />
    </Part>
  )
}

function Passages({ a, b }: { a: OpenedRun; b: OpenedRun }): JSX.Element | null {
  heed(a, b)
  const pairs = passagePairs(a.events.all, b.events.all)
  if (pairs.length === 0) return null
  return (
    <Part title="Passages">
      <table>
        <thead>
          <tr>
            <th scope="col">Where</th>
            <th scope="col">Rank in A</th>
            <th scope="col">Rank in B</th>
          </tr>
        </thead>
        <tbody>
          {pairs.slice(0, most).map(([before, after]) => {
            const hit = before ?? after
            return hit === undefined ? null : (
              <tr key={hit.chunk_id}>
                <td dir="auto">{whereOf(hit)}</td>
                <td>{placeOf(before)}</td>
                <td>{placeOf(after)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
      <More count={pairs.length - most} />
    </Part>
  )
}

function placeOf(hit: PassagePair[number]): string {
  if (hit === undefined) return 'not found'
  return `${hit.rank ?? 'found'}${hit.told === false ? ', not told' : ''}`
}

function More({ count }: { count: number }): JSX.Element | null {
  return count > 0 ? <p class="about">and {formatCount(count)} more</p> : null
}
