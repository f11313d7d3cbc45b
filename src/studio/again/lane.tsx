import type { ComponentChildren, JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { formatCost, formatCount, formatMs } from '../../core/text/format.ts'
import { Parts } from '../conversation/parts.tsx'
import { Waiting } from '../conversation/waiting.tsx'
import { Status } from '../parts/status.tsx'
import { CompactList } from '../run/compact.tsx'
import { isUnderWay } from '../state/conversation.ts'
import type { OpenedRun } from '../state/opened-run.ts'
import type { Studio } from '../state/studio.ts'
import { heed } from './asides.ts'
import { factsOf } from './compare.ts'
import { RunLink } from './run-link.tsx'

interface LaneProps {
  studio: Studio
  name: string
  opened: OpenedRun
  children?: ComponentChildren
}

/** One of the two runs: how it goes, its steps, what it asks, and what it says. */
export function Lane({ studio, name, opened, children }: LaneProps): JSX.Element {
  heed(opened)
  const element = useRef<HTMLElement>(null)
  const { runId, run, events, tree, error } = opened
  const present = run.value
  const isGrowing = present !== undefined && isUnderWay(present)
  const { ms, output, cost } = factsOf(opened)
  return (
    <section class="lane" aria-label={name} ref={element} tabIndex={-1}>
      <h3>{name}</h3>
      <p class="bar">
        {present === undefined ? 'Reading…' : <Status status={present.status} />}
        <span>
          {formatMs(ms)} · {formatCount(output)} tokens out · {formatCost(cost)}
        </span>
        <RunLink studio={studio} opened={opened} />
        {isGrowing ? (
          <button type="button" onClick={() => void studio.stop(runId)}>
            Stop
          </button>
        ) : null}
      </p>
      {present?.error ? (
        <p class="failure" dir="auto">
          {present.error.message}
        </p>
      ) : null}
      {error.value === '' ? null : <p role="alert">{error.value}</p>}
      <CompactList tree={tree} selected={undefined} urlOf={() => studio.urlOf({ page: 'run', runId })} />
      {present?.status === 'input_required' ? (
        <Waiting studio={studio} run={present} onAnswered={() => element.current?.focus()} />
      ) : null}
      <Parts studio={studio} sessionId={present?.session_id ?? ''} parts={events.parts} growing={isGrowing} />
      {children}
    </section>
  )
}
