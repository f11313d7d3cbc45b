import type { JSX } from 'preact'
import type { RunStatus } from '../../core/run.ts'
import { Icon, type IconName } from './icon.tsx'

/** Of each status a shape and words. */
export const statusMarks: Readonly<Record<RunStatus, [icon: IconName, words: string]>> = {
  queued: ['queued', 'queued'],
  running: ['running', 'running'],
  input_required: ['waiting', 'waits for you'],
  completed: ['done', 'completed'],
  failed: ['failed', 'failed'],
  cancelled: ['cancelled', 'cancelled'],
  interrupted: ['interrupted', 'interrupted'],
}

/** Shape and words, not only a colour. */
export function Status({ status, short = false }: { status: RunStatus; short?: boolean }): JSX.Element {
  const [icon, words] = statusMarks[status]
  return (
    <span class={`status ${status}`}>
      <Icon name={icon} />
      <span class={short ? 'hidden' : undefined}> {words}</span>
    </span>
  )
}
