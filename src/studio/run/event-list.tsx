import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Json } from '../../core/json.ts'
import type { RunEvent } from '../../wire/event.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import { placeAfter } from '../parts/list-keys.ts'
import { VirtualList } from '../parts/virtual-list.tsx'

interface EventListProps {
  events: readonly RunEvent[]
  /** Grows with each event: the list is the same object. */
  count: number
}

const rowHeight = 26

/** Every event as it is recorded, however many there are; the chosen one whole. */
export function EventList({ events }: EventListProps): JSX.Element {
  const [place, setPlace] = useState(0)
  const chosen = events[place]
  const onKeyDown = (event: KeyboardEvent) => {
    const next = placeAfter(event.key, place, events.length)
    if (next === undefined) return
    event.preventDefault()
    setPlace(next)
  }
  return (
    <>
      <VirtualList
        items={events}
        keyOf={({ seq, type }) => `${seq} ${type}`}
        rowHeight={rowHeight}
        active={Math.min(place, events.length - 1)}
        role="listbox"
        label="Events of the run"
        onKeyDown={onKeyDown}
        render={(event, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
          <div
            class="event"
            role="option"
            aria-selected={at === place}
            aria-setsize={events.length}
            aria-posinset={at + 1}
            tabIndex={at === place ? 0 : -1}
            onClick={() => setPlace(at)}
          >
            <code>{event.seq}</code> {event.type} <span class="more">{inShort(event)}</span>
          </div>
        )}
      />
      {chosen === undefined ? null : (
        <div class="panel">
          <JsonTree key={chosen.seq} value={chosen as unknown as Json} />
        </div>
      )}
    </>
  )
}

function inShort(event: RunEvent): string {
  if ('text' in event) return JSON.stringify(event.text).slice(0, 80)
  if ('name' in event) return event.name
  if ('model' in event && event.model !== undefined) return event.model
  if ('query' in event) return event.query
  return 'status' in event ? event.status : ''
}
