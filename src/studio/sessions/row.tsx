import { signal } from '@preact/signals'
import type { JSX } from 'preact'
import { formatCost } from '../../core/text/format.ts'
import { formatAge } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { statusMarks } from '../parts/status.tsx'
import type { SessionRow as Row } from '../state/sessions/session-pages.ts'

/** What the ages are told from. */
export const clock = signal(Date.now())

// Made once: it costs more than the row.
const moments = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })

/** What it shows changes alone: the list is not drawn again. */
export function SessionRow({ row }: { row: Row }): JSX.Element {
  const { name, title, session_id, entity_id, run_count, status, waiting, updated_at, cost, usage } = row.head.value
  const [icon, words] = status === null ? [undefined, ''] : statusMarks[status]
  const runs = `${run_count} ${run_count === 1 ? 'run' : 'runs'}`
  return (
    <>
      <span class="title" dir="auto">
        {name ?? title ?? session_id}
      </span>
      {icon === undefined ? (
        <span />
      ) : (
        <span class={`status ${status}`}>
          <Icon name={icon} />
        </span>
      )}
      <span class="more">
        {entity_id ?? 'no runs'} ·{' '}
        {status === 'completed' || status === null ? runs : <span class={`status ${status}`}>{words}</span>}
        {status === 'completed' ? <span class="hidden"> {words}</span> : null}
        {waiting > 1 ? ` (${waiting})` : ''} ·{' '}
        <time dateTime={updated_at} title={moments.format(new Date(updated_at))}>
          {formatAge(Date.parse(updated_at), clock.value)}
        </time>
      </span>
      {usage === null ? null : <span class="cost">{formatCost(cost)}</span>}
    </>
  )
}
