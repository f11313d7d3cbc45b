import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Json } from '../../core/json.ts'
import { knowledgeLimits } from '../../core/knowledge/limits.ts'
import type { Chunk, Document } from '../../wire/knowledge.ts'
import { CopyButton } from '../parts/copy.tsx'
import { placeIn, whereOf } from '../parts/hits.tsx'
import { JsonTree } from '../parts/json-tree.tsx'
import { useRead } from '../state/reading/use-read.ts'
import type { Studio } from '../state/studio.ts'
import type { KnowledgeAddress } from './page.tsx'

const { context } = knowledgeLimits

interface PassageProps {
  studio: Studio
  document: Document
  address: KnowledgeAddress
}

/** The open passage as text, between those that stand before and after it. */
export function Passage({ studio, document, address }: PassageProps): JSX.Element | null {
  const { chunkId } = address
  const [around, setAround] = useState(1)
  // Read anew when the document was replaced.
  const { value: chunk, error } = useRead(chunkId && `${chunkId} ${document.updated_at}`, (signal) =>
    studio.client.knowledge.chunk(chunkId ?? '', { context, signal }),
  )
  if (chunkId === undefined) return null
  if (error !== undefined) return <p role="alert">{error}</p>
  if (chunk === undefined) return <p class="more appears">Reading…</p>
  const heading = headingOf(chunk)
  const neighbour = (other: Chunk) =>
    Math.abs(other.chunk_index - chunk.chunk_index) > around ? null : (
      <div class="neighbour" key={other.chunk_id}>
        <a href={studio.urlOf({ ...address, chunkId: other.chunk_id })}>
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
          <input
            class="short-field"
            type="number"
            min="0"
            max={context}
            value={around}
            onInput={({ currentTarget }) => setAround(Number(currentTarget.value))}
          />
        </label>
      </div>
      {heading && (
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
