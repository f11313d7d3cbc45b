import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { EventOf } from '../../../core/steps/step.ts'
import type { SearchAnswer } from '../../../wire/search.ts'
import { Hits, toHit, whereOf } from '../../parts/hits.tsx'
import { SearchFields } from '../../parts/search-fields.tsx'
import { searchOf } from '../../state/address/search-of.ts'
import { useAttempt } from '../../state/reading/attempt.ts'
import type { Studio } from '../../state/studio.ts'

/** The recorded query asked now, in another way, with the ranks that the passages had then. Nothing of the run changes. */
export function TrySearch({ studio, search }: { studio: Studio; search: EventOf<'retrieval'> }): JSX.Element {
  const { query, mode = 'hybrid', limit = 10, filters, collection, results } = search
  const [found, setFound] = useState<SearchAnswer>()
  const { problem, attempt } = useAttempt()
  const then = new Map(results.map(({ chunk_id, rank }, place) => [chunk_id, rank ?? place + 1]))
  const hits = found?.results.map((result, place) => {
    const before = then.get(result.chunk_id)
    return { ...toHit(result, place), note: before === undefined ? 'not found then' : `rank ${before} then` }
  })
  const gone = results.filter(({ chunk_id }) => hits?.every(({ id }) => id !== chunk_id))
  return (
    <>
      <form
        class="query"
        aria-label="Search again"
        onSubmit={(event) => {
          event.preventDefault()
          const form = Object.fromEntries(new FormData(event.currentTarget))
          attempt(async () =>
            setFound(await studio.client.knowledge.search(query, { ...searchOf(form), explain: true, collection })),
          )
        }}
      >
        <SearchFields mode={mode} limit={limit} filters={filters && JSON.stringify(filters)} />
        <button type="submit">Search now</button>
      </form>
      <p role="alert" class="wrong">
        {problem}
      </p>
      <p role="status" dir="auto">
        {found === undefined ? '' : `${found.results.length} found now · ${found.mode}`}
        {gone.length === 0 ? '' : ` · not found now: ${gone.map(whereOf).join(', ')}`}
      </p>
      {hits?.length ? <Hits label="Found now" hits={hits} /> : null}
    </>
  )
}
