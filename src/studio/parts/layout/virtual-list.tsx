import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { textScale, useNarrow } from './narrow.ts'

/** An array, or something as long of which parts are not there yet. */
interface Items<T> {
  readonly length: number
  at(place: number): T | undefined
}

/** The rows from `first` to before `last` are in view. */
export interface View {
  first: number
  last: number
  /** Nothing is scrolled. */
  isAtTop: boolean
}

interface VirtualListProps<T> {
  items: Items<T>
  keyOf: (item: T) => string
  /** In px for text of the usual size; all are as high. By default as high as what is pressed has to be. */
  rowHeight?: number
  /** The row that can be reached by Tab, which stays mounted. It has the focus while another row had it. */
  active: number
  render: (item: T, place: number) => ComponentChildren
  /** A row whose item is not there. */
  renderMissing?: ((place: number) => ComponentChildren) | undefined
  /** Where the item with the key is now, or -1. With it, rows in view keep their place when others come or go above them. */
  placeOf?: ((key: string) => number) | undefined
  /** When it changes, the list goes to its top and has the focus. */
  returns?: number | undefined
  /** After each change of the view or the items. */
  onView?: ((view: View) => void) | undefined
  /** The end is near. */
  onEnd?: (() => void) | undefined
  role: 'listbox' | 'treegrid'
  label: string
  /** Of a grid. */
  rowCount?: number | undefined
  /** Rows are being read. */
  isBusy?: boolean | undefined
  onKeyDown?: ((event: KeyboardEvent) => void) | undefined
}

/** Rows that are looked at and some around them, wherever in a long list. */
const around = 8

/** Shows the rows in view only, however many there are. */
export function VirtualList<T>(props: VirtualListProps<T>): JSX.Element {
  const { items, keyOf, active, render, renderMissing, returns } = props
  const least = useNarrow() ? 44 : 26
  const rowHeight = (props.rowHeight ?? least) * textScale.value
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState<View>({ first: 0, last: Math.ceil(600 / rowHeight), isAtTop: true })
  const keyAt = (place: number) => {
    const item = items.at(place)
    return item === undefined ? `at ${place}` : keyOf(item)
  }

  const measure = () => {
    if (box.current === null) return
    const { scrollTop, clientHeight } = box.current
    const first = Math.floor(scrollTop / rowHeight)
    const last = Math.ceil((scrollTop + clientHeight) / rowHeight)
    const isAtTop = scrollTop < 1
    setView((old) =>
      old.first === first && old.last === last && old.isAtTop === isAtTop ? old : { first, last, isAtTop },
    )
  }
  const before = useRef(rowHeight)
  // biome-ignore lint/correctness/useExhaustiveDependencies: nothing else in it changes
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    // The same rows are in view.
    element.scrollTop *= rowHeight / before.current
    before.current = rowHeight
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [rowHeight])

  const returned = useRef(returns)
  useLayoutEffect(() => {
    if (returned.current === returns || box.current === null) return
    returned.current = returns
    box.current.scrollTop = 0
    box.current.focus({ preventScroll: true })
  }, [returns])
  useKeptPlaces(box, props, view, keyAt, rowHeight)
  useActive(box, active, keyAt(active), rowHeight)
  useLayoutEffect(measure)
  useViewed(props, view)

  const first = Math.max(0, view.first - around)
  const last = Math.min(items.length, view.last + around)
  const places = Array.from({ length: Math.max(0, last - first) }, (_, offset) => first + offset)
  if (active >= 0 && active < items.length && !places.includes(active)) places.push(active)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: both roles have keys
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles have a label
    <div
      class="virtual"
      ref={box}
      role={props.role}
      aria-label={props.label}
      aria-rowcount={props.rowCount}
      aria-busy={props.isBusy}
      onKeyDown={props.onKeyDown}
      onScroll={measure}
      tabIndex={-1}
    >
      <div class="virtual-all" style={{ height: `${items.length * rowHeight}px` }} role="presentation">
        {places.map((place) => {
          const item = items.at(place)
          if (item === undefined && renderMissing === undefined) return null
          return (
            <div
              key={keyAt(place)}
              class="virtual-row"
              role="presentation"
              data-active={place === active ? '' : undefined}
              style={{ transform: `translateY(${place * rowHeight}px)`, height: `${rowHeight}px` }}
            >
              {item === undefined ? renderMissing?.(place) : render(item, place)}
            </div>
          )
        })}
      </div>
    </div>
  )
}

type Box = { readonly current: HTMLElement | null }

/** Scrolls by what came or went above the rows in view. */
function useKeptPlaces<T>(
  box: Box,
  { items, placeOf }: VirtualListProps<T>,
  view: View,
  keyAt: (place: number) => string,
  rowHeight: number,
): void {
  const inView = useRef<{ key: string; place: number }[]>([])
  useLayoutEffect(() => {
    const element = box.current
    if (element === null || placeOf === undefined) return
    const kept = inView.current.find(({ key }) => placeOf(key) >= 0)
    const moved = kept === undefined ? 0 : placeOf(kept.key) - kept.place
    if (moved !== 0 && element.scrollTop >= 1) element.scrollTop += moved * rowHeight
    const first = view.first + moved
    const last = Math.min(items.length, view.last + moved)
    inView.current = Array.from({ length: Math.max(0, last - first) }, (_, offset) => ({
      key: keyAt(first + offset),
      place: first + offset,
    }))
  })
}

/** Another row is active: it is in view, and has the focus if a row of the list had it. */
function useActive(box: Box, active: number, key: string, rowHeight: number): void {
  const shown = useRef<{ key: string; place: number } | undefined>(undefined)
  // Before the rows change: one that goes takes the focus with it.
  const hadFocus = box.current?.contains(document.activeElement) === true
  useLayoutEffect(() => {
    const element = box.current
    if (element === null || active < 0) return
    const before = shown.current
    shown.current = { key, place: active }
    const isOther = before?.key !== key
    // In the same place only what stands there has changed.
    if (isOther && before?.place !== active) {
      const top = active * rowHeight
      if (top < element.scrollTop) element.scrollTop = top
      else if (top + rowHeight > element.scrollTop + element.clientHeight)
        element.scrollTop = top + rowHeight - element.clientHeight
    }
    const isLost = !element.contains(document.activeElement)
    if (hadFocus && (isOther || isLost))
      element.querySelector<HTMLElement>('[data-active] [tabindex="0"]')?.focus({ preventScroll: true })
  })
}

function useViewed<T>({ items, onView, onEnd }: VirtualListProps<T>, view: View): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: told when what is seen changes, not when who hears it does
  useEffect(() => onView?.(view), [view, items])
  const isNearEnd = view.last + around >= items.length - around
  // Also when rows were added that don't fill the view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again when there are more rows, and are still too few.
  useEffect(() => {
    if (isNearEnd) onEnd?.()
  }, [isNearEnd, items.length])
}
