import type { ComponentChildren, JSX, TargetedKeyboardEvent } from 'preact'
import { useId } from 'preact/hooks'

interface TabBarProps<Tab extends string> {
  label: string
  tabs: readonly Tab[]
  /** What stands on it; without it, its name. */
  wordsOf?: (tab: Tab) => ComponentChildren
  chosen: Tab
  onChoose: (tab: Tab) => void
  /** Of the panel and of each tab begins with it. */
  id?: string
}

const moves: Readonly<Record<string, (place: number, count: number) => number>> = {
  ArrowRight: (place, count) => (place + 1) % count,
  ArrowLeft: (place, count) => (place + count - 1) % count,
  Home: () => 0,
  End: (_place, count) => count - 1,
}

/** What can be chosen. Arrow keys choose, as in the WAI-ARIA pattern. */
export function TabBar<Tab extends string>(props: TabBarProps<Tab>): JSX.Element {
  const { label, tabs, wordsOf = (tab) => tab, chosen, onChoose, id } = props
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const place = moves[event.key]?.(tabs.indexOf(chosen), tabs.length)
    const tab = place === undefined ? undefined : tabs[place]
    if (tab === undefined) return
    event.preventDefault()
    onChoose(tab)
    event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')[place ?? 0]?.focus()
  }
  return (
    <div role="tablist" class="tabs" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map((tab) => (
        <button
          key={tab}
          type="button"
          role="tab"
          id={id === undefined ? undefined : `${id}-${tab}`}
          aria-selected={tab === chosen}
          aria-controls={id === undefined ? undefined : `${id}-panel`}
          tabIndex={tab === chosen ? 0 : -1}
          onClick={() => onChoose(tab)}
        >
          {wordsOf(tab)}
        </button>
      ))}
    </div>
  )
}

/** Tabs over the panel with what is chosen. */
export function Tabs<Tab extends string>(props: TabBarProps<Tab> & { children: ComponentChildren }): JSX.Element {
  const { children, ...bar } = props
  const id = useId()
  return (
    <>
      <TabBar {...bar} id={id} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is longer than the panel is scrolled to by keys */}
      <div role="tabpanel" class="panel" id={`${id}-panel`} aria-labelledby={`${id}-${bar.chosen}`} tabIndex={0}>
        {children}
      </div>
    </>
  )
}
