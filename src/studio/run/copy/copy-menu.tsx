import type { JSX, TargetedKeyboardEvent } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useCopying } from '../../parts/copy.tsx'
import { placeAfter } from '../../parts/layout/list-keys.ts'
import type { KeyId } from '../../state/key-table.ts'
import type { OpenedRun } from '../../state/opened-run.ts'
import type { Studio } from '../../state/studio.ts'
import { copyAs } from './copy-as.ts'

interface CopyMenuProps {
  studio: Studio
  opened: OpenedRun
}

const kinds = ['curl', 'client', 'chat', 'markdown', 'id', 'link'] as const
type Kind = (typeof kinds)[number]

const rows: Readonly<Record<Kind, { words: string; key?: KeyId; keys?: string }>> = {
  curl: { words: 'curl', key: 'copy-curl', keys: 'c u' },
  client: { words: 'TypeScript', key: 'copy-client', keys: 'c t' },
  chat: { words: 'useChat in React' },
  markdown: { words: 'Markdown for a model', key: 'copy-markdown', keys: 'c m' },
  link: { words: 'link', key: 'copy-link', keys: 'c l' },
  id: { words: 'id of the run' },
}

/** The run in the form that is needed elsewhere. */
export function CopyMenu({ studio, opened }: CopyMenuProps): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  const { copy, said, forget, dialog } = useCopying()
  const take = (kind: Kind) => {
    setOpen(false)
    copy(() => copyAs(kind, studio, opened))
  }
  useEffect(() => {
    const handlers = kinds.flatMap((kind) => {
      const { key } = rows[kind]
      return key === undefined ? [] : [[key, () => take(kind)] as const]
    })
    return studio.keys.on(Object.fromEntries(handlers))
  })
  // Before another key can come.
  useLayoutEffect(() => {
    if (!isOpen) return
    menu.current?.querySelector('button')?.focus()
    const leave = ({ target }: Event) => {
      if (target instanceof Node && !menu.current?.contains(target) && !button.current?.contains(target)) setOpen(false)
    }
    document.addEventListener('pointerdown', leave)
    return () => document.removeEventListener('pointerdown', leave)
  }, [isOpen])
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const items = [...event.currentTarget.querySelectorAll('button')]
    const place = items.indexOf(document.activeElement as HTMLButtonElement)
    const next = placeAfter(event.key, place, items.length)
    if (event.key === 'Tab') setOpen(false)
    else if (event.key === 'Escape' || next !== undefined) {
      event.preventDefault()
      if (next === undefined) close()
      else items[next]?.focus()
    }
  }
  return (
    <div class="menu">
      <button
        type="button"
        ref={button}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        onBlur={forget}
      >
        Copy
      </button>
      <span role="status" class="about">
        {said}
      </span>
      {isOpen ? (
        <div role="menu" ref={menu} aria-label="Copy the run as" onKeyDown={onKeyDown}>
          {kinds.map((kind) => (
            <button
              key={kind}
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => {
                close()
                take(kind)
              }}
            >
              {rows[kind].words} {rows[kind].keys === undefined ? null : <kbd>{rows[kind].keys}</kbd>}
            </button>
          ))}
        </div>
      ) : null}
      {dialog}
    </div>
  )
}
