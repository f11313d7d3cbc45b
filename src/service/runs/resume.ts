import { AppError } from '../../core/error.ts'
import type { RunEvent, RunResumedEvent, Stamp } from '../../core/event.ts'
import type { JsonObject } from '../../core/json.ts'
import { isResumable, isTry, type RunRecord } from '../../core/run.ts'
import type { RunResume } from '../../core/run-write.ts'
import { timestamp } from '../../core/time.ts'
import { type Answer, openRequests } from '../../core/waiting.ts'
import { reserve } from '../events/recorder.ts'
import { checkClientResults } from '../limits/client-tools.ts'
import { assertRepeated } from '../repeating/source.ts'
import { answerOnlyTo, checkAnswer, resumptionWith } from './answers.ts'
import { ownerOf, type RunServices } from './run-services.ts'

/** A run that is about to be resumed. `before`: all its recorded events, the new `run_resumed` included. */
export interface ResumedRun {
  run: RunRecord
  before: readonly RunEvent[]
  resume: RunResume
}

/** Prepares a paused run to be resumed. Throws `conflict` unless it is paused, `invalid_request` for an unsound answer. */
export async function prepareResume(services: RunServices, paused: RunRecord, answer: Answer): Promise<ResumedRun> {
  const { recorded, clock, bounds } = services
  const { run_id: runId, end_seq: endSeq } = paused
  if (!isResumable(paused) || endSeq === null) throw notWaiting(paused)
  const before: RunEvent[] = []
  for await (const batch of recorded.events(paused, 0)) before.push(...batch)
  // The end event of the pause is not part of the record of a resumed run.
  before.pop()
  const requests = openRequests(before)
  if (paused.status === 'interrupted') await assertRepeated(recorded, paused, before)
  const own = paused.parent_run_id === null ? answer : answerOnlyTo(requests, answer)
  const from = paused.status === 'interrupted' ? 'interrupted' : 'input_required'
  const at = timestamp(clock())
  // An interrupted run may have been answered before: it has the answer then.
  const given = from === 'interrupted' && resumptionWith(own, before) !== undefined ? {} : own
  await checkAnswer(requests, given, from === 'input_required')
  checkClientResults(given.answers ?? {}, bounds.toolResult)
  const event: RunResumedEvent & Stamp = { type: 'run_resumed', run_id: runId, seq: endSeq + 1, at, from }
  if (given.approved !== undefined) event.approved = given.approved
  if (given.input !== undefined) event.input = given.input
  if (given.answers !== undefined) event.answers = { ...given.answers }
  event.paused = { seq: endSeq, at: paused.completed_at ?? paused.created_at }
  before.push(event)
  return {
    before,
    run: {
      ...paused,
      status: 'running',
      completed_at: null,
      end_seq: null,
      error: null,
      usage: null,
      sources: [],
      waiting: [],
      messages: paused.messages.slice(0, 1),
    },
    resume: {
      run_id: runId,
      ...(paused.parent_run_id === null && { turn_of: paused.session_id }),
      end_seq: endSeq,
      owner: ownerOf(services),
      at,
      events: [event],
      reserve_until: endSeq + reserve,
    },
  }
}

export function notWaiting(run: RunRecord): AppError {
  const about = { runId: run.run_id, sessionId: run.session_id }
  return new AppError('conflict', `The run is not waiting for input (status: ${run.status}).`, about)
}

/** The session's state after the last recorded step, if the process died before the run's end could save it. A try saves none. */
export function unsavedState(run: Pick<RunRecord, 'again_of'>, before: readonly RunEvent[]): JsonObject | undefined {
  const kept = isTry(run)
    ? -1
    : before.findLastIndex((event) => event.type === 'run_resumed' && event.from === 'input_required')
  const last = before.findLast((event, index) => index > kept && event.type === 'step_end' && event.state !== undefined)
  return last?.type === 'step_end' ? last.state : undefined
}
