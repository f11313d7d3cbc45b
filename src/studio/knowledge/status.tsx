import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { counted, formatBytes, formatCount } from '../../core/text/format.ts'
import type { KnowledgeStatus } from '../../wire/knowledge.ts'
import { Confirm } from '../parts/confirm.tsx'
import { useAttempt } from '../state/reading/attempt.ts'
import type { KnowledgeBase } from './knowledge-base.ts'

const embedders = ['static', 'lexical', 'transformers', 'openai']

/** What is in the knowledge base, what is under way, and the button that embeds everything again. */
export function StatusLine({ base, mayWrite }: { base: KnowledgeBase; mayWrite: boolean }): JSX.Element {
  const [embedder, setEmbedder] = useState('')
  const { problem, attempt } = useAttempt()
  const status = base.status.value
  if (status === undefined) return <p class="about appears library-status">Reading…</p>
  const { documents, chunks, pending, reindexing, embedding_model: current } = status
  const own = base.reindexing.value
  const isReindexing = reindexing !== undefined || own !== undefined
  const name = current.provider === current.model ? current.model : `${current.provider} ${current.model}`
  return (
    <div class="library-status bar">
      <span>
        {counted(documents, 'document')} · {counted(chunks, 'passage')} · embedder {name}
      </span>
      <span role="status">
        {isReindexing
          ? 'Reindexing…'
          : pending > 0 && `${counted(pending, 'document')} without vectors: keyword search only so far`}
      </span>
      {reindexing && <Progress now={reindexing} />}
      {!mayWrite ? null : own ? (
        <button type="button" onClick={() => own.abort()}>
          Stop
        </button>
      ) : isReindexing ? null : (
        <Confirm
          verb="Reindex"
          problem={problem}
          onConfirm={() => {
            attempt(() => base.reindex(embedder || undefined))
            setEmbedder('')
          }}
        >
          All {counted(chunks, 'passage')} are embedded again. Searches work meanwhile. Closing this tab stops it.{' '}
          <label>
            Embedder{' '}
            <select value={embedder} onChange={({ currentTarget }) => setEmbedder(currentTarget.value)}>
              <option value="">as now: {name}</option>
              {embedders
                .filter((one) => one !== current.provider)
                .map((one) => (
                  <option key={one}>{one}</option>
                ))}
            </select>
          </label>
          {embedder === 'transformers' && ' The server may have to download the model.'}
        </Confirm>
      )}
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
