import type { JSX } from 'preact'
import { useState } from 'preact/hooks'

/** A page that came over plain http from another machine has no clipboard; there the text is shown to be taken. */
export function CopyButton({ text, label }: { text: string; label: string }): JSX.Element {
  const [said, setSaid] = useState('')
  const copy = () => {
    if (navigator.clipboard === undefined) {
      setSaid('no clipboard here')
      return
    }
    navigator.clipboard.writeText(text).then(
      () => setSaid('copied'),
      () => setSaid('not allowed'),
    )
  }
  return (
    <button type="button" class="quiet" onClick={copy} onBlur={() => setSaid('')} aria-label={label}>
      <span aria-live="polite">{said || 'copy'}</span>
    </button>
  )
}
