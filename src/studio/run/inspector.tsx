import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Client } from '../../client/client.ts'
import type { Json } from '../../core/json.ts'
import type { RunEvent } from '../../wire/event.ts'
import type { RunTrace } from '../../wire/run-trace.ts'
import { CopyButton } from '../parts/copy.tsx'
import { JsonTree } from '../parts/json-tree.tsx'
import { Markdown } from '../parts/markdown.tsx'
import type { View } from '../state/address.ts'
import type { RunEvents } from '../state/events.ts'
import { messageOf } from '../state/message-of.ts'
import type { Step } from '../state/steps.ts'
import { Passages } from './passages.tsx'

type Call = RunTrace['calls'][number]
type Traced = { call: Call } | { error: string } | undefined

interface InspectorProps {
  client: Client
  /** Whether the key may see prompts. */
  prompts: boolean
  runId: string
  events: RunEvents
  step: Step
  view: View | undefined
  onView: (view: View) => void
}

/** What went into a step and what came of it. */
export function Inspector(props: InspectorProps): JSX.Element {
  const { client, prompts, runId, events, step, onView } = props
  const traced = useCall(client, prompts && step.kind === 'model' ? runId : undefined, step.callId)
  const tabs = tabsOf(step, prompts)
  const view = tabs.find((one) => one === props.view) ?? tabs[0] ?? 'raw'
  return (
    <section class="inspector" aria-label={`${step.kind}: ${step.label}`}>
      <div role="tablist" class="tabs" aria-label="What to show of the step">
        {tabs.map((tab) => (
          <button key={tab} type="button" role="tab" aria-selected={tab === view} onClick={() => onView(tab)}>
            {tab}
          </button>
        ))}
      </div>
      <div role="tabpanel" class="panel" aria-label={view}>
        <Shown view={view} step={step} events={events} traced={traced} />
      </div>
    </section>
  )
}

function tabsOf({ kind }: Step, prompts: boolean): View[] {
  if (kind === 'model') return prompts ? ['prompt', 'gave', 'tools', 'settings', 'raw'] : ['gave', 'raw']
  if (kind === 'search') return ['passages', 'raw']
  return ['gave', 'raw']
}

interface ShownProps {
  view: View
  step: Step
  events: RunEvents
  traced: Traced
}

function Shown({ view, step, events, traced }: ShownProps): JSX.Element {
  const own = eventsOf(step, events.all)
  if (view === 'raw') return <Raw events={own} />
  const [first] = own
  if (view === 'passages' && first?.type === 'retrieval') return <Passages retrieval={first} />
  if (step.kind !== 'model') return <Gave events={own} />
  if (view === 'gave' && traced === undefined) return <Gave events={own} />
  if (traced === undefined) return <p>Reading…</p>
  if ('error' in traced) return <p role="alert">{traced.error}</p>
  const { call } = traced
  if (view === 'prompt') return <Prompt messages={call.messages} />
  if (view === 'tools')
    return call.tools === null ? <p>The model was told of no tools.</p> : <JsonTree value={call.tools} />
  if (view === 'settings') return <JsonTree value={call.settings ?? {}} />
  return call.text === '' ? <Gave events={own} /> : <Markdown text={call.text} />
}

function Prompt({ messages }: { messages: Json }): JSX.Element {
  if (!Array.isArray(messages)) return <p>The prompt can not be made whole again: parts of it have been deleted.</p>
  return (
    <ol class="prompt">
      {messages.map((message, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages have nothing but their place
        <li key={place}>
          <PromptMessage message={message} />
        </li>
      ))}
    </ol>
  )
}

function PromptMessage({ message }: { message: Json }): JSX.Element {
  const isObject = typeof message === 'object' && message !== null && !Array.isArray(message)
  const { role, content } = isObject ? message : { role: 'message', content: message }
  const parts = Array.isArray(content) ? content : [content ?? null]
  return (
    <>
      <strong>{String(role)}</strong>
      {parts.map((part, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts have nothing but their place
        <PromptPart key={place} part={part} />
      ))}
    </>
  )
}

function PromptPart({ part }: { part: Json }): JSX.Element {
  const text = typeof part === 'string' ? part : textOf(part)
  if (text === undefined) return <JsonTree value={part} />
  return (
    <pre class="said" dir="auto">
      {text}
    </pre>
  )
}

function textOf(part: Json): string | undefined {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return undefined
  return part.type === 'text' && typeof part.text === 'string' ? part.text : undefined
}

function Gave({ events }: { events: readonly RunEvent[] }): JSX.Element {
  return (
    <>
      {events.map((event) => {
        const { run_id: _run, seq, at: _at, type, ...rest } = event
        return <JsonTree key={seq} name={type} value={rest as Json} open />
      })}
    </>
  )
}

function Raw({ events }: { events: readonly RunEvent[] }): JSX.Element {
  return (
    <>
      <CopyButton text={JSON.stringify(events, undefined, 2)} label="Copy the events as JSON" />
      {events.map((event) => (
        <JsonTree key={event.seq} name={`${event.seq} ${event.type}`} value={event as unknown as Json} />
      ))}
    </>
  )
}

/** The events that say how a step began, what it gave and how it ended. */
function eventsOf({ seq, callId }: Step, all: readonly RunEvent[]): RunEvent[] {
  return all.filter((event) => {
    if (event.seq === seq) return true
    if (callId === undefined) return false
    return ('call_id' in event && event.call_id === callId) || ('step_id' in event && event.step_id === callId)
  })
}

/** The prompt and the answer of one model call, read when it is looked at. */
function useCall(client: Client, runId: string | undefined, callId: string | undefined): Traced {
  const [traced, setTraced] = useState<{ callId: string; traced: Traced }>()
  useEffect(() => {
    if (runId === undefined || callId === undefined) return
    const reading = new AbortController()
    client.runs.trace(runId, { call: callId, signal: reading.signal }).then(
      ({ calls: [call] }) => {
        const found = call === undefined ? { error: 'This call is not in the record.' } : { call }
        setTraced({ callId, traced: found })
      },
      (error: unknown) => {
        if (reading.signal.aborted) return
        setTraced({ callId, traced: { error: messageOf(error) } })
      },
    )
    return () => reading.abort()
  }, [client, runId, callId])
  return traced?.callId === callId ? traced?.traced : undefined
}
