import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import type { Json } from '../../core/json.ts'
import { counted, formatCount } from '../../core/text/format.ts'
import type { Document } from '../../wire/knowledge.ts'
import { Confirm } from '../parts/confirm.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Fact } from '../parts/fact.tsx'
import { placeIn } from '../parts/hits.tsx'
import { JsonTree } from '../parts/json-tree.tsx'
import { moveFocus } from '../parts/layout/list-focus.ts'
import { Moment } from '../parts/moment.tsx'
import { useFocusOfHidden } from '../parts/take-focus.ts'
import { useAttempt } from '../state/reading/attempt.ts'
import type { Studio } from '../state/studio.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import type { OpenedDocument } from './opened-document.ts'
import type { KnowledgeAddress } from './page.tsx'
import { Passage } from './passage.tsx'

interface DocumentViewProps {
  studio: Studio
  base: KnowledgeBase
  opened: OpenedDocument
  address: KnowledgeAddress
}

/** A document: the passage that is open with what stands around it, its metadata, and all its passages. */
export function DocumentView({ studio, base, opened, address }: DocumentViewProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null)
  useFocusOfHidden(heading)
  const { problem, attempt } = useAttempt()
  const document = opened.document.value
  const error = opened.error.value || opened.chunks.error.value
  const { query } = address
  const title = document?.name ?? document?.source ?? 'Document'
  return (
    <section class="library-side" aria-label="Document">
      <header class="bar">
        <a class="back" href={studio.urlOf({ page: 'knowledge', query })}>
          {query.q === undefined ? 'Back to the documents' : 'Back to the passages'}
        </a>
        <h3 dir="auto" ref={heading} tabIndex={-1}>
          {title}
        </h3>
        {document && studio.can('knowledge') && (
          <Confirm
            verb="Delete"
            problem={problem}
            onConfirm={() =>
              attempt(async () => {
                await base.delete(opened.documentId)
                studio.go({ page: 'knowledge', query }, true)
              })
            }
          >
            Delete it and its passages? The file that it came from stays.
          </Confirm>
        )}
      </header>
      {error && <p role="alert">{error}</p>}
      {document ? (
        <>
          <Passage studio={studio} document={document} address={address} />
          <About document={document} />
          <Chunks studio={studio} opened={opened} document={document} address={address} />
        </>
      ) : error ? null : (
        <p class="more appears">Reading…</p>
      )}
    </section>
  )
}

function About({ document }: { document: Document }): JSX.Element {
  const { document_id, source, media_type, collection, chunker_type, chunk_size, chunk_overlap, updated_at } = document
  return (
    <details open>
      <summary>About the document</summary>
      <dl class="facts">
        <Fact name="Source">{source}</Fact>
        <Fact name="Type">{media_type}</Fact>
        <Fact name="Collection">{collection}</Fact>
        <Fact name="Chunks">
          {chunker_type}, {formatCount(chunk_size)} characters, {formatCount(chunk_overlap)} overlap
        </Fact>
        <Fact name="Id">
          {document_id} <CopyButton text={document_id} label="Copy the document's id" />
        </Fact>
        <Fact name="Changed">
          <Moment at={updated_at} />
        </Fact>
      </dl>
      <JsonTree name="metadata" value={document.metadata as Json} open />
      <JsonTree name="of the reader" value={document.reader_metadata as Json} />
    </details>
  )
}

type ChunksProps = Omit<DocumentViewProps, 'base'> & { document: Document }

function Chunks({ studio, opened: { chunks }, document, address }: ChunksProps): JSX.Element {
  return (
    <>
      <h4>{counted(document.chunk_count, 'passage')}</h4>
      <ol class="chunks" onKeyDown={(event) => moveFocus(event, 'a')}>
        {chunks.rows.value.map((chunk) => (
          <li key={chunk.chunk_id} value={chunk.chunk_index + 1}>
            <a
              class="row-link"
              href={studio.urlOf({ ...address, chunkId: chunk.chunk_id })}
              aria-current={chunk.chunk_id === address.chunkId ? 'true' : undefined}
              dir="auto"
            >
              {chunk.content.trim().slice(0, 100)}
              {placeIn(chunk)}
            </a>
          </li>
        ))}
      </ol>
      {chunks.next.value && (
        <button type="button" onClick={() => chunks.more()}>
          More passages
        </button>
      )}
    </>
  )
}
