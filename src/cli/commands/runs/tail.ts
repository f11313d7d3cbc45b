import type { RunsAction } from './action.ts'
import { followRun } from './follow.ts'

/** Follows a run from its first event to its end, also an ended one. The exit code is the run's outcome. */
export const tailRun: RunsAction = ({ client, runId, json, signal }) =>
  followRun({ client, runId, after: 0, json, signal })
