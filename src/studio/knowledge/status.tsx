import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { counted, formatBytes, formatCount } from '../../core/text/format.ts'
import type { KnowledgeStatus } from '../../wire/knowledge.ts'
import { Dialog } from '../parts/dialog.tsx'
import type { KnowledgeBase } from './knowledge-base.ts'

const embedders = ['static', 'lexical', 'transformers', 'openai']

/** What is in the knowledge base, what is under way, and the button that embeds everything again. */
export function StatusLine({ base, mayWrite }: { base: KnowledgeBase; mayWrite: boolean }): JSX.Element {
  const [isAsking, setAsking] = useState(false)
  const status = base.status.value
  if (status === undefined) return <p class="about appears library-status">Reading…</p>
  const isReindexing = status.reindexing !== undefined || base.reindexing.value !== undefined
  return (
    <div class="library-status bar">
      <span>
        {counted(status.documents, 'document')} · {counted(status.chunks, 'passage')} · embedder {nameOf(status)}
      </span>
      <span role="status">{whatIsUnderWay(status, isReindexing)}</span>
      {status.reindexing === undefined ? null : <Progress now={status.reindexing} />}
      {base.reindexError.value === '' ? null : (
        <span role="alert" class="failure">
          The reindex failed: {base.reindexError.value}
        </span>
      )}
      {!mayWrite ? null : base.reindexing.value !== undefined ? (
        <button type="button" onClick={() => base.reindexing.value?.abort()}>
          Stop
        </button>
      ) : isReindexing ? null : (
        <button type="button" onClick={() => setAsking(true)}>
          Reindex…
        </button>
      )}
      {isAsking ? <AskReindex base={base} status={status} onClose={() => setAsking(false)} /> : null}
    </div>
  )
}

function Progress({ now }: { now: NonNullable<KnowledgeStatus['reindexing']> }): JSX.Element {
  const { step, done, total } = now
  const words =
    step === 'download'
      ? `${formatBytes(done)} of ${formatBytes(total)} of the model`
      : `${formatCount(done)} of ${counted(total, 'passage')}`
  return (
    <>
      <progress max={Math.max(1, total)} value={done} aria-label="Reindex" />
      <span>{words}</span>
    </>
  )
}

interface AskReindexProps {
  base: KnowledgeBase
  status: KnowledgeStatus
  onClose: () => void
}

function AskReindex({ base, status, onClose }: AskReindexProps): JSX.Element {
  const [embedder, setEmbedder] = useState('')
  const start = () => {
    onClose()
    void base.reindex(embedder === '' ? undefined : embedder)
  }
  return (
    <Dialog title="Reindex" onClose={onClose}>
      <p>
        All {counted(status.chunks, 'passage')} are embedded again. Searches work meanwhile. Closing this tab stops it.
      </p>
      <label>
        Embedder{' '}
        <select value={embedder} onChange={({ currentTarget }) => setEmbedder(currentTarget.value)}>
          <option value="">as now: {nameOf(status)}</option>
          {embedders
            .filter((name) => name !== status.embedding_model.provider)
            .map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
        </select>
      </label>
      {embedder === 'transformers' ? <p>The server may have to download the model.</p> : null}
      <div class="bar">
        <button type="button" class="primary" onClick={start}>
          Start
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  )
}

function whatIsUnderWay({ pending }: KnowledgeStatus, isReindexing: boolean): string {
  if (isReindexing) return 'Reindexing…'
  if (pending === 0) return ''
  return `${counted(pending, 'document')} ${pending === 1 ? 'waits' : 'wait'} for vectors: keyword search only so far`
}

function nameOf({ embedding_model: { provider, model } }: KnowledgeStatus): string {
  return provider === model ? provider : `${provider} ${model}`
}
