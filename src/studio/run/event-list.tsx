import type { ReadonlySignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { eventText, type RunEvent } from '../../core/event.ts'
import type { Json } from '../../core/json.ts'
import { formatCount } from '../../core/text/format.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import { placeAfter } from '../parts/layout/list-keys.ts'
import { VirtualList } from '../parts/layout/virtual-list.tsx'

interface EventListProps {
  events: readonly RunEvent[]
  /** Grows with each event: the list is the same object. */
  changes: ReadonlySignal<number>
}

/** Every event as it is recorded, however many there are; the chosen one whole. */
export function EventList({ events, changes }: EventListProps): JSX.Element {
  const change = changes.value
  const [type, setType] = useState('')
  const [chosenSeq, setChosen] = useState<number>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is the same object, whatever came
  const shown = useMemo(
    () => (type === '' ? [...events] : events.filter((event) => event.type === type)),
    [events, type, change],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is the same object, whatever came
  const types = useMemo(() => countsOf(events), [events, change])
  const found = shown.findIndex(({ seq }) => seq === chosenSeq)
  const place = Math.max(0, found)
  const chosen = shown[place]
  const onKeyDown = (event: KeyboardEvent) => {
    const next = placeAfter(event.key, place, shown.length)
    if (next === undefined) return
    event.preventDefault()
    setChosen(shown[next]?.seq)
  }
  return (
    <div class="events">
      <label class="of-type">
        Only{' '}
        <select value={type} onChange={({ currentTarget }) => setType(currentTarget.value)}>
          <option value="">all events</option>
          {types.map(([name, count]) => (
            <option key={name} value={name}>
              {name} {formatCount(count)}
            </option>
          ))}
        </select>
      </label>
      <VirtualList
        items={shown}
        keyOf={({ seq, type: name }) => `${seq} ${name}`}
        active={Math.min(place, shown.length - 1)}
        role="listbox"
        label="Events of the run"
        onKeyDown={onKeyDown}
        render={(event, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
          <div
            class="event"
            role="option"
            aria-selected={at === place}
            aria-setsize={shown.length}
            aria-posinset={at + 1}
            tabIndex={at === place ? 0 : -1}
            onClick={() => setChosen(event.seq)}
          >
            <code>{event.seq}</code> {event.type}{' '}
            <span class="more" dir="auto">
              {inShort(event)}
            </span>
          </div>
        )}
      />
      {chosen === undefined ? null : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what is longer than the panel is scrolled to by keys
        <section class="panel" tabIndex={0} aria-label={`Event ${chosen.seq}`}>
          <JsonTree key={chosen.seq} value={chosen as unknown as Json} />
        </section>
      )}
    </div>
  )
}

function countsOf(events: readonly RunEvent[]): [type: string, count: number][] {
  const counts = new Map<string, number>()
  for (const { type } of events) counts.set(type, (counts.get(type) ?? 0) + 1)
  return [...counts].sort(([one], [other]) => one.localeCompare(other))
}

function inShort(event: RunEvent): string {
  const text = eventText(event)
  if (text !== undefined) return JSON.stringify(text.slice(0, 80))
  // A later version may have other values under these names.
  const { name, model, query, status } = event as object as Partial<Record<string, unknown>>
  return [name, model, query, status].find((value): value is string => typeof value === 'string') ?? ''
}
