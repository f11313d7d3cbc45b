import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { withoutBase64 } from '../../core/text/base64.ts'
import { formatBytes } from '../../core/text/format.ts'

const first = 4000
/** In characters: with megabytes of text in one place, a page stops answering. */
const step = 100 * 1024

/** A text of any length: its beginning, and the rest on demand. Files in it are told by their size. */
export function LongText({ text: given, cut = first }: { text: string; cut?: number }): JSX.Element {
  const [shown, setShown] = useState(cut)
  const text = useMemo(() => withoutBase64(given), [given])
  if (text.length <= shown) return <>{text}</>
  return (
    <>
      {text.slice(0, shown)}…
      <button type="button" class="quiet" onClick={() => setShown((shown === cut ? 0 : shown) + step)}>
        show {shown + step < text.length ? `${formatBytes(step)} more of ` : ''}
        {formatBytes(text.length)}
      </button>
    </>
  )
}

/** A text of any length, as it was said. */
export function Said({ text }: { text: string }): JSX.Element {
  return (
    <pre class="said" dir="auto">
      <LongText text={text} />
    </pre>
  )
}
