import type { JSX } from 'preact'
import { Fragment } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { markCited } from '../../../core/text/citations.ts'
import { formatMs, formatScore } from '../../parts/format.ts'
import { inList, whereOf } from '../../parts/hits.tsx'
import { useAttempt } from '../../state/attempt.ts'
import type { RunEvents } from '../../state/run/events.ts'
import type { EventOf } from '../../state/run/records.ts'
import type { Studio } from '../../state/studio.ts'
import { PassageText } from './passage-text.tsx'
import { TrySearch } from './passages-try.tsx'

type Retrieval = EventOf<'retrieval'>
type Hit = Retrieval['results'][number]

interface PassagesProps {
  studio: Studio
  runId: string
  searches: readonly Retrieval[]
  events: RunEvents
}

/** What the searches found, and why: each passage's place in each list, what the model was told and what the answer cites. */
export function Passages({ studio, runId, searches, events }: PassagesProps): JSX.Element {
  const cited = useMemo(() => citedIn(events), [events, events.isOver])
  return (
    <>
      {searches.map((search) => (
        <Search key={search.seq} studio={studio} runId={runId} search={search} events={events} cited={cited} />
      ))}
    </>
  )
}

function citedIn({ records: { sources, parts } }: RunEvents): ReadonlySet<number> {
  return new Set(markCited(sources, parts).flatMap((source) => (source.cited ? [source.index] : [])))
}

interface SearchProps {
  studio: Studio
  runId: string
  search: Retrieval
  events: RunEvents
  cited: ReadonlySet<number>
}

function Search({ studio, runId, search, events, cited }: SearchProps): JSX.Element {
  const { query, results, fit, abstained, skipped = [] } = search
  const [isTrying, setTrying] = useState(false)
  const { problem, attempt } = useAttempt()
  const mayAgain = studio.me.value?.can.again === true
  const without = (chunkId: string) =>
    attempt(async () => {
      const from = search.seq
      const { runs } = await studio.client.runs.again(runId, { from, edit: { passages: { drop: [chunkId] } } })
      studio.go({ page: 'again', runId, from, tries: runs.map(({ run_id }) => run_id) })
    })
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const [found, setFound] = useState<ReadonlyMap<string, readonly string[]>>(new Map())
  const lists = [...new Set(results.flatMap(({ lists: places = {} }) => Object.keys(places)))]
  const hasWeights = results.some(({ weight }) => weight !== undefined)
  const columns = 5 + lists.length + (hasWeights ? 1 : 0)
  const turn = (chunkId: string) => {
    const next = new Set(opened)
    if (!next.delete(chunkId)) next.add(chunkId)
    setOpened(next)
  }
  return (
    <section class="searched" aria-label={`Search for ${query}`}>
      <p>
        “<span dir="auto">{query}</span>”
      </p>
      <p class="about">{aboutSearch(search).join(' · ')}</p>
      {fit === undefined ? null : <p class="about">{aboutFit(fit)}</p>}
      {skipped.map(({ list, reason }) => (
        <p key={list} class="failure">
          Without the list <code>{list}</code>: {reason}
        </p>
      ))}
      {abstained === undefined ? null : (
        <p class="failure">
          Nothing was told: {abstained.reason.replace(/\.$/, '')}. The fit is {formatScore(abstained.score)}, and needs
          to be at least {formatScore(abstained.threshold)}.
        </p>
      )}
      {results.length === 0 ? (
        <p>Nothing was found.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables are scrolled to by keys
        <div class="wide" tabIndex={0}>
          <table class="passages">
            <thead>
              <tr>
                <th scope="col">
                  <span class="hidden">Number</span>
                </th>
                <th scope="col">Rank</th>
                <th scope="col">Where</th>
                <th scope="col">Score</th>
                {lists.map((list) => (
                  <th scope="col" key={list}>
                    {list}
                  </th>
                ))}
                {hasWeights ? <th scope="col">Weight</th> : null}
                <th scope="col">Words found</th>
              </tr>
            </thead>
            <tbody>
              {results.map((hit, place) => {
                const number = hit.told === false ? undefined : events.records.numberOf(hit.chunk_id, search)
                const isOpen = opened.has(hit.chunk_id)
                return (
                  <Fragment key={hit.chunk_id}>
                    <tr class={hit.told === false ? 'untold' : undefined}>
                      <td>{number === undefined ? '–' : `[${number}]`}</td>
                      <td>{hit.rank ?? place + 1}</td>
                      <td class="where">
                        <button
                          type="button"
                          class="quiet"
                          aria-expanded={isOpen}
                          dir="auto"
                          onClick={() => turn(hit.chunk_id)}
                        >
                          {whereOf(hit)}
                        </button>
                        {number !== undefined && cited.has(number) ? <span class="mark">cited</span> : null}
                        {hit.told === false ? <span class="why"> {whyUntold(search)}</span> : null}
                      </td>
                      <td>{formatScore(hit.score)}</td>
                      {lists.map((list) => (
                        <td key={list}>{inList(hit, list)}</td>
                      ))}
                      {hasWeights ? <td>{hit.weight === undefined ? '–' : formatScore(hit.weight)}</td> : null}
                      <td class="found" dir="auto">
                        {wordsOf(hit, found.get(hit.chunk_id), search)}
                      </td>
                    </tr>
                    {isOpen ? (
                      <tr>
                        <td colSpan={columns}>
                          <PassageText
                            studio={studio}
                            runId={runId}
                            events={events}
                            search={search}
                            hit={hit}
                            onFound={(words) => setFound(new Map(found).set(hit.chunk_id, words))}
                          />
                          {mayAgain && hit.told !== false ? (
                            <button type="button" onClick={() => without(hit.chunk_id)}>
                              Ask again without this passage
                            </button>
                          ) : null}
                        </td>
                      </tr>
                    ) : null}
                  </Fragment>
                )
              })}
            </tbody>
          </table>
        </div>
      )}
      <p role="alert">{problem}</p>
      {studio.isFile || !studio.may('knowledge:read') ? null : (
        <button type="button" aria-expanded={isTrying} onClick={() => setTrying(!isTrying)}>
          Try another search…
        </button>
      )}
      {isTrying ? <TrySearch studio={studio} search={search} /> : null}
    </section>
  )
}

