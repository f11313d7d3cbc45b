import { AppError, messageOf, toAppError } from '../../core/error.ts'
import type { Run, RunError } from '../../core/run.ts'
import type { RunEnding } from './options.ts'

/** For the clients of a run that another instance has now. */
export function takenOver({ run_id: runId, session_id: sessionId }: Run): AppError {
  const message = 'Another instance has taken the run over. Connect again to read on.'
  return new AppError('unavailable', message, { retryAfterSeconds: 1, runId, sessionId })
}

/** Whether the same write may succeed later: the disk is full, or the file is locked. */
export function isRetryable(error: unknown): boolean {
  const { code, retryAfterSeconds } = toAppError(error)
  return code === 'storage_full' || (code === 'unavailable' && retryAfterSeconds !== undefined)
}

/** The same with other instances: the store comes back, or one of them takes the run over. */
export function isRetryableAmong(peers: object | undefined, error: unknown): boolean {
  return isRetryable(error) || (peers !== undefined && toAppError(error).code === 'unavailable')
}

/** The error for the clients of a run, with its ids. */
export function aboutRun(error: unknown, { run_id: runId, session_id: sessionId }: Run): AppError {
  const { code, message, retryAfterSeconds } = toAppError(error)
  return new AppError(code, message, { cause: error, retryAfterSeconds, runId, sessionId })
}

/** The message of an AppError is meant for users; that of any other error may hold secrets. */
export function toRunError(error: unknown): RunError {
  const known = toAppError(error)
  if (known.code === 'internal') {
    const name = nameOf(error)
    return { code: 'run_failed', message: `The agent threw an error (${name}). The server's log has the details.` }
  }
  return { code: String(known.code), message: messageOf(known) }
}

/** How a run ends whose runnable threw this. */
export function toEnding(error: unknown): RunEnding {
  const { code, message, runId } = toAppError(error)
  // No `runId`: the runnable raised this about its own run (approval denied, or resumable).
  if (code === 'run_cancelled' && runId === undefined) return { status: 'cancelled', reason: message }
  if (code === 'run_interrupted' && runId === undefined) return { status: 'interrupted', error: { code, message } }
  return { status: 'failed', error: toRunError(error) }
}

function nameOf(error: unknown): string {
  try {
    return error instanceof Error && typeof error.name === 'string' ? error.name : 'Error'
  } catch {
    return 'Error'
  }
}
