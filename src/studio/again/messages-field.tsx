import type { JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useAttempt } from '../state/attempt.ts'
import type { Studio } from '../state/studio.ts'

interface MessagesFieldProps {
  studio: Studio
  runId: string
  callId: string
  /** Undefined until they are to be changed. */
  text: string | undefined
  onText: (text: string) => void
}

/** The messages of a model call, as JSON that can be changed. They are read when somebody wants to. */
export function MessagesField({ studio, runId, callId, text, onText }: MessagesFieldProps): JSX.Element {
  const { problem, attempt } = useAttempt()
  const field = useRef<HTMLTextAreaElement>(null)
  const isOpen = text !== undefined
  // The button that had the focus is gone.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when it is opened
  useLayoutEffect(() => field.current?.focus(), [isOpen])
  if (text !== undefined) {
    return (
      <label>
        Messages of the call, as JSON
        <textarea
          ref={field}
          rows={8}
          dir="auto"
          value={text}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
        />
      </label>
    )
  }
  const read = async () => {
    const {
      calls: [call],
    } = await studio.client.runs.trace(runId, { call: callId })
    if (!Array.isArray(call?.messages))
      throw new Error('The messages can’t be put together again: some that they refer to are gone.')
    onText(JSON.stringify(call.messages, undefined, 2))
  }
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
