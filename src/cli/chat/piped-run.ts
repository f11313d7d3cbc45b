import type { Client } from '../../client/client.ts'
import { isAppError } from '../../core/error.ts'
import type { Json } from '../../core/json.ts'
import type { Waiting } from '../../core/run.ts'
import { inputOf, readPause, resumeHint, type WaitingRun, waitingLines } from '../runs/waiting.ts'
import type { ResumedTurn } from './turn/turn.ts'

/** A paused run that the next text may answer. */
export interface PausedRun extends WaitingRun {
  waiting: readonly Waiting[]
}

/** The session's newest run, if it waits. A server without that list has none. */
export async function findPaused(
  client: Client,
  sessionId: string,
  signal: AbortSignal,
): Promise<PausedRun | undefined> {
  try {
    const { runs } = await client.sessions.runs(sessionId, {}, { limit: 1, signal })
    const [newest] = runs
    if (newest?.status !== 'input_required') return undefined
    const { run_id: runId } = newest
    return { run_id: runId, waiting: (await readPause(client, runId, signal)).waiting }
  } catch (error) {
    if (isAppError(error) && /^(session|route)_not_found$/.test(error.code)) return undefined
    throw error
  }
}

/** Whether a text can answer it: only input is asked for. */
export function takesText({ waiting }: PausedRun): boolean {
  return waiting.every(({ kind }) => kind === 'input')
}

export async function resumedWith(
  client: Client,
  { run_id: runId, waiting }: PausedRun,
  text: string,
  { sessionId, signal }: Pick<ResumedTurn, 'sessionId' | 'signal'>,
  answer: ResumedTurn['answer'],
): Promise<ResumedTurn> {
  const { after } = await readPause(client, runId, signal)
  if (answer !== undefined) return { runId, sessionId, after, answer, signal }
  const input = inputOf(text, waiting[0]?.schema) as Json
  return { runId, sessionId, after, answer: { input }, signal }
}

/** Why the run is left waiting, and the command that answers it. */
export function leftWaiting(run: PausedRun): string {
  return ['The run is waiting for an answer:', ...waitingLines(run).map((line) => `  ${line}`), resumeHint(run)].join(
    '\n',
  )
}
