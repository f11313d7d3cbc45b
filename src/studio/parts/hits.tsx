import { type ComponentChildren, Fragment, type JSX } from 'preact'
import { useState } from 'preact/hooks'
import { formatScore } from '../../core/text/format.ts'
import type { SearchAnswer } from '../../wire/search.ts'
import { formatLines } from './format.ts'
import { moveFocus } from './layout/list-focus.ts'

/** A passage that a search found, and why it stands where it stands. */
export interface Hit {
  id: string
  rank: number
  score: number
  /** Its place in each list that the search put together. */
  lists?: Readonly<Record<string, { rank: number; score: number }>> | undefined
  where: string
  /** The words of the query that it has. Absent: not known. */
  words?: string | undefined
  /** A line of it. */
  text?: string | undefined
  /** Said after the place. */
  note?: string | undefined
  /** It was found, but not used. */
  isDimmed?: boolean
  /** By which an answer cites it. */
  number?: string
  weight?: number | undefined
  isOpen?: boolean
  /** Under it. */
  below?: ComponentChildren
}

interface HitsProps {
  label: string
  hits: readonly Hit[]
  /** Absent: a hit can't be opened. */
  onOpen?: (hit: Hit) => void
  /** The id of the hit that is looked at elsewhere. */
  opened?: string | undefined
}

type Column = readonly [name: string, cellOf: (hit: Hit) => string | undefined]

/** Why these passages: a row for each hit, with its rank and score in each list. `j`, `k` and arrows go from hit to hit. */
export function Hits({ label, hits, onOpen, opened }: HitsProps): JSX.Element {
  const [place, setPlace] = useState(0)
  const active = Math.min(place, hits.length - 1)
  const hasNumbers = hits.some(({ number }) => number !== undefined)
  const lists = new Set(hits.flatMap((hit) => Object.keys(hit.lists ?? {})))
  const columns: readonly Column[] = [
    ['Score', ({ score }) => formatScore(score)],
    ...[...lists].map((list): Column => [list, (hit) => inList(hit, list)]),
    ['Weight', ({ weight }) => (weight === undefined ? undefined : formatScore(weight))],
    ['Words found', ({ words }) => words],
  ]
  const shown = columns.filter(([, cellOf]) => hits.some((hit) => cellOf(hit) !== undefined))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables are scrolled to by keys
    <div class="wide hits" role="group" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {hasNumbers ? (
              <th scope="col">
                <span class="hidden">Number</span>
              </th>
            ) : null}
            <th scope="col">Rank</th>
            <th scope="col">Where</th>
            {shown.map(([name]) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={(event) => moveFocus(event, '.link')}>
          {hits.map((hit, at) => (
            <Fragment key={hit.id}>
              <tr class={hit.isDimmed ? 'untold' : undefined} aria-current={hit.id === opened ? 'true' : undefined}>
                {hasNumbers ? <td>{hit.number}</td> : null}
                <td>{hit.rank}</td>
                <td class="where" dir="auto">
                  {onOpen === undefined ? (
                    hit.where
                  ) : (
                    <button
                      type="button"
                      class="link"
                      aria-expanded={hit.isOpen}
                      tabIndex={at === active ? 0 : -1}
                      onFocus={() => setPlace(at)}
                      onClick={() => onOpen(hit)}
                    >
                      {hit.where}
                    </button>
                  )}{' '}
                  {hit.note && `(${hit.note})`}
                  {hit.text && <p class="more">{hit.text}</p>}
                </td>
                {shown.map(([name, cellOf]) => (
                  <td key={name} dir="auto">
                    {cellOf(hit) || '–'}
                  </td>
                ))}
              </tr>
              {hit.isOpen ? (
                <tr>
                  <td colSpan={3 + shown.length}>{hit.below}</td>
                </tr>
              ) : null}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The lists that a search had to do without, and why. */
export function Skipped({ lists = [] }: { lists: SearchAnswer['skipped'] }): JSX.Element {
  return (
    <>
      {lists.map(({ list, reason }) => (
        <p key={list} class="failure">
          Without the list <code>{list}</code>: {reason}
        </p>
      ))}
    </>
  )
}

/** Why passages are not enough for an answer. */
export function tooLow({ score, threshold }: { score: number; threshold: number }): string {
  return `the fit is ${formatScore(score)}, and needs to be at least ${formatScore(threshold)}`
}

/** Its rank in a list, and its score there. */
function inList({ lists }: Hit, list: string): string | undefined {
  const found = lists?.[list]
  return found && `${found.rank} (${formatScore(found.score)})`
}

/** A result of a search, with its place among them. */
export function toHit(result: SearchAnswer['results'][number], place: number): Hit {
  const { chunk_id: id, score, explain } = result
  return {
    id,
    rank: explain?.rank ?? place + 1,
    score,
    lists: explain?.lists,
    where: whereOf(result),
    words: explain?.matches.join(' '),
    text: explain?.text,
  }
}

interface Place {
  line_start?: number | undefined
  line_end?: number | undefined
  page?: number | undefined
}

/** `docs/hours.md:12–30`, or with a page. */
export function whereOf({ source, ...place }: Place & { source: string }): string {
  const { line_start, line_end, page } = place
  if (page !== undefined || line_start === undefined) return `${source}${placeIn(place)}`
  return `${source}:${formatLines(line_start, line_end)}`
}

/** In its document: `, lines 12–30`, `, page 3`, or `''`. */
export function placeIn({ line_start, line_end, page }: Place): string {
  if (page !== undefined) return `, page ${page}`
  return line_start === undefined ? '' : `, lines ${formatLines(line_start, line_end)}`
}
