import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { FilePart } from '../../../core/message.ts'
import { formatBytes } from '../../../core/text/format.ts'
import { safeName } from '../../parts/format.ts'
import { saveAs } from '../../parts/save.ts'
import { useAttempt } from '../../state/reading/attempt.ts'
import { Latest } from '../../state/reading/latest.ts'
import { messageOf } from '../../state/server/message-of.ts'
import type { Studio } from '../../state/studio.ts'

/** What browsers draw and can't be run; the server gives these types only. */
const pictures = /^image\/(png|jpeg|gif|webp|avif)$/
const largestPicture = 8 * 1024 * 1024

interface FileProps {
  studio: Studio
  sessionId: string
  part: FilePart
}

/** A picture, or what saves the file. Its content is read with the page's key. A file elsewhere is never loaded. */
export function FileView(props: FileProps): JSX.Element {
  const { media_type, file_id, size = 0, url } = props.part
  const name = safeName(props.part.name ?? 'file')
  if (file_id === undefined) {
    return (
      <p class="file">
        <bdi>{name}</bdi> <span class="more">{media_type}, at</span> <Elsewhere url={url ?? ''} />
      </p>
    )
  }
  const isPicture = pictures.test(media_type) && size <= largestPicture
  return (
    <div class="file">
      {isPicture ? <Picture {...props} fileId={file_id} name={name} /> : null}
      <Save {...props} />
    </div>
  )
}

function Elsewhere({ url }: { url: string }): JSX.Element {
  if (!/^https?:\/\//i.test(url)) return <code>{url.slice(0, 500)}</code>
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {url.slice(0, 200)}
    </a>
  )
}

interface KeptProps extends FileProps {
  fileId: string
  name: string
}

function Picture({ studio, sessionId, part, fileId, name }: KeptProps): JSX.Element {
  const [address, setAddress] = useState<string>()
  const [error, setError] = useState('')
  const [reading] = useState(() => new Latest())
  const read = () => {
    setError('')
    reading.read(
      (signal) => studio.client.sessions.file(sessionId, fileId, { signal }),
      ({ bytes }) =>
        setAddress(URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type: part.media_type }))),
      (failed) => setError(messageOf(failed)),
    )
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again when a person asks for it
  useEffect(() => {
    read()
    return () => reading.stop()
  }, [studio, sessionId, fileId])
  useEffect(() => () => URL.revokeObjectURL(address ?? ''), [address])
  if (error !== '') {
    return (
      <p role="alert">
        The picture can't be shown: {error}{' '}
        <button type="button" onClick={read}>
          Try again
        </button>
      </p>
    )
  }
  if (address === undefined) return <p class="about appears">Reading…</p>
  return <img src={address} alt={name} onError={() => setError('its content is no picture.')} />
}

/** What saves a file that the session keeps. */
export function Save({ studio, sessionId, part }: FileProps): JSX.Element {
  const { file_id: fileId = '' } = part
  const name = safeName(part.name ?? 'file')
  const { problem, isBusy, attempt } = useAttempt()
  const save = async () => {
    const { bytes } = await studio.client.sessions.file(sessionId, fileId)
    // As no type that a browser would open.
    saveAs(name, new Blob([bytes as Uint8Array<ArrayBuffer>], { type: 'application/octet-stream' }))
  }
  return (
    <p>
      <button type="button" class="link" disabled={isBusy} onClick={() => attempt(save)}>
        Save <bdi>{name}</bdi>
      </button>{' '}
      <span class="more">
        {part.media_type}
        {part.size === undefined ? '' : `, ${formatBytes(part.size)}`}
      </span>{' '}
      <span role="alert">{problem}</span>
    </p>
  )
}
