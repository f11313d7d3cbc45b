import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useAttempt } from '../../state/reading/attempt.ts'
import type { Studio } from '../../state/studio.ts'
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
  const [found, setFound] = useState<FilesFound>()
  const { problem, isBusy, attempt } = useAttempt()
  const [reading] = useState(() => new AbortController())
  const list = useRef<HTMLElement>(null)
  const read = (before?: FilesFound) =>
    attempt(async () => {
      setFound(await findFiles(studio.client, sessionId, before, reading.signal))
      // What was pressed may be gone.
      if (before !== undefined) list.current?.focus()
    })
  // biome-ignore lint/correctness/useExhaustiveDependencies: read once; the menu of each session has its own
  useEffect(() => {
    read()
    return () => reading.abort()
  }, [])
  return (
    <>
      {found === undefined ? null : (
        <section aria-label="Files" ref={list} tabIndex={-1}>
          <p>{found.files.size > 0 ? 'Files:' : 'No files.'}</p>
          <ul>
            {[...found.files.values()].map(({ part, runId, member }, place) => (
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
          {found.cursor === null ? null : (
            <p>
              Only the newest runs were read.{' '}
              <button type="button" disabled={isBusy} onClick={() => read(found)}>
                Read earlier ones
              </button>
            </p>
          )}
        </section>
      )}
      <p role="alert">{problem}</p>
    </>
  )
}
