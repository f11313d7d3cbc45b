import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Agent } from '../../wire/agent.ts'
import { lazy } from '../parts/lazy.tsx'
import { drafts } from '../state/kept/drafts.ts'
import { messageOf } from '../state/server/message-of.ts'

const Attached = lazy(async () => (await import('./files/attached.tsx')).Attached)

interface ComposerProps {
  /** The agent that is asked. */
  label: string
  /** What is written is kept under this name; without a session, for the next one. */
  draftOf?: string
  /** With `onChoose`: who else can be asked. */
  agents?: readonly Pick<Agent, 'id'>[]
  onChoose?: (agentId: string) => void
  onSend: (text: string, files: readonly File[]) => Promise<void>
}

/** Ctrl or Cmd with Enter sends. What could not be sent stays in the field, with its files. */
export function Composer({ label, draftOf = 'new', agents = [], onChoose, onSend }: ComposerProps): JSX.Element {
  const [text, setText] = useState(() => drafts.read(draftOf))
  const [files, setFiles] = useState<readonly File[]>([])
  const [isSending, setSending] = useState(false)
  const [error, setError] = useState('')
  const form = useRef<HTMLFormElement>(null)
  const picker = useRef<HTMLInputElement>(null)
  const said = text.trim()
  const isEmpty = said === '' && files.length === 0

  const write = (written: string) => {
    setText(written)
    drafts.keep(draftOf, written)
  }
  const attach = (chosen: FileList | null | undefined) => {
    const added = [...(chosen ?? [])]
    if (added.length > 0) setFiles((before) => [...before, ...added])
    return added.length > 0
  }
  const send = () => {
    if (isEmpty || isSending) return
    // The button can't be used while it is sent.
    form.current?.querySelector('textarea')?.focus()
    setSending(true)
    setError('')
    onSend(said, files)
      .then(
        () => {
          write('')
          setFiles([])
        },
        (failed: unknown) => setError(messageOf(failed)),
      )
      .finally(() => setSending(false))
  }
  // Files may be dropped on the whole column of the conversation.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what attaches them does the same each time
  useEffect(() => {
    const column = form.current?.closest('main')
    const dropped = (event: DragEvent) => {
      if (attach(event.dataTransfer?.files)) event.preventDefault()
    }
    column?.addEventListener('drop', dropped)
    return () => column?.removeEventListener('drop', dropped)
  }, [])

  return (
    <form
      class="composer"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <label>
        <span class="hidden">Message to {label}</span>
        <textarea
          rows={2}
          dir="auto"
          placeholder={`Message ${label}`}
          value={text}
          readOnly={isSending}
          onInput={({ currentTarget }) => write(currentTarget.value)}
          onPaste={(event) => {
            if (attach(event.clipboardData?.files)) event.preventDefault()
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
            event.preventDefault()
            send()
          }}
        />
      </label>
      <button type="submit" class="primary" disabled={isSending || isEmpty}>
        Send
      </button>
      <div class="bar">
        <button type="button" class="quiet" disabled={isSending} onClick={() => picker.current?.click()}>
          Attach…
        </button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files to attach"
          onChange={({ currentTarget }) => {
            attach(currentTarget.files)
            // So that the same file can be chosen again.
            currentTarget.value = ''
          }}
        />
        {onChoose === undefined || agents.length < 2 ? null : (
          <label>
            <span class="hidden">Who is asked</span>
            <select value={label} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
              {agents.some(({ id }) => id === label) ? null : <option value={label}>{label}</option>}
              {agents.map(({ id }) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </select>
          </label>
        )}
        <span role="status" class="more">
          {isSending ? 'Sending…' : ''}
        </span>
      </div>
      {files.length === 0 ? null : (
        <Attached
          files={files}
          onRemove={isSending ? undefined : (file) => setFiles(files.filter((one) => one !== file))}
        />
      )}
      <p role="alert">{error}</p>
    </form>
  )
}
