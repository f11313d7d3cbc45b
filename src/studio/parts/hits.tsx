import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { formatLines, formatScore } from './format.ts'
import { placeAfter } from './layout/list-keys.ts'

/** A passage that a search found, and why it stands where it stands. */
export interface Hit {
  id: string
  rank: number
  score: number
  /** Its place in each list that the search put together. */
  lists: Readonly<Record<string, { rank: number; score: number }>>
  where: string
  /** The words of the query that it has. Absent: not known. */
  words?: readonly string[] | undefined
  /** A line of it. */
  text?: string | undefined
  /** Said after the place. */
  note?: string | undefined
  /** It was found, but not used. */
  isDimmed?: boolean | undefined
}

interface HitsProps {
  label: string
  hits: readonly Hit[]
  /** The names of the lists, each a column. */
  lists: readonly string[]
  /** Absent: a hit can't be opened. */
  onOpen?: ((hit: Hit) => void) | undefined
  /** The id of the hit that is open. */
  opened?: string | undefined
}

/** Why these passages: a row for each hit, with its rank and score in each list. `j`, `k` and arrows go from hit to hit. */
export function Hits({ label, hits, lists, onOpen, opened }: HitsProps): JSX.Element {
  const body = useRef<HTMLTableSectionElement>(null)
  const [place, setPlace] = useState(0)
  const active = Math.min(place, hits.length - 1)
  const knowsWords = hits.some(({ words }) => words !== undefined)
  const onKeyDown = (event: KeyboardEvent) => {
    const isStep = event.key === '[' || event.key === ']'
    const next = isStep || event.ctrlKey || event.metaKey ? undefined : placeAfter(event.key, active, hits.length)
    if (next === undefined) return
    event.preventDefault()
    setPlace(next)
    body.current?.querySelectorAll('button')[next]?.focus()
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables are scrolled to by keys
    <div class="wide hits" role="group" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Rank</th>
            <th scope="col">Where</th>
            <th scope="col">Score</th>
            {lists.map((list) => (
              <th scope="col" key={list}>
                {list}
              </th>
            ))}
            {knowsWords ? <th scope="col">Words found</th> : null}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={onOpen === undefined ? undefined : onKeyDown}>
          {hits.map((hit, at) => (
            <tr
              key={hit.id}
              class={hit.isDimmed === true ? 'untold' : undefined}
              aria-current={hit.id === opened ? 'true' : undefined}
            >
              <td>{hit.rank}</td>
              <td class="where" dir="auto">
                {onOpen === undefined ? (
                  hit.where
                ) : (
                  <button
                    type="button"
                    class="link"
                    tabIndex={at === active ? 0 : -1}
                    onFocus={() => setPlace(at)}
                    onClick={() => onOpen(hit)}
                  >
                    {hit.where}
                  </button>
                )}
                {hit.note === undefined ? '' : ` (${hit.note})`}
                {hit.text === undefined ? null : <p class="more">{hit.text}</p>}
              </td>
              <td>{formatScore(hit.score)}</td>
              {lists.map((list) => (
                <td key={list}>{inList(hit, list)}</td>
              ))}
              {knowsWords ? (
                <td class="words" dir="auto">
                  {hit.words?.join(' ') || '–'}
                </td>
              ) : null}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Its rank in a list, and its score there. */
export function inList({ lists }: Pick<Partial<Hit>, 'lists'>, list: string): string {
  const found = lists?.[list]
  return found === undefined ? '–' : `${found.rank} (${formatScore(found.score)})`
}

interface Place {
  source: string
  line_start?: number
  line_end?: number
  page?: number
}

/** `docs/hours.md:12–30`, or with a page. */
export function whereOf({ source, line_start, line_end, page }: Place): string {
  if (page !== undefined) return `${source}, page ${page}`
  return line_start === undefined ? source : `${source}:${formatLines(line_start, line_end)}`
}
