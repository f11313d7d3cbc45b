import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Json } from '../../core/json.ts'
import { isBase64 } from '../../core/text/base64.ts'
import { CopyButton } from './copy.tsx'
import { LongText } from './long-text.tsx'

/** More are shown on demand, so that a large value costs nothing until it is looked at. */
const atOnce = 100
const longest = 2000

interface JsonTreeProps {
  value: Json
  name?: string
  /** Opened at first; a value without a name always is. */
  open?: boolean
}

/** JSON that opens level by level. */
export function JsonTree({ value, name, open = name === undefined }: JsonTreeProps): JSX.Element {
  if (typeof value !== 'object' || value === null) return <Leaf value={value} name={name} />
  return <Branch value={value} name={name} open={open} />
}

function Leaf({ value, name }: { value: string | number | boolean | null; name: string | undefined }): JSX.Element {
  const isFile = typeof value === 'string' && isBase64(value)
  return (
    <div class="json">
      {name === undefined ? null : <span class="name">{name}: </span>}
      <span class={typeof value} dir="auto">
        {typeof value === 'string' ? <LongText text={value} cut={longest} /> : JSON.stringify(value)}
      </span>
      {isFile ? <CopyButton text={value} label="Copy the base64" /> : null}
    </div>
  )
}

interface BranchProps {
  value: Json[] | { [key: string]: Json }
  name: string | undefined
  open: boolean
}

function Branch({ value, name, open }: BranchProps): JSX.Element {
  const [isOpen, setOpen] = useState(open)
  const [count, setCount] = useState(atOnce)
  const entries = useMemo(() => Object.entries(value), [value])
  const what = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`
  return (
    <details class="json" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {name === undefined ? null : <span class="name">{name}: </span>}
        {what}
      </summary>
      {isOpen ? entries.slice(0, count).map(([key, item]) => <JsonTree key={key} name={key} value={item} />) : null}
      {isOpen && entries.length > count ? (
        <button type="button" class="quiet" onClick={() => setCount(count + atOnce)}>
          {entries.length - count} more
        </button>
      ) : null}
    </details>
  )
}
