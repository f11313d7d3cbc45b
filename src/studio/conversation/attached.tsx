import type { JSX } from 'preact'
import { formatBytes } from '../parts/format.ts'
import { safeName } from '../parts/safe-name.ts'

interface AttachedProps {
  files: readonly File[]
  /** Undefined while they are sent. */
  onRemove: ((file: File) => void) | undefined
}

/** What servers take unless they are configured otherwise (`limits.fileSize`, `limits.run.files`, `maxRequestSize`). */
const usual = { fileBytes: 8 * 1024 * 1024, allBytes: 10 * 1024 * 1024, files: 10 }

/** The files that go with the next message. */
export function Attached({ files, onRemove }: AttachedProps): JSX.Element {
  return (
    <div class="attached">
      <ul aria-label="Attached files">
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
      <p role="status" class="wrong">
        {warningOf(files)}
      </p>
    </div>
  )
}

/** The server decides; a browser may only hear of a cut connection when it sends too much. */
export function warningOf(files: readonly Pick<File, 'name' | 'size'>[]): string {
  const large = files.find(({ size }) => size > usual.fileBytes)
  if (large !== undefined) {
    return `${safeName(large.name)} has ${formatBytes(large.size)}. A server takes files of up to ${formatBytes(usual.fileBytes)}, unless its limits are set otherwise.`
  }
  const all = files.reduce((sum, { size }) => sum + size, 0)
  if (all > usual.allBytes) {
    return `The files have ${formatBytes(all)} together. A server takes messages of up to ${formatBytes(usual.allBytes)}, unless its limits are set otherwise.`
  }
  if (files.length <= usual.files) return ''
  return `These are ${files.length} files. A server takes up to ${usual.files} with a message, unless its limits are set otherwise.`
}
