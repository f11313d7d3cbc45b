import { AppError, type ErrorDetail, invalid } from '../../../core/error.ts'
import type { InputRequired, Stamp } from '../../../core/event.ts'
import type { Json } from '../../../core/json.ts'
import type { CallAnswer, RunRecord } from '../../../core/run.ts'
import { kindOf } from '../../../core/waiting.ts'
import type { ResumeAnswer } from '../../../service/services.ts'
import { callOf, requestId, wireCallId } from '../../call-id.ts'
import type { OpenAIServices } from '../openai.ts'
import { recordedEvents, unlessMissing } from './find.ts'
import type { GivenAnswer } from './input.ts'
import { approvalId, approvedCall } from './item-id.ts'

type Asked = InputRequired & Stamp

export interface Answered {
  run: RunRecord
  answer: Pick<ResumeAnswer, 'approved' | 'input' | 'answers'>
}

function callIn(answer: GivenAnswer): { runId: string; callId: string } | undefined {
  return answer.kind === 'approval' ? approvedCall(answer.id) : callOf(answer.id)
}

/**
 * The run that the answers are for, and its answer. Answers to earlier questions of the run, which clients send again, are left out.
 * `previous`: the run of `previous_response_id`; without it the newest answer names the run, and undefined means that nobody asked.
 */
export async function findAnswered(
  services: Pick<OpenAIServices, 'runs' | 'sessions'>,
  answers: readonly GivenAnswer[],
  previous: RunRecord | undefined,
): Promise<Answered | undefined> {
  const [last] = answers.slice(-1)
  const runId = previous?.run_id ?? (last && callIn(last)?.runId)
  const run = previous ?? (runId === undefined ? undefined : await unlessMissing(services.runs.get(runId)))
  if (run === undefined) return undefined
  const asked: Asked[][] = [[]]
  for await (const page of recordedEvents(services, run)) {
    for (const event of page) {
      if (event.type === 'input_required') asked.at(-1)?.push(event)
      if (event.type === 'run_resumed' && event.from === 'input_required') asked.push([])
    }
  }
  // The newest pause that they answer: the others were answered before.
  const ids = new Set(
    answers.flatMap((answer) => (callIn(answer)?.runId === run.run_id ? [callIn(answer)?.callId] : [])),
  )
  const place = asked.findLastIndex((requests) => requests.some((request) => ids.has(requestId(request))))
  const open = asked[place] ?? []
  const byId = new Map(open.map((request) => [requestId(request), request]))
  const known = new Set(asked.flat().map(requestId))
  const given = new Map<string, GivenAnswer>()
  for (const answer of answers) {
    const call = callIn(answer)
    const isTheirs = call?.runId === run.run_id
    if (isTheirs && byId.has(call.callId)) given.set(call.callId, answer)
    else if (previous !== undefined && !(isTheirs && known.has(call.callId))) {
      throw invalid(
        `${answer.path}: the response '${previous.run_id.replace(/^run_/, 'resp_')}' has not asked for it.`,
        answer.path,
      )
    }
  }
  if (given.size === 0) return undefined
  if (run.status === 'input_required' && place === asked.length - 1) refuseMissing(run.run_id, open, given)
  return { run, answer: toAnswer(byId, given) }
}

function refuseMissing(runId: string, open: readonly Asked[], given: ReadonlyMap<string, GivenAnswer>): void {
  const missing = open.filter((request) => !given.has(requestId(request)))
  if (missing.length === 0) return
  const details = missing.map((request): ErrorDetail => {
    const id = requestId(request)
    const isApproval = kindOf(request) === 'approval'
    const item = isApproval
      ? `an mcp_approval_response to '${approvalId(runId, id)}'`
      : `a function_call_output for '${wireCallId(runId, id)}'`
    return { path: 'input', message: `The response waits for ${item}: ${request.prompt}` }
  })
  const message = `Answer everything at once. ${details.map((detail) => detail.message).join(' ')}`
  throw new AppError('invalid_request', message, { details })
}

function toAnswer(byId: ReadonlyMap<string, Asked>, given: ReadonlyMap<string, GivenAnswer>): Answered['answer'] {
  const answers: Record<string, CallAnswer> = {}
  const answer: Answered['answer'] = {}
  for (const [id, one] of given) {
    const request = byId.get(id)
    if (request === undefined) continue
    const own = answerTo(request, one)
    // A request without an id of its own is answered by what is said of all.
    if (request.call_id === undefined) Object.assign(answer, { approved: own.approved, input: own.input })
    else answers[request.call_id] = own
  }
  return Object.keys(answers).length === 0 ? answer : { ...answer, answers }
}

function answerTo(request: Asked, given: GivenAnswer): CallAnswer {
  if (given.kind === 'approval') {
    return { approved: given.approved, ...(given.reason !== undefined && { reason: given.reason }) }
  }
  return kindOf(request) === 'tool' ? { output: given.output } : { input: toInput(request, given.output) }
}

/** What a question is answered with comes as text, and the question may want data. */
function toInput({ schema }: Asked, output: Json): Json {
  if (typeof output !== 'string' || schema === undefined || schema.type === 'string') return output
  try {
    return JSON.parse(output) as Json
  } catch {
    // The service says what does not fit the schema.
    return output
  }
}
