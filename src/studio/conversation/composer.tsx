import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { messageOf } from '../state/message-of.ts'

interface ComposerProps {
  /** The agent that is asked. */
  label: string
  onSend: (text: string) => Promise<void>
}

/** Ctrl or Cmd with Enter sends. What could not be sent stays in the field. */
export function Composer({ label, onSend }: ComposerProps): JSX.Element {
  const [text, setText] = useState('')
  const [isSending, setSending] = useState(false)
  const [error, setError] = useState('')

  const send = () => {
    const said = text.trim()
    if (said === '' || isSending) return
    setSending(true)
    setError('')
    onSend(said)
      .then(
        () => setText(''),
        (failed: unknown) => setError(messageOf(failed)),
      )
      .finally(() => setSending(false))
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <label>
        <span class="hidden">Message to {label}</span>
        <textarea
          rows={2}
          placeholder={`Message ${label}`}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
            event.preventDefault()
            send()
          }}
        />
      </label>
      <button type="submit" class="primary" disabled={isSending}>
        Send
      </button>
      <p role="alert">{error}</p>
    </form>
  )
}
