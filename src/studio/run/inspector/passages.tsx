import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { EventOf } from '../../../core/steps/step.ts'
import { markCited } from '../../../core/text/citations.ts'
import { formatMs, formatScore } from '../../../core/text/format.ts'
import { type Hit, Hits, Skipped, tooLow, whereOf } from '../../parts/hits.tsx'
import { useAttempt } from '../../state/reading/attempt.ts'
import type { RunEvents } from '../../state/run/events.ts'
import type { Studio } from '../../state/studio.ts'
import { PassageText } from './passage-text.tsx'
import { TrySearch } from './passages-try.tsx'

type Retrieval = EventOf<'retrieval'>

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

function citedIn({ sources, parts }: RunEvents): ReadonlySet<number> {
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
  const { query, results, fit, abstained, skipped } = search
  const [isTrying, setTrying] = useState(false)
  const { problem, attempt } = useAttempt()
  const without = (chunkId: string) =>
    attempt(async () => {
      const from = search.seq
      const { runs } = await studio.client.runs.again(runId, { from, edit: { passages: { drop: [chunkId] } } })
      studio.go({ page: 'again', runId, from, tries: runs.map(({ run_id }) => run_id) })
    })
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const [found, setFound] = useState<ReadonlyMap<string, string>>(new Map())
  const turn = ({ id }: Hit) => {
    const next = new Set(opened)
    if (!next.delete(id)) next.add(id)
    setOpened(next)
  }
  const toHit = (hit: Retrieval['results'][number], place: number): Hit => {
    const { chunk_id: id, score, rank = place + 1, lists, weight } = hit
    const isDimmed = hit.told === false
    const number = isDimmed ? undefined : events.numberOf(id, search)
    const isCited = number !== undefined && cited.has(number)
    return {
      ...{ id, rank, score, lists, weight, isDimmed },
      number: number === undefined ? '–' : `[${number}]`,
      where: whereOf(hit),
      note: isCited ? 'cited' : isDimmed ? whyUntold(search) : undefined,
      words: found.get(id) ?? (search.words && lists?.keyword ? 'some' : ''),
      isOpen: opened.has(id),
      below: (
        <>
          <PassageText
            studio={studio}
            runId={runId}
            events={events}
            search={search}
            hit={hit}
            onFound={(words) => setFound((known) => new Map(known).set(id, words.join(' ')))}
          />
          {studio.can('again') && !isDimmed && (
            <button type="button" onClick={() => without(id)}>
              Ask again without this passage
            </button>
          )}
        </>
      ),
    }
  }
  return (
    <section class="searched" aria-label={`Search for ${query}`}>
      <p>
        “<span dir="auto">{query}</span>”
      </p>
      <p class="about">{aboutSearch(search)}</p>
      {fit && <p class="about">{aboutFit(fit)}</p>}
      <Skipped lists={skipped} />
      {abstained && (
        <p class="failure">
          Nothing was told, as {tooLow(abstained)}: {abstained.reason}
        </p>
      )}
      {results.length === 0 ? (
        <p>Nothing was found.</p>
      ) : (
        <Hits label="Passages" hits={results.map(toHit)} onOpen={turn} />
      )}
      <p role="alert">{problem}</p>
      {studio.isFile || !studio.may('knowledge:read') ? null : (
        <button type="button" aria-expanded={isTrying} onClick={() => setTrying(!isTrying)}>
          Try another search…
        </button>
      )}
      {isTrying && <TrySearch studio={studio} search={search} />}
    </section>
  )
}

function aboutSearch({ mode, limit, duration_ms, filters, collection, words }: Retrieval): string {
  return [
    mode,
    limit !== undefined && `limit ${limit}`,
    duration_ms !== undefined && formatMs(duration_ms),
    `filters ${filters === undefined || Object.keys(filters).length === 0 ? 'none' : JSON.stringify(filters)}`,
    collection && `collection ${collection}`,
    words?.length && `words ${words.join(' ')}`,
  ]
    .filter(Boolean)
    .join(' · ')
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

function whyUntold({ limit, results, abstained }: Retrieval): string {
  if (abstained !== undefined) return `not told: the fit is below ${formatScore(abstained.threshold)}`
  const told = results.filter((result) => result.told !== false).length
  return limit !== undefined && told >= limit ? `not told: limit ${limit}` : 'not told'
}
