import type { JSX, TargetedSubmitEvent } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { knowledgeLimits } from '../../core/knowledge/limits.ts'
import { silenceOf } from '../../core/knowledge/silence.ts'
import { counted } from '../../core/text/format.ts'
import { type Hit, Hits, Skipped, toHit, tooLow } from '../parts/hits.tsx'
import { SearchFields } from '../parts/search-fields.tsx'
import { readAddress } from '../state/address/address.ts'
import { searchOf } from '../state/address/search-of.ts'
import { useRead } from '../state/reading/use-read.ts'
import type { Studio } from '../state/studio.ts'
import type { KnowledgeAddress } from './page.tsx'

interface QueryProps {
  studio: Studio
  address: KnowledgeAddress
}

/** A search in the knowledge base, and why each result stands where it stands. */
export function Query({ studio, address }: QueryProps): JSX.Element {
  const { q, mode = 'hybrid', limit = 10, filters, collection } = address.query
  const form = useRef<HTMLFormElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address changes also by Back and by links
  useLayoutEffect(() => form.current?.reset(), [q, mode, limit, filters, collection])
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value).trim()])
    studio.go(readAddress('/knowledge', `${new URLSearchParams(fields)}`))
  }
  return (
    <section class="library-main" aria-label="Search the documents">
      {q === undefined ? null : (
        <a class="back" href={studio.urlOf({ page: 'knowledge', query: {} })}>
          Back to the documents
        </a>
      )}
      <form class="query" ref={form} onSubmit={submit} role="search">
        <label class="whole-line">
          <span class="hidden">Search the documents</span>
          <input
            name="q"
            class="whole-line"
            type="search"
            placeholder="Search the documents"
            maxLength={knowledgeLimits.query}
            defaultValue={q}
          />
        </label>
        <SearchFields mode={mode} limit={limit} filters={filters} />
        <label>
          Collection <input name="collection" placeholder="all" defaultValue={collection} />
        </label>
        <button type="submit" class="primary">
          Search
        </button>
      </form>
      <div class="found">
        <Found studio={studio} address={address} />
      </div>
    </section>
  )
}

function Found({ studio, address: { query, chunkId } }: QueryProps): JSX.Element {
  const { q, collection, filters, ...rest } = query
  const { value: answer, error } = useRead(q && JSON.stringify(query), async (signal) =>
    studio.client.knowledge.search(q ?? '', { ...searchOf(query), collection, explain: true }, { signal }),
  )
  if (q === undefined) return <p class="more">Search as agents do, and see why each passage has its rank.</p>
  if (error !== undefined) return <p role="alert">{error}</p>
  if (answer === undefined) return <p class="more appears">Searching…</p>
  const { results, mode, trace, skipped } = answer
  if (results.length === 0) {
    return (
      <>
        <p role="status">
          Nothing was found for “<span dir="auto">{q}</span>”
          {filters === undefined ? '.' : ' in the documents that the filters match.'}
        </p>
        {filters === undefined ? null : (
          <button type="button" onClick={() => studio.go({ page: 'knowledge', query: { ...rest, q, collection } })}>
            Clear the filters
          </button>
        )}
      </>
    )
  }
  const words = results[0]?.explain?.words ?? []
  const silence = trace?.fit && silenceOf(trace.fit)
  const open = ({ id }: Hit) => {
    const documentId = results.find(({ chunk_id }) => chunk_id === id)?.document_id
    studio.go({ page: 'knowledge', query, documentId, chunkId: id })
  }
  return (
    <>
      <p role="status">
        {counted(results.length, 'passage')} · {mode}
        {words.length === 0 ? '' : ` · words looked for: ${words.join(', ')}`}
      </p>
      {silence && <p class="failure">An agent without a model quotes nothing: {tooLow(silence)}.</p>}
      <Skipped lists={skipped} />
      <Hits label="Passages" hits={results.map(toHit)} onOpen={open} opened={chunkId} />
    </>
  )
}
