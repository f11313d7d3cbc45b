import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { searchModes } from '../../core/knowledge/knowledge.ts'
import { knowledgeLimits } from '../../core/knowledge/limits.ts'
import { silenceOf } from '../../core/knowledge/silence.ts'
import { formatScore } from '../parts/format.ts'
import { type Hit, Hits, toHit } from '../parts/hits.tsx'
import { type Asked, readFilters } from '../state/address.ts'
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
  const [filterError, setFilterError] = useState('')
  const form = useRef<HTMLFormElement>(null)
  const { q = '', mode: asMode = 'hybrid', limit: atMost = 10, filters: onlyOf = '' } = query
  useLayoutEffect(() => {
    for (const [name, value] of Object.entries({ q, mode: asMode, limit: `${atMost}`, filters: onlyOf })) {
      const field = form.current?.elements.namedItem(name)
      if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) field.value = value
    }
  }, [q, asMode, atMost, onlyOf])
  const ask = (asked: Asked) => studio.go({ page: 'knowledge', query: asked })
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget as HTMLFormElement)
    const textOf = (name: string) => String(fields.get(name) ?? '').trim() || undefined
    const filters = textOf('filters')
    const problem = readFilters(filters)
    setFilterError(typeof problem === 'string' ? problem : '')
    if (typeof problem === 'string') return
    const q = textOf('q')
    const mode = textOf('mode')
    const limit = Number(textOf('limit'))
    const { collection } = query
    ask({
      q,
      mode: mode === 'hybrid' ? undefined : mode,
      limit: limit > 0 && limit !== 10 ? limit : undefined,
      filters,
      collection,
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
        <label>
          Mode{' '}
          <select name="mode">
            {searchModes.map((mode) => (
              <option key={mode} value={mode}>
                {mode}
              </option>
            ))}
          </select>
        </label>
        <label>
          Limit <input name="limit" class="short-field" type="number" min="1" max={knowledgeLimits.search} />
        </label>
        <label>
          Filters{' '}
          <input
            name="filters"
            placeholder='{"topic": "office"}'
            aria-invalid={filterError !== ''}
            aria-describedby={filterError === '' ? undefined : 'filters-error'}
          />
        </label>
        <button type="submit" class="primary">
          Search
        </button>
        <p role="alert" id="filters-error" class="failure">
          {filterError}
        </p>
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
        {results.length} {results.length === 1 ? 'passage' : 'passages'} · {mode}
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
