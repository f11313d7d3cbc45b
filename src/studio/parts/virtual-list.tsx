import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

interface VirtualListProps<T> {
  items: readonly T[]
  keyOf: (item: T) => string
  /** In px; all are as high. */
  rowHeight: number
  /** The row that can be reached by Tab, which stays mounted. */
  active: number
  render: (item: T, place: number) => ComponentChildren
  /** The end is near. */
  onEnd?: (() => void) | undefined
  role: 'listbox' | 'treegrid'
  label: string
  /** Of a grid. */
  rowCount?: number
  onKeyDown?: (event: KeyboardEvent) => void
}

/** Rows that are looked at and some around them, wherever in a long list. */
const around = 8

/** Shows the rows in view only, however many there are. */
export function VirtualList<T>(props: VirtualListProps<T>): JSX.Element {
  const { items, keyOf, rowHeight, active, render, onEnd, role, label, rowCount, onKeyDown } = props
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 600 })

  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight })
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    element.addEventListener('scroll', measure, { passive: true })
    measure()
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', measure)
    }
  }, [])

  const first = Math.max(0, Math.floor(view.top / rowHeight) - around)
  const last = Math.min(items.length, Math.ceil((view.top + view.height) / rowHeight) + around)
  const isNearEnd = last >= items.length - around
  // Also when rows were added that don't fill the view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again when there are more rows, and are still too few.
  useEffect(() => {
    if (isNearEnd) onEnd?.()
  }, [isNearEnd, items.length])

  useLayoutEffect(() => {
    const element = box.current
    if (element === null || active < 0) return
    const top = active * rowHeight
    if (top < element.scrollTop) element.scrollTop = top
    else if (top + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight - element.clientHeight
  }, [active, rowHeight])

  const places = Array.from({ length: Math.max(0, last - first) }, (_, offset) => first + offset)
  if (active >= 0 && active < items.length && !places.includes(active)) places.push(active)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: both roles have keys
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles have a label
    <div
      class="virtual"
      ref={box}
      role={role}
      aria-label={label}
      aria-rowcount={rowCount}
      onKeyDown={onKeyDown}
      tabIndex={-1}
    >
      <div class="virtual-all" style={{ height: `${items.length * rowHeight}px` }} role="presentation">
        {places.map((place) => {
          const item = items[place]
          if (item === undefined) return null
          return (
            <div
              key={keyOf(item)}
              class="virtual-row"
              role="presentation"
              style={{ transform: `translateY(${place * rowHeight}px)`, height: `${rowHeight}px` }}
            >
              {render(item, place)}
            </div>
          )
        })}
      </div>
    </div>
  )
}
