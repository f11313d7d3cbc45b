import type { JSX } from 'preact'
import type { Json } from '../../core/json.ts'
import { knowledgeLimits } from '../../core/knowledge/limits.ts'
import type { Chunk } from '../../wire/knowledge.ts'
import { CopyButton } from '../parts/copy.tsx'
import { placeIn, whereOf } from '../parts/hits.tsx'
import { JsonTree } from '../parts/json-tree.tsx'
import type { Studio } from '../state/studio.ts'
import type { OpenedDocument } from './opened-document.ts'
import type { KnowledgeAddress } from './page.tsx'

const contexts = Array.from({ length: knowledgeLimits.context + 1 }, (_, count) => count)

interface PassageProps {
  studio: Studio
  opened: OpenedDocument
  address: KnowledgeAddress
}

/** The open passage as text, between those that stand before and after it. */
export function Passage({ studio, opened, address }: PassageProps): JSX.Element | null {
  const chunk = opened.chunk.value
  const error = opened.chunkError.value
  if (address.chunkId === undefined) return null
  if (error !== '') return <p role="alert">{error}</p>
  if (chunk === undefined) return <p class="more appears">Reading…</p>
  const heading = headingOf(chunk)
  const neighbour = (other: Chunk) => (
    <div class="neighbour" key={other.chunk_id}>
      <a
        href={studio.urlOf({
          page: 'knowledge',
          query: address.query,
          documentId: other.document_id,
          chunkId: other.chunk_id,
        })}
      >
        Passage {other.chunk_index + 1}
        {placeIn(other)}
      </a>
      <pre class="boxed" dir="auto">
        {other.content}
      </pre>
    </div>
  )
  return (
    <article class="passage" aria-label={`Passage ${chunk.chunk_index + 1}`}>
      <div class="bar">
        <strong dir="auto">{whereOf(chunk)}</strong>
        <CopyButton text={chunk.content} label="Copy the passage" />
        <label>
          Around it{' '}
          <select
            value={opened.context.value}
            onChange={({ currentTarget }) => opened.show(Number(currentTarget.value))}
          >
            {contexts.map((count) => (
              <option key={count} value={count}>
                {count}
              </option>
            ))}
          </select>
        </label>
      </div>
      {heading === undefined ? null : (
        <p class="more" dir="auto">
          {heading}
        </p>
      )}
      {chunk.before.map(neighbour)}
      <pre class="boxed is-chosen" dir="auto">
        {chunk.content}
      </pre>
      {chunk.after.map(neighbour)}
      <JsonTree name="metadata" value={chunk.metadata as Json} />
    </article>
  )
}

/** What it stands under. */
function headingOf({ metadata }: Chunk): string | undefined {
  const path = metadata.heading_path
  return Array.isArray(path) && path.length > 0 ? path.map(String).join(' › ') : undefined
}
