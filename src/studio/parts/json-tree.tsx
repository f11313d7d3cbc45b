import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Json } from '../../core/json.ts'
import { CopyButton } from './copy.tsx'
import { formatBytes, formatCount } from './format.ts'

/** More are shown on demand, so that a large value costs nothing until it is looked at. */
const atOnce = 100
const longest = 2000
/** So many more characters with each click: a page with megabytes of text in one place stops answering. */
const longestStep = 100_000

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
  const [shown, setShown] = useState(longest)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const isBinary = useMemo(() => isBase64(text), [text])
  return (
    <div class="json">
      {name === undefined ? null : <span class="name">{name}: </span>}
      {isBinary ? (
        <span class="more">
          base64, {formatBytes(Math.floor((text.length * 3) / 4))} <CopyButton text={text} label="Copy the base64" />
        </span>
      ) : (
        <span class={typeof value} dir="auto">
          {text.slice(0, shown)}
        </span>
      )}
      {!isBinary && text.length > shown ? (
        <button type="button" class="quiet" onClick={() => setShown(shown + longestStep)}>
          {text.length - shown > longestStep
            ? `show more of ${formatBytes(text.length)}`
            : `show all ${formatCount(text.length)} characters`}
        </button>
      ) : null}
    </div>
  )
}

const shortestBase64 = 256

/** Files inside JSON are no text. The beginning tells: words have blanks, and numbers in hex only small letters. */
export function isBase64(text: string): boolean {
  if (text.length < shortestBase64) return false
  const [, start = ''] = /^(?:data:[^,]{0,200};base64,)?([\s\S]{256,2000})/.exec(text) ?? []
  return /^[A-Za-z0-9+/_=\r\n-]+$/.test(start) && /[A-Z]/.test(start) && /[a-z]/.test(start) && /\d/.test(start)
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
