import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useAttempt } from '../state/reading/attempt.ts'
import type { Studio } from '../state/studio.ts'
import { readMessages } from './read-messages.ts'

interface MessagesFieldProps {
  studio: Studio
  runId: string
  callId: string
}

/** The messages of a model call, as JSON that can be changed. They are read when somebody wants to. */
export function MessagesField({ studio, runId, callId }: MessagesFieldProps): JSX.Element {
  const { problem, attempt } = useAttempt()
  const [text, setText] = useState<string>()
  const field = useRef<HTMLTextAreaElement>(null)
  // The button that had the focus is gone.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when it is opened
  useLayoutEffect(() => field.current?.focus(), [text])
  if (text !== undefined) {
    return (
      <label>
        Messages of the call, as JSON
        <textarea ref={field} name="messages" rows={8} dir="auto" defaultValue={text} />
      </label>
    )
  }
  const read = async () => setText(JSON.stringify(await readMessages(studio, runId, callId), undefined, 2))
  return (
    <div>
      <button type="button" onClick={() => attempt(read)}>
        Change the messages…
      </button>
      <p role="alert" class="wrong">
        {problem}
      </p>
    </div>
  )
}
