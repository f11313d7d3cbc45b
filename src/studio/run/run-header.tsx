import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { formatCost, formatCount, formatMs } from '../../core/text/format.ts'
import { usageInWords } from '../../core/text/usage.ts'
import { Icon } from '../parts/icon.tsx'
import { Status } from '../parts/status.tsx'
import { isUnderWay } from '../state/conversation.ts'
import type { OpenedRun } from '../state/opened-run.ts'
import { repeatWhileSeen } from '../state/reading/while-seen.ts'
import type { Studio } from '../state/studio.ts'
import { CopyMenu } from './copy-menu.tsx'
import { RunActions } from './run-actions.tsx'
import { costInWords } from './words.ts'

interface RunHeaderProps {
  studio: Studio
  opened: OpenedRun
  urlOf: (runId: string) => string
  onClose: () => void
}

/** Shorter waits are part of the work. */
const shortestWaitMs = 1000

/** Who ran, how it ended, how long it took and what it used. */
export function RunHeader({ studio, opened, urlOf, onClose }: RunHeaderProps): JSX.Element {
  const { runId, events } = opened
  opened.tree.shape.value
  const run = opened.shown
  const { began, status, durationMs, waitedMs, usage: used } = events
  const usage = run?.usage ?? used
  return (
    <header class="bar">
      <h2>{run?.entity_id ?? 'Run'}</h2>
      {run && <Status status={run.status} />}
      {run?.cache_hit && <span class="badge">from the cache</span>}
      {events.seq === 0 ? null : status === 'running' && opened.tree.moment === undefined ? (
        <Elapsed since={(began ?? 0) + waitedMs} />
      ) : (
        <span>{formatMs(durationMs - waitedMs)}</span>
      )}
      {waitedMs < shortestWaitMs ? null : <span class="more">+ {formatMs(waitedMs)} of waiting</span>}
      {usage && (
        <span title={usageInWords(usage)}>
          {formatCount(usage.total_tokens)} tokens<span class="hidden"> ({usageInWords(usage)})</span>
        </span>
      )}
      {run && !isUnderWay(run) && (
        <span title={costInWords(run.cost)}>
          {formatCost(run.cost)} <span class="hidden">{costInWords(run.cost)}</span>
        </span>
      )}
      <code class="id wide-only" title={runId}>
        …{runId.slice(-6)}
      </code>
      {!studio.isFile && (
        <>
          <RunActions studio={studio} opened={opened} />
          <CopyMenu studio={studio} opened={opened} />
        </>
      )}
      {run?.parent_run_id && (
        <>
          <a href={urlOf(run.parent_run_id)}>inside another run</a>
          {!studio.isFile && <a href={studio.urlOf({ page: 'member', runId })}>its conversation</a>}
        </>
      )}
      <button type="button" class="quiet close" onClick={onClose} aria-label="Close the run">
        <Icon name="close" />
      </button>
    </header>
  )
}

/** How long it has worked, to the second. */
function Elapsed({ since }: { since: number }): JSX.Element {
  const [now, setNow] = useState(Date.now)
  useEffect(() => repeatWhileSeen(() => setNow(Date.now()), 1000), [])
  return <span>{Math.max(0, Math.floor((now - since) / 1000))} s</span>
}
