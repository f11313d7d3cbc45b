import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Json } from '../../core/json.ts'
import type { Document } from '../../wire/knowledge.ts'
import { CopyButton } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { formatAge, formatCount, formatLines } from '../parts/format.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import { moveFocus } from '../parts/layout/list-focus.ts'
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
        {document === undefined || state === 'gone' || studio.me.value?.can.knowledge !== true ? null : (
          <Delete
            title={title}
            onDelete={async () => {
              await base.delete(opened.documentId)
              studio.go({ page: 'knowledge', query }, true)
            }}
          />
        )}
      </header>
      {state === 'gone' ? (
        <p role="alert">This document is not there any more. It was deleted, or the address is wrong.</p>
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

function Delete({ title, onDelete }: { title: string; onDelete: () => Promise<void> }): JSX.Element {
  const [isAsking, setAsking] = useState(false)
  const { problem, attempt } = useAttempt()
  return (
    <>
      <button type="button" onClick={() => setAsking(true)}>
        Delete…
      </button>
      {isAsking ? (
        <Dialog title="Delete the document?" onClose={() => setAsking(false)}>
          <p>
            <span dir="auto">{title}</span> and its passages are deleted for good. The file that it came from stays.
          </p>
          <p role="alert" class="failure">
            {problem}
          </p>
          <div class="bar">
            <button type="button" class="primary" onClick={() => attempt(onDelete)}>
              Delete
            </button>
            <button type="button" onClick={() => setAsking(false)}>
              Cancel
            </button>
          </div>
        </Dialog>
      ) : null}
    </>
  )
}

function About({ document }: { document: Document }): JSX.Element {
  const { document_id, source, media_type, collection, chunker_type, chunk_size, chunk_overlap, updated_at } = document
  const facts: [string, string][] = [
    ['Source', source],
    ['Type', media_type ?? 'not told'],
    ['Collection', collection],
    ['Chunks', `${chunker_type}, ${formatCount(chunk_size)} characters, ${formatCount(chunk_overlap)} overlap`],
    ['Id', document_id],
  ]
  return (
    <details open>
      <summary>About the document</summary>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd dir="auto">
              {value}
              {name === 'Id' ? <CopyButton text={value} label="Copy the document's id" /> : null}
            </dd>
          </div>
        ))}
        <div>
          <dt>Changed</dt>
          <dd>
            <time dateTime={updated_at} title={new Date(updated_at).toLocaleString()}>
              {formatAge(Date.parse(updated_at), Date.now())}
            </time>
          </dd>
        </div>
      </dl>
      <JsonTree name="metadata" value={document.metadata as Json} open />
      <JsonTree name="of the reader" value={document.reader_metadata as Json} />
    </details>
  )
}

function Chunks({ studio, opened, address }: Omit<DocumentViewProps, 'base'>): JSX.Element {
  const list = useRef<HTMLOListElement>(null)
  const { query, documentId, chunkId } = address
  const chunks = opened.chunks.value
  const count = opened.document.value?.chunk_count ?? chunks.length
  return (
    <>
      <h4>
        {formatCount(count)} {count === 1 ? 'passage' : 'passages'}
      </h4>
      <ol
        class="chunks"
        ref={list}
        onKeyDown={(event) => {
          moveFocus(event, [...(list.current?.querySelectorAll('a') ?? [])])
        }}
      >
        {chunks.map(({ chunk_id: id, chunk_index: index, content, line_start, line_end, page }) => (
          <li key={id} value={index + 1}>
            <a
              class="row-link"
              href={studio.urlOf({ page: 'knowledge', query, documentId: documentId ?? '', chunkId: id })}
              aria-current={id === chunkId ? 'true' : undefined}
              dir="auto"
            >
              {page !== undefined
                ? `page ${page} `
                : line_start === undefined
                  ? ''
                  : `${formatLines(line_start, line_end)} `}
              {content.trim().slice(0, 100)}
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
