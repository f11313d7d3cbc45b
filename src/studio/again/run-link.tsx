import type { JSX } from 'preact'
import type { OpenedRun } from '../state/opened-run.ts'
import type { Studio } from '../state/studio.ts'

interface RunLinkProps {
  studio: Studio
  opened: OpenedRun
}

/** Whose run it is, with the end of its id. */
export function RunLink({ studio, opened: { runId, run } }: RunLinkProps): JSX.Element {
  return (
    <a href={studio.urlOf({ page: 'run', runId })} title={runId}>
      {run.value?.entity_id} …{runId.slice(-6)}
    </a>
  )
}

/** What the run was told, in short. A run begins with that. */
export function questionOf({ run }: OpenedRun): string | undefined {
  return run.value?.messages[0]?.content.slice(0, 80)
}
