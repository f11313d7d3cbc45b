import type { ComponentChildren, JSX } from 'preact'
import { formatCost, formatCount, formatMs } from '../../core/text/format.ts'
import { whereOf } from '../parts/hits.tsx'
import { Status } from '../parts/status.tsx'
import type { OpenedRun } from '../state/opened-run.ts'
import type { Studio } from '../state/studio.ts'
import { heed } from './asides.ts'
import { changeOf, factsOf, type Hit, hitsOf, textOf, toolPairs } from './compare.ts'
import { Pair, Part, TextDiff } from './part.tsx'
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
        <TextDiff before={textOf(a)} after={textOf(b)} />
      </Part>
      <PromptDiff studio={studio} a={a} b={b} />
      <Tools a={a} b={b} />
      <Passages a={a} b={b} />
    </>
  )
}

type Row = readonly [name: string, shown: ComponentChildren, compared: number | string | undefined]

function rowsOf(opened: OpenedRun): Row[] {
  const { ms, input, output, cost, models } = factsOf(opened)
  const status = opened.run.value?.status
  return [
    ['Status', status && <Status status={status} />, status],
    ['Model', models, models || undefined],
    ['Time', formatMs(ms), ms],
    ['Tokens in', formatCount(input), input],
    ['Tokens out', formatCount(output), output],
    ['Cost', formatCost(cost), cost?.usd],
  ]
}

/** Status, model, time, tokens and cost, with what changed. */
export function Facts({ a, b }: { a: OpenedRun; b: OpenedRun }): JSX.Element {
  heed(a, b)
  const after = rowsOf(b)
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
        {rowsOf(a).map(([name, shown, compared], place) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{shown || '–'}</td>
            <td>{after[place]?.[1] || '–'}</td>
            <td>{changeOf(compared, after[place]?.[2])}</td>
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
  const pairs = toolPairs(a.events, b.events)
  if (pairs.length === 0) return null
  return (
    <Part title="Tools">
      <ul class="pairs">
        {pairs.slice(0, most).map(({ name, input, before, after }, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they have nothing but their place
          <Pair key={place} name={name} before={before} after={after}>
            <code dir="auto">{input.replaceAll(/\s+/g, ' ').slice(0, 200)}</code>
          </Pair>
        ))}
      </ul>
      <More count={pairs.length - most} />
    </Part>
  )
}

function Passages({ a, b }: { a: OpenedRun; b: OpenedRun }): JSX.Element | null {
  heed(a, b)
  const [before, after] = [hitsOf(a.events.all), hitsOf(b.events.all)]
  const all = [...new Map([...before, ...after])]
  if (all.length === 0) return null
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
          {all.slice(0, most).map(([id, hit]) => (
            <tr key={id}>
              <td dir="auto">{whereOf(hit)}</td>
              <td>{placeOf(before.get(id))}</td>
              <td>{placeOf(after.get(id))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <More count={all.length - most} />
    </Part>
  )
}

function placeOf(hit: Hit | undefined): string {
  if (hit === undefined) return 'not found'
  return `${hit.rank ?? 'found'}${hit.told === false ? ', not told' : ''}`
}

function More({ count }: { count: number }): JSX.Element | null {
  return count > 0 ? <p class="about">and {formatCount(count)} more</p> : null
}
