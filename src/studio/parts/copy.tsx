import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { CopyDialog } from './copy-dialog.tsx'

/** A text, or what makes it when it is asked for. */
export type Copied = string | (() => string | Promise<string>)

interface Copying {
  /** Takes the text to the clipboard. */
  copy: (text: Copied) => void
  /** How it went; `''` before. */
  said: string
  forget: () => void
  /** Where there is no clipboard, as in a page that came over plain http from another machine: the text, to be taken by hand. */
  dialog: JSX.Element | null
}

export function useCopying(): Copying {
  const [said, setSaid] = useState('')
  const [shown, setShown] = useState<string>()
  const copy = async (text: Copied) => {
    setSaid('')
    const made = Promise.resolve(typeof text === 'string' ? text : text())
    try {
      // Before the text is there: some browsers give the clipboard only while they handle the click or the key.
      const type = 'text/plain'
      await navigator.clipboard.write([new ClipboardItem({ [type]: made.then((text) => new Blob([text], { type })) })])
      setSaid('copied')
    } catch {
      // It is not there, or forbidden.
      setShown(await made)
    }
  }
  return {
    copy: (text) => {
      copy(text).catch((error: unknown) => setSaid(`not copied: ${error instanceof Error ? error.message : error}`))
    },
    said,
    forget: () => setSaid(''),
    dialog: shown === undefined ? null : <CopyDialog text={shown} onClose={() => setShown(undefined)} />,
  }
}

export function CopyButton({ text, label }: { text: Copied; label: string }): JSX.Element {
  const { copy, said, forget, dialog } = useCopying()
  return (
    <>
      <button type="button" class="quiet" onClick={() => copy(text)} onBlur={forget} aria-label={label}>
        <span aria-live="polite">{said || 'copy'}</span>
      </button>
      {dialog}
    </>
  )
}
