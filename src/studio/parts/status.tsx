import type { JSX } from 'preact'
import type { RunStatus } from '../../core/run.ts'

const marks: Readonly<Record<RunStatus, [mark: string, words: string]>> = {
  queued: ['…', 'queued'],
  running: ['●', 'running'],
  input_required: ['⏸', 'waits for you'],
  completed: ['✓', 'completed'],
  failed: ['✗', 'failed'],
  cancelled: ['⊘', 'cancelled'],
  interrupted: ['⚡', 'interrupted'],
}

/** Shape and words, not only a colour. */
export function Status({ status, short = false }: { status: RunStatus; short?: boolean }): JSX.Element {
  const [mark, words] = marks[status]
  return (
    <span class={`status ${status}`}>
      <span aria-hidden="true">{mark}</span>
      <span class={short ? 'hidden' : undefined}> {words}</span>
    </span>
  )
}
