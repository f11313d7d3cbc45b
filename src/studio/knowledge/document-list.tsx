import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { counted } from '../../core/text/format.ts'
import type { Document } from '../../wire/knowledge.ts'
import { placeAfter } from '../parts/layout/list-keys.ts'
import { VirtualList } from '../parts/layout/virtual-list.tsx'
import type { Studio } from '../state/studio.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import type { KnowledgeAddress } from './page.tsx'
import type { Pages } from './pages.ts'

const rowHeight = 52

interface DocumentListProps {
  studio: Studio
  base: KnowledgeBase
  address: KnowledgeAddress
}

export function DocumentList({ studio, base, address }: DocumentListProps): JSX.Element {
  const { documents } = base
  const rows = documents.rows.value
  const { documentId, query } = address
  const [place, setPlace] = useState(0)
  const active = Math.min(place, rows.length - 1)

  const open = (row: Document | undefined) => {
    if (row !== undefined) studio.go({ page: 'knowledge', query, documentId: row.document_id })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const next = placeAfter(event.key, active, rows.length)
    if (next !== undefined) setPlace(next)
    else if (event.key === 'Enter') open(rows[active])
    else return
    event.preventDefault()
  }
  const total = base.status.value?.documents ?? 0
  return (
    <nav class="library-list" aria-label="Documents">
      <p class="about list-bar" role="status">
        {aboutList(documents, query.collection)}
      </p>
      <VirtualList
        items={rows}
        keyOf={({ document_id }) => document_id}
        rowHeight={rowHeight}
        active={active}
        onEnd={() => documents.more()}
        role="listbox"
        label="Documents"
        onKeyDown={onKeyDown}
        render={(row, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
          <div
            class="session"
            role="option"
            aria-selected={row.document_id === documentId}
            aria-setsize={documents.next.value ? Math.max(total, rows.length) : rows.length}
            aria-posinset={at + 1}
            tabIndex={at === active ? 0 : -1}
            onClick={() => {
              setPlace(at)
              open(row)
            }}
          >
            <DocumentRow row={row} />
          </div>
        )}
      />
    </nav>
  )
}

function DocumentRow({ row }: { row: Document }): JSX.Element {
  const { name, source, chunk_count: count, media_type: type } = row
  return (
    <>
      <span class="title" dir="auto" title={source}>
        {name ?? source}
      </span>
      <span class="more">
        {counted(count, 'passage')}
        {type === null ? '' : ` · ${type}`}
        {name === null || name === source ? '' : ` · ${source}`}
      </span>
    </>
  )
}

function aboutList({ rows, next, error }: Pages<Document>, collection: string | undefined): JSX.Element | string {
  if (error.value) return `The documents could not be read: ${error.value}`
  if (next.value === undefined) return 'Reading…'
  if (rows.value.length > 0) return ''
  if (collection !== undefined) return `No document in the collection ${collection}.`
  return (
    <>
      No document yet. Add some with <code>agentserve ingest ./docs</code>.
    </>
  )
}
