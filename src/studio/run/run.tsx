import type { JSX } from 'preact'
import { formatCost, formatCount, formatMs } from '../parts/format.ts'
import { Status } from '../parts/status.tsx'
import type { Address } from '../state/address.ts'
import { type Conversation, isUnderWay } from '../state/conversation.ts'
import type { Studio } from '../state/studio.ts'
import { Inspector } from './inspector.tsx'
import { Waterfall } from './waterfall.tsx'

interface RunViewProps {
  studio: Studio
  conversation: Conversation
  address: Extract<Address, { page: 'chats' }>
}

/** One run: its steps in time, and what is in the one that is chosen. */
export function RunView({ studio, conversation, address }: RunViewProps): JSX.Element | null {
  const { runId, seq } = address
  // Drawn again when an event came.
  conversation.changes.value
  const turn = conversation.turns.value.find(({ run }) => run.run_id === runId)
  if (runId === undefined || turn === undefined) return null
  const { run, events } = turn
  const step = events?.steps.steps.find((one) => one.seq === seq)
  const show = (change: Partial<typeof address>) => studio.go({ ...address, ...change }, address.seq !== undefined)
  return (
    <section class="run" aria-label={`Run ${runId}`}>
      <header class="bar">
        <h2>{run.entity_id}</h2>
        <Status status={run.status} />
        <span>{events === undefined ? '' : formatMs(events.steps.totals.durationMs)}</span>
        {run.usage === null ? null : (
          <span>
            {formatCount(run.usage.total_tokens)} tokens · {formatCost(run.cost)}
          </span>
        )}
        <code class="id">{runId}</code>
        <button
          type="button"
          class="quiet close"
          onClick={() => studio.go(withoutRun(address))}
          aria-label="Close the run"
        >
          ✕
        </button>
      </header>
      {events === undefined ? (
        <p role="status">{isUnderWay(run) ? 'Waiting for its first event…' : 'Reading…'}</p>
      ) : (
        <Waterfall run={events.steps} selected={seq} onSelect={(chosen) => show({ seq: chosen })} />
      )}
      {events === undefined || step === undefined ? null : (
        <Inspector
          client={studio.client}
          prompts={studio.me.value?.can.prompts === true}
          runId={runId}
          events={events}
          step={step}
          view={address.view}
          onView={(view) => show({ view })}
        />
      )}
    </section>
  )
}

function withoutRun({ sessionId, filter }: RunViewProps['address']): Address {
  return { page: 'chats', filter, ...(sessionId !== undefined && { sessionId }) }
}
