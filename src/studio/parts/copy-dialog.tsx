import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Dialog } from './dialog.tsx'

/** A text to be taken by hand. */
export function CopyDialog({ text, onClose }: { text: string; onClose: () => void }): JSX.Element {
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    // The dialog, which is opened after this, would take the focus.
    const frame = requestAnimationFrame(() => {
      field.current?.focus()
      field.current?.select()
    })
    return () => cancelAnimationFrame(frame)
  }, [])
  return (
    <Dialog title="Copy by hand" onClose={onClose}>
      <p>This page has no clipboard: browsers give one only over https or on this machine. Press Ctrl+C (or Cmd+C).</p>
      <textarea class="to-copy" ref={field} readOnly rows={12} value={text} aria-label="Text to copy" />
    </Dialog>
  )
}
