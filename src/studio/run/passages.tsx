import type { JSX } from 'preact'
import type { RunEvent } from '../../wire/event.ts'

type Retrieval = Extract<RunEvent, { type: 'retrieval' }>
type Hit = Retrieval['results'][number]

/** What a search found, and why: the rank in each list, and what the model was not told. */
export function Passages({ retrieval }: { retrieval: Retrieval }): JSX.Element {
  const { query, results, mode, limit, words, abstained } = retrieval
  const lists = [...new Set(results.flatMap(({ lists = {} }) => Object.keys(lists)))]
  return (
    <>
      <p>
        “<span dir="auto">{query}</span>”{mode === undefined ? '' : ` · ${mode}`}
        {limit === undefined ? '' : ` · limit ${limit}`}
        {words === undefined ? '' : ` · words: ${words.join(', ')}`}
      </p>
      {abstained === undefined ? null : (
        <p class="failure">
          Nothing was told: {abstained.reason} ({abstained.score.toFixed(2)}, needs {abstained.threshold.toFixed(2)}).
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables are scrolled to by keys */}
      <div class="wide" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Rank</th>
              <th scope="col">Score</th>
              {lists.map((list) => (
                <th scope="col" key={list}>
                  {list}
                </th>
              ))}
              <th scope="col">Where</th>
            </tr>
          </thead>
          <tbody>
            {results.map((hit, place) => (
              <tr key={hit.chunk_id} class={hit.told === false ? 'untold' : undefined}>
                <td>{hit.rank ?? place + 1}</td>
                <td>{hit.score.toFixed(2)}</td>
                {lists.map((list) => (
                  <td key={list}>{inList(hit, list)}</td>
                ))}
                <td>
                  {whereOf(hit)}
                  {hit.told === false ? ' (not told)' : ''}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

function inList({ lists }: Hit, list: string): string {
  const found = lists?.[list]
  return found === undefined ? '–' : `${found.rank} (${found.score.toFixed(2)})`
}

function whereOf({ source, line_start, line_end, page }: Hit): string {
  if (page !== undefined) return `${source}, page ${page}`
  return line_start === undefined ? source : `${source}:${line_start}–${line_end ?? line_start}`
}