function aboutSearch({ mode, limit, duration_ms, filters, collection, words }: Retrieval): string[] {
  return [
    mode,
    limit === undefined ? undefined : `limit ${limit}`,
    duration_ms === undefined ? undefined : formatMs(duration_ms),
    `filters ${filters === undefined || Object.keys(filters).length === 0 ? 'none' : JSON.stringify(filters)}`,
    collection === undefined ? undefined : `collection ${collection}`,
    words === undefined || words.length === 0 ? undefined : `words ${words.join(' ')}`,
  ].filter((told) => told !== undefined)
}

/** An agent's own code may record any number of words. */
const maxFitWords = 20

/** How well the passages fit the question, and its words, rarest first. */
function aboutFit({
  score,
  coverage,
  similarity,
  agreement,
  lead,
  chunks,
  words,
}: NonNullable<Retrieval['fit']>): string {
  const parts = { fit: score, coverage, similarity, agreement, lead }
  const said = Object.entries(parts).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${value.toFixed(2)}`],
  )
  const rarest = words.toSorted((one, other) => one.chunks - other.chunks).slice(0, maxFitWords)
  return [...said, `of ${chunks} chunks: ${rarest.map((each) => `${each.word} ${each.chunks}`).join(', ')}`].join(' · ')
}

/** A search by words says that some were found; which, is known when the text is. */
function wordsOf({ lists }: Hit, found: readonly string[] | undefined, { words }: Retrieval): string {
  if (found !== undefined) return found.join(' ') || '–'
  return words === undefined || lists?.keyword === undefined ? '–' : 'some: see the text'
}

function whyUntold({ limit, results, abstained }: Retrieval): string {
  if (abstained !== undefined) return `not told: the fit is below ${formatScore(abstained.threshold)}`
  const told = results.filter((result) => result.told !== false).length
  return limit !== undefined && told >= limit ? `not told: limit ${limit}` : 'not told'
}
