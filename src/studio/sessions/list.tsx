import { useComputed } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { placeAfter } from '../parts/layout/list-keys.ts'
import { VirtualList } from '../parts/layout/virtual-list.tsx'
import { type Filter, given } from '../state/address/address.ts'
import { repeatWhileSeen } from '../state/reading/while-seen.ts'
import { pageSize } from '../state/sessions/session-reads.ts'
import type { SessionList } from '../state/sessions/sessions.ts'
import type { Studio } from '../state/studio.ts'
import { Above, type Change, countOf, inWords, Narrow } from './narrow.tsx'
import { clock, SessionRow } from './row.tsx'

const rowHeight = 44
const ageMs = 30_000

interface SessionsProps {
  studio: Studio
  filter: Filter
}

/** The sessions, newest first, with what can be narrowed down. */
export function Sessions({ studio, filter }: SessionsProps): JSX.Element {
  const { sessions } = studio.chats
  /** What is open stays. */
  const list = (wanted: Filter) => {
    const address = studio.address.value
    studio.go(address.page === 'chats' ? { ...address, filter: wanted } : { page: 'chats', filter: wanted })
  }
  const narrow = (change: Change) => {
    list(given({ ...filter, ...change }))
  }
  const state = sessions.state.value
  const [said, setSaid] = useState('')
  const isNarrow = Object.keys(filter).length > 0
  const isEmpty = useComputed(() => sessions.total.value === 0).value
  // The total that changes with every chat is not said, but the first that comes is.
  // biome-ignore lint/correctness/useExhaustiveDependencies: said when a list was read, not when it changes
  useEffect(() => {
    if (state === 'ready') setSaid(sessions.total.value === 0 ? inWords(filter) : countOf(sessions.total.value ?? 0))
  }, [state, isEmpty, filter.agent, filter.status, filter.before])
  useEffect(
    () =>
      repeatWhileSeen(() => {
        clock.value = Date.now()
      }, ageMs),
    [],
  )
  return (
    <nav class="sessions" aria-label="Sessions" tabIndex={-1}>
      <Narrow studio={studio} filter={filter} onNarrow={narrow} />
      <Above studio={studio} filter={filter} onNarrow={narrow} />
      <p class="hidden" role="status">
        {said}
      </p>
      {state === 'failed' ? (
        <p class="about" role="alert">
          Sessions could not be read: {sessions.error.value}{' '}
          <button type="button" onClick={() => sessions.again()}>
            Try again
          </button>
        </p>
      ) : null}
      <Rows studio={studio} sessions={sessions} filter={filter} />
      {state === 'ready' ? (
        <Nothing sessions={sessions} filter={filter} onClear={isNarrow ? () => list({}) : undefined} />
      ) : null}
    </nav>
  )
}

interface NothingProps {
  sessions: SessionList
  filter: Filter
  onClear: (() => void) | undefined
}

function Nothing({ sessions, filter, onClear }: NothingProps): JSX.Element | null {
  sessions.order.value
  if (sessions.length > 0) return null
  if (onClear === undefined) return <p class="about">No session yet.</p>
  return (
    <p class="about">
      {inWords(filter)}.{' '}
      <button type="button" onClick={onClear}>
        Show all sessions
      </button>
    </p>
  )
}

function Rows({ studio, sessions, filter }: SessionsProps & { sessions: SessionList }): JSX.Element | null {
  const order = sessions.order.value
  const isLoading = sessions.state.value === 'loading'
  const total = sessions.total.value
  const openId = studio.chats.conversation.value?.sessionId
  const { length } = sessions
  const { active, choose, goToEnd, scrolledTo } = useActiveRow(sessions, openId, order)
  const open = (id: string) => studio.go({ page: 'chats', sessionId: id, filter })
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const next = placeAfter(event.key, active, length)
    const row = sessions.at(active)
    if (event.key === 'End') goToEnd()
    else if (event.key === 'Home' && sessions.newer.value > 0) sessions.toNewest()
    else if (next !== undefined) choose(next)
    else if (event.key === 'Enter' && row !== undefined) open(row.id)
    else return
    event.preventDefault()
  }
  if (length === 0 && !isLoading) return null
  return (
    <VirtualList
      // As long as the first page takes, rows to come.
      items={{ length: isLoading ? 8 : length, at: (place) => sessions.at(place) }}
      keyOf={({ id }) => id}
      rowHeight={rowHeight}
      active={active}
      returns={sessions.returns.value}
      placeOf={(id) => sessions.placeOf(id)}
      onView={(view) => {
        scrolledTo(view.last)
        sessions.looksAt({ ...view, id: sessions.at(active)?.id })
      }}
      role="listbox"
      label="Sessions"
      isBusy={isLoading}
      onKeyDown={onKeyDown}
      renderMissing={(place) => (
        <div
          class="session"
          role="option"
          aria-disabled="true"
          aria-selected={false}
          tabIndex={place === active ? 0 : -1}
        >
          <span class="skeleton appears">
            <span class="hidden">Reading…</span>
          </span>
        </div>
      )}
      render={(row, at) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
        <div
          class="session"
          role="option"
          aria-selected={row.id === openId}
          aria-setsize={total ?? -1}
          aria-posinset={at + 1}
          tabIndex={at === active ? 0 : -1}
          onClick={() => {
            choose(at)
            open(row.id)
          }}
        >
          <SessionRow row={row} />
        </div>
      )}
    />
  )
}

/** The row that Tab reaches: it stays the same session while others come and go. */
function useActiveRow(sessions: SessionList, openId: string | undefined, order: number) {
  const [chosen, setChosen] = useState<{ id?: string; place: number }>({ place: 0 })
  /** A session that was opened elsewhere, and may not be listed yet. */
  const opened = useRef<string | undefined>(undefined)
  /** The end that is known moves on with each page. */
  const isEnding = useRef(false)
  const place = chosen.id === undefined ? -1 : sessions.placeOf(chosen.id)
  const active = Math.max(0, Math.min(place >= 0 ? place : chosen.place, sessions.length - 1))
  const activeId = sessions.at(active)?.id

  const choose = (at: number) => {
    isEnding.current = false
    opened.current = undefined
    const id = sessions.at(at)?.id
    setChosen({ place: at, ...(id !== undefined && { id }) })
  }
  const goToEnd = () => {
    choose(sessions.length - 1)
    isEnding.current = !sessions.isWhole
  }
  /** Who scrolls away from the end does not want to go there. */
  const scrolledTo = (last: number) => {
    if (last < sessions.length - 2 * pageSize) isEnding.current = false
  }
  useEffect(() => {
    opened.current = openId
  }, [openId])
  const returns = sessions.returns.value
  const returned = useRef(returns)
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at again when rows have come or gone
  useEffect(() => {
    if (returned.current !== returns) {
      returned.current = returns
      choose(0)
    } else if (isEnding.current) goToEnd()
    else if (opened.current !== undefined && sessions.placeOf(opened.current) >= 0)
      choose(sessions.placeOf(opened.current))
    else if (activeId !== undefined && activeId !== chosen.id) setChosen({ id: activeId, place: active })
  }, [order, activeId, openId])
  return { active, choose, goToEnd, scrolledTo }
}
