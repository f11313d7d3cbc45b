import type { JSX } from 'preact'
import { formatBytes } from '../../../core/text/format.ts'
import { safeName } from '../../parts/format.ts'
import { warningOf } from './attachment-limits.ts'

interface AttachedProps {
  files: readonly File[]
  /** Undefined while they are sent. */
  onRemove: ((file: File) => void) | undefined
}

/** The files that go with the next message. */
export function Attached({ files, onRemove }: AttachedProps): JSX.Element {
  return (
    <>
      <ul class="attached" aria-label="Attached files">
        {files.map((file, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same file may be there twice
          <li key={place}>
            <bdi>{safeName(file.name)}</bdi> <span class="more">{formatBytes(file.size)}</span>{' '}
            <button
              type="button"
              class="quiet"
              disabled={onRemove === undefined}
              aria-label={`Remove ${safeName(file.name)}`}
              onClick={() => onRemove?.(file)}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      <p role="status">{warningOf(files)}</p>
    </>
  )
}
