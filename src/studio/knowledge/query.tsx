import type { JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { knowledgeLimits } from '../../core/knowledge/limits.ts'
import { silenceOf } from '../../core/knowledge/silence.ts'
import { counted, formatScore } from '../../core/text/format.ts'
import { type Hit, Hits, toHit } from '../parts/hits.tsx'
import { SearchFields } from '../parts/search-fields.tsx'
import type { Asked } from '../state/address.ts'
import type { Studio } from '../state/studio.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import type { KnowledgeAddress } from './page.tsx'

interface QueryProps {
  studio: Studio
  base: KnowledgeBase
  address: KnowledgeAddress
}

/** A search in the knowledge base, and why each result stands where it stands. */
export function Query({ studio, base, address }: QueryProps): JSX.Element {
  const { query } = address
  const form = useRef<HTMLFormElement>(null)
  const { q = '', mode = 'hybrid', limit = 10, filters = '', collection = '' } = query
  const shown = JSON.stringify({ q, mode, limit, filters, collection })
  useLayoutEffect(() => {
    for (const [name, value] of Object.entries(JSON.parse(shown))) {
      const field = form.current?.elements.namedItem(name)
      if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) field.value = String(value)
    }
  }, [shown])
  const ask = (asked: Asked) => studio.go({ page: 'knowledge', query: asked })
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget as HTMLFormElement)
    const textOf = (name: string) => String(fields.get(name) ?? '').trim() || undefined
    const wanted = textOf('mode')
    const most = Number(textOf('limit'))
    ask({
      q: textOf('q'),
      mode: wanted === 'hybrid' ? undefined : wanted,
      limit: most > 0 && most !== 10 ? most : undefined,
      filters: textOf('filters'),
      collection: textOf('collection'),
    })
  }
  return (
    <section class="library-main" aria-label="Search the documents">
      {query.q === undefined ? null : (
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
          />
        </label>
        <SearchFields mode="hybrid" limit={10} />
        <label>
          Collection <input name="collection" placeholder="all" />
        </label>
        <button type="submit" class="primary">
          Search
        </button>
      </form>
      <div class="found">
        <Found studio={studio} base={base} address={address} onAsk={ask} />
      </div>
    </section>
  )
}

function Found({ studio, base, address, onAsk }: QueryProps & { onAsk: (asked: Asked) => void }): JSX.Element {
  const found = base.found.value
  const { query, chunkId } = address
  if (found.state === 'nothing asked')
    return <p class="more">Search as agents do, and see why each passage has its rank.</p>
  if (found.state === 'searching') return <p class="more appears">Searching…</p>
  if (found.state === 'failed') return <p role="alert">{found.error}</p>
  const { results, mode, trace, skipped = [] } = found.answer
  if (results.length === 0) {
    const { filters, ...rest } = query
    return (
      <>
        <p role="status">
          Nothing was found for “<span dir="auto">{query.q}</span>”
          {filters === undefined ? '.' : ' in the documents that the filters match.'}
        </p>
        {filters === undefined ? null : (
          <button type="button" onClick={() => onAsk(rest)}>
            Clear the filters
          </button>
        )}
      </>
    )
  }
  const words = results[0]?.explain?.words ?? []
  const hits = results.map(toHit)
  const silence = trace?.fit && silenceOf(trace.fit)
  const open = ({ id }: Hit) => {
    const hit = results.find(({ chunk_id }) => chunk_id === id)
    if (hit !== undefined) studio.go({ page: 'knowledge', query, documentId: hit.document_id, chunkId: id })
  }
  return (
    <>
      <p role="status">
        {counted(results.length, 'passage')} · {mode}
        {words.length === 0 ? '' : ` · words looked for: ${words.join(', ')}`}
      </p>
      {silence === undefined ? null : (
        <p class="failure">
          An agent without a model quotes nothing: the fit is {formatScore(silence.score)}, and needs to be at least{' '}
          {formatScore(silence.threshold)}.
        </p>
      )}
      {skipped.map(({ list, reason }) => (
        <p key={list} class="failure">
          Without the list <code>{list}</code>: {reason}
        </p>
      ))}
      <Hits label="Passages" hits={hits} onOpen={open} opened={chunkId} />
    </>
  )
}
