import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { FilePart } from '../../core/message.ts'
import { messageOf } from '../state/message-of.ts'
import type { Studio } from '../state/studio.ts'
import { FileView, Save } from './file.tsx'

interface FilesProps {
  studio: Studio
  sessionId: string
  /** A run was chosen. */
  onClose: () => void
}

/** As many turns as the server gives at once. */
const turns = 1000

/** The files of the newest turns of a session, those of replaced turns too; nothing without any. */
export function Files({ studio, sessionId, onClose }: FilesProps): JSX.Element | null {
  const { sessions } = studio.client
  const [found, setFound] = useState<readonly { part: FilePart; runId: string; by: string }[]>([])
  const [error, setError] = useState('')
  useEffect(() => {
    const reading = new AbortController()
    const { signal } = reading
    sessions.history(sessionId, { interactions: turns, replaced: true, signal }).then(
      ({ messages }) =>
        setFound(
          messages.flatMap(({ run_id: runId, role, parts }) =>
            parts.flatMap((part) =>
              part.type === 'file' ? [{ part, runId, by: role === 'user' ? 'attached to' : 'made by' }] : [],
            ),
          ),
        ),
      (failed: unknown) => {
        if (!signal.aborted) setError(messageOf(failed))
      },
    )
    return () => reading.abort()
  }, [sessions, sessionId])
  if (error !== '') return <p role="alert">{error}</p>
  if (found.length === 0) return null
  return (
    <section aria-label="Files">
      <p>Files:</p>
      <ul>
        {found.map(({ part, runId, by }, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list is made once
          <li key={place}>
            {part.file_id === undefined ? (
              <FileView studio={studio} sessionId={sessionId} part={part} />
            ) : (
              <Save studio={studio} sessionId={sessionId} part={part} />
            )}
            <span class="more">
              {by}{' '}
              <a href={studio.urlOf({ page: 'chats', sessionId, runId, filter: {} })} onClick={onClose}>
                run …{runId.slice(-6)}
              </a>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
