import { AppError, isAppError } from '../../../core/error.ts'
import type { RunEvent } from '../../../core/event.ts'
import { isTurn, type Run, type RunRecord } from '../../../core/run.ts'
import { stretchOfResponse } from '../ids.ts'
import type { OpenAIServices } from '../openai.ts'
import { echoOf } from './echo.ts'

export interface FoundResponse {
  run: RunRecord
  /** From 1. It may not have begun. */
  stretch: number
}

type Reading = Pick<OpenAIServices, 'runs' | 'sessions'>

/** Throws `run_not_found` for what is no response of the caller that may be had again. */
export async function findResponse({ runs }: Pick<Reading, 'runs'>, id: string): Promise<FoundResponse> {
  const named = stretchOfResponse(id)
  if (named === undefined) throw noResponse(id)
  const run = await unlessMissing(runs.get(named.runId))
  if (run === undefined || !isTurn(run) || !echoOf(run).store) throw noResponse(id)
  return { run, stretch: named.stretch }
}

export function noResponse(id: string): AppError {
  return new AppError('run_not_found', `There is no response '${id.slice(0, 100)}'.`)
}

/** Undefined for what the caller can't see. */
export async function unlessMissing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (isAppError(error) && (error.code === 'run_not_found' || error.code === 'session_not_found')) return undefined
    throw error
  }
}

/** The events that are recorded by now: those of a run that is under way have no end. With `types` others may be left out. */
export async function* recordedEvents(
  { sessions }: Pick<Reading, 'sessions'>,
  { run_id, session_id }: Pick<Run, 'run_id' | 'session_id'>,
  types?: readonly RunEvent['type'][],
): AsyncGenerator<readonly RunEvent[]> {
  const { events } = await sessions.history(session_id, 1, true)
  if (events !== undefined) yield* events(run_id, types)
}

/** How many responses the run has been until now. */
export async function countStretches(services: Pick<Reading, 'sessions'>, run: RunRecord): Promise<number> {
  let count = 1
  for await (const page of recordedEvents(services, run, ['run_resumed'])) {
    for (const event of page) if (event.type === 'run_resumed' && event.from === 'input_required') count++
  }
  return count
}
