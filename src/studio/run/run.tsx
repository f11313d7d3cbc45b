import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { CopyButton } from '../parts/copy.tsx'
import { formatCost, formatCount, formatMs } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { Status } from '../parts/status.tsx'
import type { Address } from '../state/address.ts'
import { isUnderWay } from '../state/conversation.ts'
import type { OpenedRun } from '../state/opened-run.ts'
import type { Studio } from '../state/studio.ts'
import { EventList } from './event-list.tsx'
import { Inspector } from './inspector.tsx'
import { Waterfall } from './waterfall.tsx'

interface RunViewProps {
  studio: Studio
  opened: OpenedRun
  address: Extract<Address, { page: 'chats' }>
}

const modes = ['steps', 'events'] as const
type Mode = (typeof modes)[number]

/** One run: its steps in time, and what is in the one that is chosen. */
export function RunView({ studio, opened, address }: RunViewProps): JSX.Element {
  const { runId, events } = opened
  const [mode, setMode] = useState<Mode>('steps')
  // Drawn again when an event came.
  opened.changes.value
  const run = opened.run.value
  const { steps, totals } = events.steps
  const step = steps.find(({ seq }) => seq === address.seq)
  const show = (change: Partial<typeof address>) => studio.go({ ...address, ...change }, address.seq !== undefined)
  const child = step?.childRunId
  return (
    <section class="run" aria-label={`Run ${runId}`}>
      <header class="bar">
        <h2>{run?.entity_id ?? 'Run'}</h2>
        {run === undefined ? null : <Status status={run.status} />}
        <span>{events.seq === 0 ? '' : formatMs(totals.durationMs)}</span>
        {run === undefined || run.usage === null ? null : (
          <span>
            {formatCount(run.usage.total_tokens)} tokens · {formatCost(run.cost)}
          </span>
        )}
        <code class="id">{runId}</code>
        <CopyButton text={runId} label="Copy the run's id" />
        {run === undefined || run.parent_run_id === null ? null : (
          <a href={studio.urlOf({ ...withoutStep(address), runId: run.parent_run_id })}>inside another run</a>
        )}
        <button
          type="button"
          class="quiet close"
          onClick={() => studio.go(withoutStep(address))}
          aria-label="Close the run"
        >
          <Icon name="close" />
        </button>
      </header>
      <div role="tablist" class="tabs" aria-label="How to show the run">
        {modes.map((one) => (
          <button key={one} type="button" role="tab" aria-selected={one === mode} onClick={() => setMode(one)}>
            {one === 'events' ? `events ${formatCount(events.all.length)}` : one}
          </button>
        ))}
      </div>
      <p role="status">{aboutRun(opened)}</p>
      {mode === 'events' ? (
        <EventList events={events.all} count={opened.changes.value} />
      ) : events.seq === 0 ? null : (
        <Waterfall run={events.steps} selected={address.seq} onSelect={(seq) => show({ seq })} />
      )}
      {mode === 'events' || step === undefined ? null : (
        <>
          {child === undefined ? null : (
            <p class="child">
              <a href={studio.urlOf({ ...withoutStep(address), runId: child })}>The run inside this step</a>
            </p>
          )}
          <Inspector
            client={studio.client}
            prompts={studio.me.value?.can.prompts === true}
            runId={runId}
            events={events}
            step={step}
            view={address.view}
            onView={(view) => show({ view })}
          />
        </>
      )}
    </section>
  )
}

function aboutRun({ run, error, events }: OpenedRun): string {
  if (error.value !== '') return error.value
  if (events.seq > 0) return ''
  return run.value !== undefined && isUnderWay(run.value) ? 'Waiting for its first event…' : 'Reading…'
}

function withoutStep({ sessionId, filter }: RunViewProps['address']): Extract<Address, { page: 'chats' }> {
  return { page: 'chats', filter, ...(sessionId !== undefined && { sessionId }) }
}
