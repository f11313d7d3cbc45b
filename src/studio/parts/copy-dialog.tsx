import type { JSX } from 'preact'
import { Dialog } from './dialog.tsx'

/** A text to be taken by hand. */
export function CopyDialog({ text, onClose }: { text: string; onClose: () => void }): JSX.Element {
  return (
    <Dialog title="Copy by hand" onClose={onClose}>
      <p>This page has no clipboard: browsers give one only over https or on this machine. Press Ctrl+C (or Cmd+C).</p>
      <textarea
        class="to-copy"
        autoFocus
        onFocus={({ currentTarget }) => currentTarget.select()}
        readOnly
        rows={12}
        value={text}
        aria-label="Text to copy"
      />
    </Dialog>
  )
}
