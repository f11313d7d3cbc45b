import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { runStatuses } from '../../core/run.ts'
import type { SessionHead } from '../../wire/session.ts'
import { formatAge, formatCost, formatCount } from '../parts/format.ts'
import { placeAfter } from '../parts/list-keys.ts'
import { Status } from '../parts/status.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import type { Filter } from '../state/address.ts'
import type { Studio } from '../state/studio.ts'

const rowHeight = 52

/** The sessions, newest first, with what can be narrowed down. */
export function Sessions({ studio, filter }: { studio: Studio; filter: Filter }): JSX.Element {
  const { agents } = studio
  const { sessions, conversation } = studio.chats
  const rows = sessions.rows.value
  const openId = conversation.value?.sessionId
  const openPlace = rows.findIndex(({ session_id }) => session_id === openId)
  const [place, setPlace] = useState(0)
  const active = Math.min(place, rows.length - 1)

  const open = (head: SessionHead | undefined) => {
    if (head !== undefined) studio.go({ page: 'chats', sessionId: head.session_id, filter })
  }
  const narrow = (change: Filter) => studio.go({ page: 'chats', filter: { ...filter, ...change } })
  const onKeyDown = (event: KeyboardEvent) => {
    const next = placeAfter(event.key, active, rows.length)
    if (next !== undefined) setPlace(next)
    else if (event.key === 'Enter') open(rows[active])
    else return
    event.preventDefault()
  }

  return (
    <nav class="sessions" aria-label="Sessions">
      <div class="bar">
        <button type="button" onClick={() => studio.go(studio.newChat)}>
          New chat
        </button>
        <label>
          <span class="hidden">Agent</span>
          <select
            value={filter.agent ?? ''}
            onChange={({ currentTarget }) => narrow(withValue('agent', currentTarget))}
          >
            <option value="">all agents</option>
            {agents.value.map(({ id }) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span class="hidden">Status</span>
          <select
            value={filter.status ?? ''}
            onChange={({ currentTarget }) => narrow(withValue('status', currentTarget))}
          >
            <option value="">any status</option>
            {runStatuses.map((status) => (
              <option key={status} value={status}>
                {status === 'input_required' ? 'waiting' : status}
              </option>
            ))}
          </select>
        </label>
      </div>
      <p class="about" role="status">
        {aboutList(studio, filter)}
      </p>
      <VirtualList
        items={rows}
        keyOf={({ session_id }) => session_id}
        rowHeight={rowHeight}
        active={openPlace >= 0 && place === 0 ? openPlace : active}
        onEnd={() => sessions.more()}
        role="listbox"
        label="Sessions"
        onKeyDown={onKeyDown}
        render={(head, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
          <div
            class="session"
            role="option"
            aria-selected={head.session_id === openId}
            aria-setsize={sessions.total.value ?? rows.length}
            aria-posinset={at + 1}
            tabIndex={at === active ? 0 : -1}
            onClick={() => {
              setPlace(at)
              open(head)
            }}
          >
            <SessionRow head={head} />
          </div>
        )}
      />
    </nav>
  )
}

function SessionRow({ head }: { head: SessionHead }): JSX.Element {
  const { name, title, session_id, entity_id, run_count, status, updated_at, cost, usage } = head
  return (
    <>
      <span class="title" dir="auto">
        {name ?? title ?? session_id}
      </span>
      {status === null ? null : <Status status={status} short />}
      <span class="more">
        {entity_id ?? 'no runs'} · {run_count} {run_count === 1 ? 'run' : 'runs'} ·{' '}
        <time dateTime={updated_at} title={new Date(updated_at).toLocaleString()}>
          {formatAge(Date.parse(updated_at), Date.now())}
        </time>
      </span>
      {usage === null ? null : <span class="cost">{formatCost(cost)}</span>}
    </>
  )
}

function withValue(field: keyof Filter, { value }: HTMLSelectElement): Filter {
  return { [field]: value === '' ? undefined : value } as Filter
}

function aboutList({ chats: { sessions } }: Studio, filter: Filter): string {
  const total = sessions.total.value
  if (sessions.state.value === 'failed') return `The list could not be read: ${sessions.error.value}`
  if (sessions.state.value === 'loading') return 'Reading…'
  const isNarrow = filter.agent !== undefined || filter.status !== undefined
  if (sessions.rows.value.length > 0)
    return total === undefined ? '' : `${formatCount(total)} ${total === 1 ? 'session' : 'sessions'}`
  return isNarrow ? 'No session matches. Choose "all agents" and "any status" to see all.' : 'No session yet.'
}
