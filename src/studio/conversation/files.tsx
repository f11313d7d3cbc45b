import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useAttempt } from '../state/attempt.ts'
import type { Studio } from '../state/studio.ts'
import { FileView, Save } from './file.tsx'
import { type FilesFound, findFiles } from './find-files.ts'

interface FilesProps {
  studio: Studio
  sessionId: string
  /** A run was chosen. */
  onClose: () => void
}

/** The files of the newest runs of a session, those inside its turns too; earlier ones when they are asked for. */
export function Files({ studio, sessionId, onClose }: FilesProps): JSX.Element | null {
  const { client } = studio
  const [found, setFound] = useState<FilesFound>()
  const { problem, isBusy, attempt } = useAttempt()
  const signal = useRef<AbortSignal | undefined>(undefined)
  const list = useRef<HTMLElement>(null)
  const read = (before?: FilesFound) =>
    attempt(async () => {
      const of = signal.current
      try {
        setFound(await findFiles(client, sessionId, before, of))
        // What was pressed may be gone.
        if (before !== undefined) list.current?.focus()
      } catch (error) {
        if (of?.aborted !== true) throw error
      }
    })
  // biome-ignore lint/correctness/useExhaustiveDependencies: read once for each session
  useEffect(() => {
    const reading = new AbortController()
    signal.current = reading.signal
    read()
    return () => reading.abort()
  }, [client, sessionId])
  const files = [...(found?.files.values() ?? [])]
  const hasMore = found !== undefined && found.cursor !== null
  return (
    <>
      {files.length === 0 && !hasMore && list.current === null ? null : (
        <section aria-label="Files" ref={list} tabIndex={-1}>
          <p>{files.length > 0 || hasMore ? 'Files:' : 'No files.'}</p>
          <ul>
            {files.map(({ part, runId, member }, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the list only grows at its end
              <li key={place}>
                {part.file_id === undefined ? (
                  <FileView studio={studio} sessionId={sessionId} part={part} />
                ) : (
                  <Save studio={studio} sessionId={sessionId} part={part} />
                )}
                <span class="more">
                  {part.role === 'user' ? 'attached to' : 'made by'} {member === undefined ? '' : `${member}, `}
                  <a
                    href={studio.urlOf(
                      member === undefined
                        ? { page: 'chats', sessionId, runId, filter: {} }
                        : { page: 'member', runId },
                    )}
                    onClick={onClose}
                  >
                    run …{runId.slice(-6)}
                  </a>
                </span>
              </li>
            ))}
          </ul>
          {hasMore ? (
            <p>
              Only the newest runs were read.{' '}
              <button type="button" disabled={isBusy} onClick={() => read(found)}>
                Read earlier ones
              </button>
            </p>
          ) : null}
        </section>
      )}
      <p role="alert">{problem}</p>
    </>
  )
}
