import { Fragment, type JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import type { RunEvent } from '../../../core/event.ts'
import type { Json } from '../../../core/json.ts'
import { factsOf } from '../../../core/steps/facts.ts'
import type { EventOf, Step } from '../../../core/steps/step.ts'
import { CopyButton } from '../../parts/copy.tsx'
import { JsonTree } from '../../parts/json-tree.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { type View, views } from '../../state/address/address.ts'
import type { RunEvents } from '../../state/run/events.ts'
import type { Studio } from '../../state/studio.ts'
import { Gave } from './gave.tsx'
import { Passages } from './passages.tsx'
import { Prompt } from './prompt.tsx'
import { Settings } from './settings.tsx'
import { type Told, useTold } from './told.ts'
import { ToldTools } from './told-tools.tsx'

interface InspectorProps {
  studio: Studio
  runId: string
  events: RunEvents
  step: Step
  view: View | undefined
  onView: (view: View) => void
  /** To the list of all events of the run. */
  onEvents: () => void
}

/** What went into a step and what came of it. */
export function Inspector(props: InspectorProps): JSX.Element {
  const { studio, runId, events, step, onView, onEvents } = props
  // What is still written in a step is shown as it comes; of all else only what changes the steps.
  if (step.endMs === undefined) events.changes.value
  const mayPrompts = studio.can('prompts')
  const { kind, number = 0, searches } = step
  const isCall = kind === 'model'
  const callId = isCall && mayPrompts ? step.callId : undefined
  const told = useTold(studio.client, runId, callId, events.calls[number - 2], step.endMs !== undefined)
  const tabs = views.filter((view) => {
    if (view === 'passages') return searches.length > 0
    if (view === 'gave') return kind !== 'search'
    return view === 'raw' || (isCall && mayPrompts)
  })
  const view = tabs.find((one) => one === props.view) ?? tabs[0] ?? 'raw'
  // Each time: there may be other tabs.
  useEffect(() =>
    studio.keys.on({
      tab: (key) => {
        const tab = tabs[Number(key) - 1]
        if (tab !== undefined) onView(tab)
      },
    }),
  )
  return (
    <section class="inspector" aria-label={`${kind}: ${step.label}`}>
      <p class="facts">{factsOf(step, events).join(' · ')}</p>
      {isCall && !mayPrompts && (
        <p class="about">
          Prompt, tools and settings are for keys with the scope <code>prompts</code>.
        </p>
      )}
      <Tabs
        label="What to show of the step"
        tabs={tabs}
        chosen={view}
        onChoose={onView}
        wordsOf={(tab) => wordsOf(tab, searches, told)}
      >
        <Fragment key={`${runId} ${step.seq}`}>
          {view === 'raw' ? (
            <Raw events={events.of(step)} />
          ) : view === 'passages' ? (
            <Passages studio={studio} runId={runId} searches={searches} events={events} />
          ) : view === 'gave' ? (
            <Gave step={step} events={events} />
          ) : (
            <OfCall view={view} told={told} step={step} onEvents={onEvents} />
          )}
        </Fragment>
      </Tabs>
    </section>
  )
}

function wordsOf(view: View, searches: readonly EventOf<'retrieval'>[], told: Told): string {
  const name = view[0]?.toUpperCase() + view.slice(1)
  if (view === 'passages') return `${name} ${searches.reduce((sum, { results }) => sum + results.length, 0)}`
  const call = told.value?.call
  if (view !== 'tools' || !call?.messages) return name
  return `${name} ${Array.isArray(call.tools) ? call.tools.length : 0}`
}

interface OfCallProps {
  view: View
  told: Told
  step: Step
  onEvents: () => void
}

function OfCall({ view, told: { value, error }, step, onEvents }: OfCallProps): JSX.Element {
  if (value === undefined) return error ? <p role="alert">{error}</p> : <p class="about appears">Reading…</p>
  const { call, before } = value
  // Tools and settings are told by the same record.
  if (!Array.isArray(call.messages))
    return (
      <p>
        Some messages of the prompt are gone. What the record has of the call is among the{' '}
        <button type="button" onClick={onEvents}>
          events of the run
        </button>
        .
      </p>
    )
  if (view === 'tools') return <ToldTools tools={call.tools} calls={step.toolCalls} />
  if (view === 'settings') return <Settings call={call} />
  return <Prompt messages={call.messages} before={before} number={step.number ?? 0} />
}

const atOnce = 100

function Raw({ events }: { events: readonly RunEvent[] }): JSX.Element {
  return (
    <>
      <CopyButton text={() => JSON.stringify(events, undefined, 2)} label="Copy the events as JSON" />
      {events.slice(0, atOnce).map((event) => (
        <JsonTree key={event.seq} name={`${event.seq} ${event.type}`} value={event as unknown as Json} />
      ))}
      {events.length > atOnce && <p class="about">and {events.length - atOnce} more</p>}
    </>
  )
}
