import type { CancellationReason, Run } from '../core/run.ts'

const reasons: Record<string, string> = {
  requested: 'The run was cancelled on request.',
  client_disconnected: 'The run was cancelled because the client that started it left.',
  timeout: "The run exceeded its time limit (server.requestTimeout, or the agent's timeout) and was stopped.",
  shutdown: 'The run was cancelled because the server was shut down.',
  superseded: 'The run was cancelled because a newer run replaced it.',
  session_deleted: 'The run was cancelled because its session was deleted.',
  parent_ended: 'The run was cancelled because its parent run had ended.',
}

/** A sentence for the caller that says why a run did not complete. */
export function explainEnd(run: Pick<Run, 'run_id' | 'status' | 'error' | 'cancellation_reason'>): string {
  switch (run.status) {
    case 'failed':
      return run.error?.message ?? 'The run failed.'
    case 'cancelled':
      return explainCancellation(run.cancellation_reason)
    case 'interrupted':
      return 'The run was interrupted because the server stopped while it was running.'
    case 'input_required':
      return `The run is waiting for input. To continue it, send POST /runs/${run.run_id}/resume.`
    default:
      return `The run is ${run.status}.`
  }
}

function explainCancellation(reason: CancellationReason | null): string {
  if (reason === null) return 'The run was cancelled.'
  return (Object.hasOwn(reasons, reason) ? reasons[reason] : undefined) ?? `The run was cancelled: ${reason}`
}
