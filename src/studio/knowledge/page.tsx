import type { JSX } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import type { Address } from '../state/address/address.ts'
import { useListening } from '../state/listening.ts'
import { hasStatus, messageOf } from '../state/server/message-of.ts'
import type { Studio } from '../state/studio.ts'
import { DocumentView } from './document.tsx'
import { DocumentList } from './document-list.tsx'
import { KnowledgeBase } from './knowledge-base.ts'
import { Query } from './query.tsx'
import { StatusLine } from './status.tsx'

/** The knowledge base: its documents, a search with the reasons for each rank, and a passage with what stands around it. */
export function KnowledgePage({ studio }: { studio: Studio }): JSX.Element | null {
  const address = studio.address.value
  if (address.page !== 'knowledge') return null
  return <Columns studio={studio} address={address} />
}

export type KnowledgeAddress = Extract<Address, { page: 'knowledge' }>

function Columns({ studio, address }: { studio: Studio; address: KnowledgeAddress }): JSX.Element {
  const [base] = useState(() => new KnowledgeBase(studio.client, studio.can('config')))
  const { documentId, query } = address
  const { q, collection } = query
  useLayoutEffect(() => base.list(collection), [base, collection])
  useLayoutEffect(() => base.open(documentId), [base, documentId])
  useListening(studio, base)

  const error = base.error.value
  if (hasStatus(error, 404)) return <Off />
  if (error !== undefined && base.status.value === undefined)
    return (
      <div class="middle">
        <h2>Knowledge</h2>
        <p role="alert">The knowledge base could not be read: {messageOf(error)}</p>
      </div>
    )
  const opened = base.opened.value
  return (
    <div class="library" data-depth={documentId ? 'document' : q ? 'query' : 'list'}>
      <h2 class="hidden">Knowledge</h2>
      <StatusLine base={base} mayWrite={studio.can('knowledge')} />
      <DocumentList studio={studio} base={base} address={address} />
      <Query studio={studio} address={address} />
      {opened && <DocumentView key={opened.documentId} studio={studio} base={base} opened={opened} address={address} />}
    </div>
  )
}

function Off(): JSX.Element {
  return (
    <div class="middle">
      <h2>No knowledge base</h2>
      <p>
        Turn it on in <code>agent.config.ts</code>, without <code>server.knowledgeApi: false</code>:
      </p>
      <pre>
        <code>{"server: { vectorDb: { type: 'lancedb' } },\nknowledge: { sources: ['docs'] },"}</code>
      </pre>
    </div>
  )
}
