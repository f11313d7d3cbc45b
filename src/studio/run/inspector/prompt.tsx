import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { isJsonObject, type Json } from '../../../core/json.ts'
import { counted, formatBytes } from '../../../core/text/format.ts'
import { JsonTree } from '../../parts/json-tree.tsx'
import { Said } from '../../parts/long-text.tsx'

interface PromptProps {
  messages: readonly Json[]
  /** Of the call before in the same run; null without one. */
  before: Json
  /** Of this call, from 1. */
  number: number
}

const atOnce = 40

/** The messages as the model was told them; those of the call before are folded, and what is new is marked. */
export function Prompt({ messages, before, number }: PromptProps): JSX.Element {
  const [isUnfolded, setUnfolded] = useState(false)
  const [count, setCount] = useState(atOnce)
  const { same, isNew } = useMemo(() => compare(messages, before), [messages, before])
  const from = isUnfolded ? 0 : same
  const shown = messages.slice(from, from + count)
  const left = messages.length - from - shown.length
  return (
    <>
      <p class="about">What the model’s library was given, after all hooks; not the provider’s HTTP body.</p>
      {same > 0 && (
        <p class="folded">
          first {counted(same, 'message')} as in call {number - 1}{' '}
          <button type="button" aria-expanded={isUnfolded} onClick={() => setUnfolded(!isUnfolded)}>
            {isUnfolded ? 'hide' : 'show'}
          </button>
        </p>
      )}
      <ol class="prompt" start={from + 1}>
        {shown.map((message, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages have nothing but their place
          <li key={from + place} class={isNew(from + place) ? 'new' : undefined}>
            <PromptMessage message={message} isNew={isNew(from + place)} />
          </li>
        ))}
      </ol>
      {left > 0 && (
        <button type="button" onClick={() => setCount(count + atOnce)}>
          {counted(left, 'more message')}
        </button>
      )}
    </>
  )
}

/** How many messages both begin with, and which are in this call only. */
function compare(messages: readonly Json[], before: Json): { same: number; isNew: (place: number) => boolean } {
  const texts = messages.map((message) => JSON.stringify(message))
  const earlier = Array.isArray(before) ? before.map((message) => JSON.stringify(message)) : []
  const differs = texts.findIndex((text, place) => text !== earlier[place])
  const known = new Set(earlier)
  return {
    same: differs === -1 ? texts.length : differs,
    isNew: (place) => known.size > 0 && !known.has(texts[place] ?? ''),
  }
}

const names: Readonly<Record<string, string>> = { system: 'instructions' }

function PromptMessage({ message, isNew }: { message: Json; isNew: boolean }): JSX.Element {
  const { role, content } = isJsonObject(message) ? message : { role: 'message', content: message }
  const parts = Array.isArray(content) ? content : [content ?? null]
  return (
    <>
      <strong>{names[String(role)] ?? String(role)}</strong>
      {isNew && <span class="mark">new</span>}
      {parts.map((part, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts have nothing but their place
        <PromptPart key={place} part={part} />
      ))}
    </>
  )
}

function PromptPart({ part }: { part: Json }): JSX.Element {
  if (typeof part === 'string') return <Said text={part} />
  if (!isJsonObject(part)) return <JsonTree value={part} />
  const { type, text, toolName } = part
  if (typeof text === 'string') return <Named text={text} name={type === 'text' ? undefined : String(type)} />
  if (type === 'file' || type === 'image') return <File part={part} />
  if (type === 'tool-call') return <ToolPart name={`calls ${toolName}`} value={part.input ?? null} />
  if (type === 'tool-result') return <ToolPart name={`${toolName} gave`} value={outputOf(part.output ?? null)} />
  return <JsonTree name={String(type)} value={part} open />
}

function Named({ text, name }: { text: string; name: string | undefined }): JSX.Element {
  return (
    <>
      {name && <p class="about">{name}</p>}
      <Said text={text} />
    </>
  )
}

function ToolPart({ name, value }: { name: string; value: Json }): JSX.Element {
  return typeof value === 'string' ? <Named text={value} name={name} /> : <JsonTree name={name} value={value} open />
}

function File({ part: { mediaType, filename, size, data = null } }: { part: { [key: string]: Json } }): JSX.Element {
  const url = isJsonObject(data) ? data.url : data
  const told = [
    mediaType ?? 'file',
    typeof size === 'number' && formatBytes(size),
    typeof url === 'string' && /^https?:/.test(url) && url,
  ]
  return (
    <p class="file" dir="auto">
      {String(filename ?? 'file')} ({told.filter(Boolean).join(', ')})
    </p>
  )
}

/** What a tool gave, out of what the library wraps around it. */
function outputOf(output: Json): Json {
  return isJsonObject(output) && 'value' in output && typeof output.type === 'string' ? (output.value ?? null) : output
}
