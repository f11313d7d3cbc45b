import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { CopyButton } from '../parts/copy.tsx'
import { formatCost, formatCount, formatMs } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Status } from '../parts/status.tsx'
import type { Address } from '../state/address.ts'
import { isUnderWay } from '../state/conversation.ts'
import type { OpenedRun } from '../state/opened-run.ts'
import type { Step } from '../state/steps.ts'
import type { Studio } from '../state/studio.ts'
import { EventList } from './event-list.tsx'
import { Waterfall } from './waterfall.tsx'

const CopyMenu = lazy(async () => (await import('./copy-menu.tsx')).CopyMenu)
const Inspector = lazy(async () => (await import('./inspector.tsx')).Inspector)

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
  const step = stepAt(steps, address.seq)
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
        <CopyMenu studio={studio} opened={opened} />
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
        <Waterfall run={events.steps} selected={step?.seq} onSelect={(seq) => show({ seq })} />
      )}
      {mode === 'events' || step === undefined ? null : (
        <>
          {child === undefined ? null : (
            <p class="child">
              <a href={studio.urlOf({ ...withoutStep(address), runId: child })}>The run inside this step</a>
            </p>
          )}
          <Inspector
            studio={studio}
            runId={runId}
            events={events}
            step={step}
            view={address.view}
            onView={(view) => show({ view })}
            onEvents={() => setMode('events')}
          />
        </>
      )}
    </section>
  )
}

/** The step that an event's number names, or is within. */
function stepAt(steps: readonly Step[], seq: number | undefined): Step | undefined {
  return seq === undefined ? undefined : steps.findLast((step) => step.seq <= seq)
}

function aboutRun({ run, error, events }: OpenedRun): string {
  if (error.value !== '') return error.value
  if (events.seq > 0) return ''
  return run.value !== undefined && isUnderWay(run.value) ? 'Waiting for its first event…' : 'Reading…'
}

function withoutStep({ sessionId, filter }: RunViewProps['address']): Extract<Address, { page: 'chats' }> {
  return { page: 'chats', filter, ...(sessionId !== undefined && { sessionId }) }
}
