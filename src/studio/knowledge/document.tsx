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
import { useAttempt } from '../state/attempt.ts'
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
  const state = opened.state.value
  const { query } = address
  const title = document?.name ?? document?.source ?? 'Document'
  return (
    <section class="library-side" aria-label="Document">
      <header class="bar">
        <a class="back" href={studio.urlOf({ page: 'knowledge', query })}>
          {query.q === undefined ? 'Back to the documents' : 'Back to the passages'}
        </a>
        <h3 dir="auto" ref={heading} tabIndex={-1}>
          {state === 'gone' ? 'Document' : title}
        </h3>
        {document === undefined || state === 'gone' || !studio.can('knowledge') ? null : (
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
      {state === 'gone' ? (
        <p role="alert">This document is not there any more.</p>
      ) : (
        <>
          {opened.error.value === '' ? null : <p role="alert">{opened.error.value}</p>}
          {state === 'loading' ? <p class="more appears">Reading…</p> : null}
          <Passage studio={studio} opened={opened} address={address} />
          {document === undefined ? null : <About document={document} />}
          <Chunks studio={studio} opened={opened} address={address} />
        </>
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

function Chunks({ studio, opened, address }: Omit<DocumentViewProps, 'base'>): JSX.Element {
  const { query, documentId, chunkId } = address
  const chunks = opened.chunks.value
  const count = opened.document.value?.chunk_count ?? chunks.length
  return (
    <>
      <h4>{counted(count, 'passage')}</h4>
      <ol class="chunks" onKeyDown={(event) => moveFocus(event, 'a')}>
        {chunks.map((chunk) => (
          <li key={chunk.chunk_id} value={chunk.chunk_index + 1}>
            <a
              class="row-link"
              href={studio.urlOf({ page: 'knowledge', query, documentId: documentId ?? '', chunkId: chunk.chunk_id })}
              aria-current={chunk.chunk_id === chunkId ? 'true' : undefined}
              dir="auto"
            >
              {chunk.content.trim().slice(0, 100)}
              {placeIn(chunk)}
            </a>
          </li>
        ))}
      </ol>
      {opened.hasMore.value ? (
        <button type="button" onClick={() => opened.more()}>
          More passages
        </button>
      ) : null}
    </>
  )
}
