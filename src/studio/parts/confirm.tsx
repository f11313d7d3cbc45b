import type { ComponentChildren, JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

interface ConfirmProps {
  /** What is done. */
  verb: string
  disabled?: boolean
  onConfirm: () => void
  /** Why it was not done. */
  problem?: string
  /** What it means, as a question. */
  children: ComponentChildren
}

/** A button for what can't be undone. It asks first, in its place. */
export function Confirm({ verb, disabled, onConfirm, problem, children }: ConfirmProps): JSX.Element {
  const [isAsking, setAsking] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const wasAsking = useRef(false)
  // What was pressed is gone, and this has taken its place.
  useLayoutEffect(() => {
    if (isAsking || wasAsking.current) button.current?.focus()
    wasAsking.current = isAsking
  }, [isAsking])
  const confirm = () => {
    setAsking(false)
    onConfirm()
  }
  return (
    <>
      {isAsking ? (
        <div role="group" aria-label={verb} class="bar">
          <span>{children}</span>
          <button type="button" class="danger" ref={button} onClick={confirm}>
            {verb}
          </button>
          <button type="button" onClick={() => setAsking(false)}>
            Cancel
          </button>
        </div>
      ) : (
        <button type="button" ref={button} disabled={disabled} onClick={() => setAsking(true)}>
          {verb}…
        </button>
      )}
      <span role="alert" class="wrong">
        {problem}
      </span>
    </>
  )
}
