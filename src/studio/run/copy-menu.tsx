import type { JSX, TargetedKeyboardEvent } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { RunTextForm } from '../../core/run.ts'
import { useCopying } from '../parts/copy.tsx'
import { placeAfter } from '../parts/layout/list-keys.ts'
import type { OpenedRun } from '../state/opened-run.ts'
import type { Studio } from '../state/studio.ts'

interface CopyMenuProps {
  studio: Studio
  opened: OpenedRun
}

type Form = RunTextForm | 'id' | 'link'

/** A form with keys is taken by them as `copy-…` in the table of keys. */
const rows: readonly [form: Form, words: string, keys?: string][] = [
  ['curl', 'curl', 'c u'],
  ['typescript', 'TypeScript', 'c t'],
  ['use-chat', 'useChat in React'],
  ['markdown', 'Markdown for a model', 'c m'],
  ['id', 'id of the run'],
  ['link', 'link', 'c l'],
]

/** The run in the form that is needed elsewhere. */
export function CopyMenu({ studio, opened: { runId } }: CopyMenuProps): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  const { copy, said, forget, dialog } = useCopying()
  const take = (form: Form) => {
    if (form === 'link') copy(location.href)
    else copy(form === 'id' ? runId : () => studio.client.runs.text(runId, { as: form }))
  }
  useEffect(() =>
    studio.keys.on(
      Object.fromEntries(rows.flatMap(([form, , keys]) => (keys ? [[`copy-${form}`, () => take(form)]] : []))),
    ),
  )
  // Before another key can come.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when it is opened
  useLayoutEffect(() => menu.current?.querySelector('button')?.focus(), [isOpen])
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const items = [...event.currentTarget.querySelectorAll('button')]
    const place = items.indexOf(document.activeElement as HTMLButtonElement)
    const next = placeAfter(event.key, place, items.length)
    if (event.key === 'Escape') close()
    else if (next === undefined) return
    if (next !== undefined) items[next]?.focus()
    event.preventDefault()
  }
  return (
    <div
      class="menu"
      tabIndex={-1}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (currentTarget.contains(relatedTarget as Node | null)) return
        setOpen(false)
        forget()
      }}
    >
      <button type="button" ref={button} aria-haspopup="menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Copy
      </button>
      <span role="status" class="about">
        {said}
      </span>
      {isOpen ? (
        <div role="menu" ref={menu} aria-label="Copy the run as" onKeyDown={onKeyDown}>
          {rows.map(([form, words, keys]) => (
            <button
              key={form}
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => {
                close()
                take(form)
              }}
            >
              {words} {keys && <kbd>{keys}</kbd>}
            </button>
          ))}
        </div>
      ) : null}
      {dialog}
    </div>
  )
}
