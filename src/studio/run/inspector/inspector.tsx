import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import type { RunEvent } from '../../../core/event.ts'
import type { Json } from '../../../core/json.ts'
import { factsOf } from '../../../core/steps/facts.ts'
import type { EventOf, Step } from '../../../core/steps/step.ts'
import { CopyButton } from '../../parts/copy.tsx'
import { JsonTree } from '../../parts/json-tree.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { type View, views } from '../../state/address.ts'
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
  const mayPrompts = studio.can('prompts')
  const { number = 0, searches } = step
  const call = events.calls[number - 1]
  const before = events.calls[number - 2]
  const isOver = step.endMs !== undefined
  const told = useTold(studio.client, mayPrompts && call !== undefined ? runId : undefined, call, before, isOver)
  const tabs = tabsOf(step, mayPrompts, searches.length > 0)
  const view = tabs.find((one) => one === props.view) ?? tabs[0] ?? 'raw'
  const shownTabs = tabs.join()
  useEffect(
    () =>
      studio.keys.on({
        tab: (key) => {
          const tab = shownTabs.split(',')[Number(key) - 1] as View | undefined
          if (tab !== undefined) onView(tab)
        },
      }),
    [studio, shownTabs, onView],
  )
  return (
    <section class="inspector" aria-label={`${step.kind}: ${step.label}`}>
      <p class="facts">{factsOf(step, events).join(' · ')}</p>
      {call !== undefined && !mayPrompts ? (
        <p class="about">
          Prompt, tools and settings are for keys with the scope <code>prompts</code>.
        </p>
      ) : null}
      <Tabs
        label="What to show of the step"
        tabs={tabs}
        chosen={view}
        onChoose={onView}
        wordsOf={(tab) => wordsOf(tab, searches, told)}
      >
        {view === 'raw' ? (
          <Raw key={step.seq} events={events.of(step)} />
        ) : view === 'passages' ? (
          <Passages key={step.seq} studio={studio} runId={runId} searches={searches} events={events} />
        ) : view === 'gave' || call === undefined ? (
          <Gave key={step.seq} step={step} events={events} />
        ) : (
          <OfCall key={step.seq} view={view} told={told} record={call} onEvents={onEvents} />
        )}
      </Tabs>
    </section>
  )
}

function tabsOf({ kind }: Step, mayPrompts: boolean, hasPassages: boolean): View[] {
  const shown: View[] = ['raw']
  if (hasPassages) shown.push('passages')
  if (kind !== 'search') shown.push('gave')
  if (kind === 'model' && mayPrompts) shown.push('prompt', 'tools', 'settings')
  return views.filter((view) => shown.includes(view))
}

function wordsOf(view: View, searches: readonly EventOf<'retrieval'>[], told: Told): string {
  const name = view[0]?.toUpperCase() + view.slice(1)
  if (view === 'passages') return `${name} ${searches.reduce((sum, { results }) => sum + results.length, 0)}`
  if (view !== 'tools' || told === undefined || 'error' in told || told.call.messages === null) return name
  return `${name} ${Array.isArray(told.call.tools) ? told.call.tools.length : 0}`
}

interface OfCallProps {
  view: View
  told: Told
  record: Step
  onEvents: () => void
}

function OfCall({ view, told, record, onEvents }: OfCallProps): JSX.Element {
  if (told === undefined) return <p class="about appears">Reading…</p>
  if ('error' in told) return <p role="alert">{told.error}</p>
  const { call, before } = told
  // Tools and settings are told by the same record.
  if (!Array.isArray(call.messages)) return <Unknown onEvents={onEvents} />
  if (view === 'tools') return <ToldTools tools={call.tools} calls={record.toolCalls} />
  if (view === 'settings') return <Settings call={call} />
  return <Prompt messages={call.messages} before={before} number={record.number ?? 0} />
}

function Unknown({ onEvents }: { onEvents: () => void }): JSX.Element {
  return (
    <p>
      Some messages of the prompt are gone. What the record has of the call is among the{' '}
      <button type="button" onClick={onEvents}>
        events of the run
      </button>
      .
    </p>
  )
}

const atOnce = 100

function Raw({ events }: { events: readonly RunEvent[] }): JSX.Element {
  const shown = events.slice(0, atOnce)
  return (
    <>
      <CopyButton text={() => JSON.stringify(events, undefined, 2)} label="Copy the events as JSON" />
      {shown.map((event) => (
        <JsonTree key={event.seq} name={`${event.seq} ${event.type}`} value={event as unknown as Json} />
      ))}
      {events.length > shown.length ? <p class="about">and {events.length - shown.length} more</p> : null}
    </>
  )
}
