import { invalid, isAppError } from '../../../core/error.ts'
import type { CallAnswer, RunRecord } from '../../../core/run.ts'
import type { ResumeAnswer } from '../../../service/services.ts'
import { callOf, wireCallId } from '../../call-id.ts'
import type { OpenAIServices } from '../openai.ts'
import { outputOf } from './messages.ts'
import type { CompletionRequest } from './request.ts'
import { type Asking, isOfEndUser } from './session.ts'

export interface WaitingAnswer {
  run: RunRecord
  answer: Pick<ResumeAnswer, 'answers'>
}

const waitingAtOnce = 20

/**
 * The run that waits for the outcomes of tools with which the conversation ends; undefined when their ids are not of runs that
 * this person may answer. Throws `invalid_request` when some of the run's open calls have no outcome.
 */
export async function findCalls(
  services: OpenAIServices,
  { conversation, model }: CompletionRequest,
  asking: Asking,
): Promise<WaitingAnswer | undefined> {
  const { outcomes } = conversation
  const calls = outcomes.flatMap((message) => {
    const call = callOf(message.callId)
    return call === undefined ? [] : [{ ...call, message }]
  })
  const [first] = calls
  if (first === undefined) return undefined
  const run = await ownRun(services, first.runId, model, asking)
  if (run === undefined) return undefined
  if (calls.length < outcomes.length || calls.some(({ runId }) => runId !== run.run_id)) {
    const other = outcomes.find(({ callId }) => callOf(callId)?.runId !== run.run_id)
    throw invalid(`The call '${other?.callId}' is not one of the calls that were made last.`, 'messages')
  }
  const answers = Object.fromEntries(calls.map(({ callId, message }) => [callId, { output: outputOf(message) }]))
  const missing = run.waiting.filter(({ call_id = '', kind }) => kind === 'tool' && !Object.hasOwn(answers, call_id))
  if (missing.length > 0) {
    const ids = missing.map(({ call_id = '' }) => `'${wireCallId(run.run_id, call_id)}'`).join(', ')
    throw invalid(`These calls have no message of the role 'tool': ${ids}. Send the outcomes of all calls.`, 'messages')
  }
  return { run, answer: { answers } }
}

async function ownRun(
  { runs }: OpenAIServices,
  runId: string,
  model: string,
  { endUser, named }: Asking,
): Promise<RunRecord | undefined> {
  let run: RunRecord
  try {
    run = await runs.get(runId)
  } catch (error) {
    if (isAppError(error) && error.code === 'run_not_found') return undefined
    throw error
  }
  const isNamed = named === undefined || run.session_id === named
  return isNamed && run.entity_id === model && isOfEndUser(run.metadata, endUser) ? run : undefined
}

export interface Decision {
  approved: boolean
  reason?: string
}

/** `approve`, `deny`, or `deny` and a reason. */
export function decisionOf(text: string | undefined): Decision | undefined {
  const said = text?.trim()
  if (said === 'approve') return { approved: true }
  if (said === 'deny') return { approved: false }
  const reason = said !== undefined && /^deny\s/.test(said) ? said.slice(5).trim() : ''
  return reason === '' ? undefined : { approved: false, reason }
}

/** The newest run of the session that waits for nothing but approvals, with the same decision about each. */
export async function findApprovals(
  { runs }: OpenAIServices,
  { model }: CompletionRequest,
  { endUser, named }: Asking,
  decision: Decision,
): Promise<WaitingAnswer | undefined> {
  if (named === undefined) return undefined
  const page = await runs.list({ session_id: named, status: 'input_required' }, { limit: waitingAtOnce })
  for (const { run_id, parent_run_id, replaced_by, entity_id } of page.items) {
    if (parent_run_id !== null || replaced_by !== null || entity_id !== model) continue
    const run = await runs.get(run_id)
    const { waiting, metadata } = run
    if (run.again_of !== null || !isOfEndUser(metadata, endUser)) continue
    if (waiting.length === 0 || !waiting.every(({ kind, call_id }) => kind === 'approval' && call_id !== undefined))
      continue
    return { run, answer: decided(callIdsOf(run), decision) }
  }
  return undefined
}

/**
 * The decision about each of these calls. Never about all that waits: a decision that is sent again may find the run at its next
 * question.
 */
export function decided(callIds: readonly string[], decision: Decision): Pick<ResumeAnswer, 'answers'> {
  return { answers: Object.fromEntries(callIds.map((id): [string, CallAnswer] => [id, decision])) }
}

export function callIdsOf({ waiting }: Pick<RunRecord, 'waiting'>): string[] {
  return waiting.flatMap(({ call_id }) => call_id ?? [])
}
