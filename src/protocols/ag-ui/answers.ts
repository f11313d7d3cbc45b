import { isDeepStrictEqual } from 'node:util'
import { isAppError } from '../../core/error.ts'
import type { RunResumedEvent, Stamp } from '../../core/event.ts'
import type { Json } from '../../core/json.ts'
import type { CallAnswer, RunRecord } from '../../core/run.ts'
import { answerTo, kindOf } from '../../core/waiting.ts'
import type { ResumeAnswer } from '../../service/services.ts'
import { requestId } from '../call-id.ts'
import { isFields } from '../fields.ts'
import type { AgUiServices } from './ag-ui.ts'
import type { Asked } from './calls.ts'
import { callOfId, interruptIdOf, requestOfInterrupt } from './ids.ts'
import type { AgUiInput, PostedAnswer, PostedMessage } from './request.ts'

/** What a request that answers a paused run comes to. */
export type Answered =
  | { kind: 'resume'; run: RunRecord; answer: Pick<ResumeAnswer, 'approved' | 'input' | 'answers'> }
  /** The same was answered before: the stretch that began with it. */
  | { kind: 'follow'; run: RunRecord; from: number }
  /** What was asked for will not come, and the run can't go on without it. */
  | { kind: 'give up'; run: RunRecord }
  | Refusal

/** Said in the stream, as AG-UI has it: the thread stays as it is. */
export interface Refusal {
  kind: 'refusal'
  code: 'interrupt_mismatch' | 'interrupt_pending'
  message: string
}

export function mismatch(message: string): Refusal {
  return { kind: 'refusal', code: 'interrupt_mismatch', message }
}

/** What a run asked for at once, and what answered it. */
interface Pause {
  asked: Asked[]
  resumed?: RunResumedEvent & Stamp
}

/** The outcome of a call of the client's own tools, by the call's id on the wire. */
type Outcomes = ReadonlyMap<string, PostedMessage>

function outcomesIn(messages: readonly PostedMessage[]): Map<string, PostedMessage> {
  return new Map(
    messages.flatMap((message) => {
      const { toolCallId } = message.fields
      return message.role === 'tool' && typeof toolCallId === 'string' ? [[toolCallId, message] as const] : []
    }),
  )
}

/** The run that `resume`, or the outcomes of tools at the end of the messages, are for. */
function runNamedIn({ resume, messages }: AgUiInput): string | undefined {
  const [first] = resume
  if (first !== undefined) return requestOfInterrupt(first.interruptId)?.runId
  const last = messages.at(-1)?.fields.toolCallId
  return typeof last === 'string' ? callOfId(last)?.runId : undefined
}

/** Finds out what a request with answers wants. Everything that the run waits for must have one. */
export async function findAnswered(services: AgUiServices, input: AgUiInput): Promise<Answered> {
  const { resume, threadId } = input
  const runId = runNamedIn(input)
  const run = runId === undefined ? undefined : await ownRun(services, runId, threadId)
  if (run === undefined) {
    return mismatch(
      resume.length > 0
        ? `Nothing in this thread waits for '${shortened(resume[0]?.interruptId ?? '')}'.`
        : 'Nothing in this thread waits for the outcomes of tools with which the messages end.',
    )
  }
  const pauses = await pausesOf(services, run)
  const outcomes = outcomesIn(input.messages)
  const answers = new Map(resume.map((answer) => [answer.interruptId, answer]))
  const isNamed = (request: Asked) =>
    resume.length > 0
      ? answers.has(interruptIdOf(run.run_id, requestId(request)))
      : outcomeOf(request, outcomes) !== undefined
  const place = pauses.findLastIndex(({ asked }) => asked.some(isNamed))
  const pause = pauses[place]
  if (pause === undefined) return mismatch('The run has not asked for what is answered.')
  return read(run, pause, place === pauses.length - 1, { answers, outcomes, input })
}

function outcomeOf(request: Asked, outcomes: Outcomes): PostedMessage | undefined {
  if (kindOf(request) !== 'tool') return undefined
  for (const [toolCallId, message] of outcomes) {
    const call = callOfId(toolCallId)
    if (call?.runId === request.run_id && call.callId === requestId(request)) return message
  }
  return undefined
}

interface Given {
  answers: ReadonlyMap<string, PostedAnswer>
  outcomes: Outcomes
  input: AgUiInput
}

function read(run: RunRecord, { asked, resumed }: Pause, isLast: boolean, given: Given): Answered {
  const known = new Set(asked.map((request) => interruptIdOf(run.run_id, requestId(request))))
  const unknown = [...given.answers.keys()].find((id) => !known.has(id))
  if (unknown !== undefined) return mismatch(`'${shortened(unknown)}' is not among what the run asked for.`)
  const isOpen = isLast && run.status === 'input_required'
  const read = new Map<Asked, CallAnswer>()
  let isGivenUp = false
  for (const request of asked) {
    const answer = answerIn(request, given)
    if (typeof answer === 'string') return mismatch(answer)
    if (answer === undefined) isGivenUp = true
    else read.set(request, answer)
  }
  if (isGivenUp) return isOpen || run.status === 'cancelled' ? { kind: 'give up', run } : answeredOtherwise(run)
  if (!isOpen) {
    if (resumed === undefined || !isSame(read, resumed)) return answeredOtherwise(run)
    return { kind: 'follow', run, from: resumed.seq }
  }
  const input = newInputBeside(run, given.input)
  return input === undefined ? { kind: 'resume', run, answer: resumptionOf(read) } : mismatch(input)
}

function answeredOtherwise({ run_id, status }: RunRecord): Refusal {
  return mismatch(`The run '${run_id}' was answered already, in another way, or has ended (status: ${status}).`)
}

/** A new message of the user beside an answer would be lost. */
function newInputBeside(run: RunRecord, { messages, earlier }: AgUiInput): string | undefined {
  const own = run.messages.find(({ role }) => role === 'user')?.message_id
  const message = messages.slice(earlier).find(({ id }) => id !== own)
  return message && `The message '${shortened(message.id)}' can't come with an answer. Send it when the run has ended.`
}

/** The answer to a request, undefined for one that is given up, or what is wrong. */
function answerIn(request: Asked, { answers, outcomes }: Given): CallAnswer | undefined | string {
  const { run_id, prompt } = request
  if (kindOf(request) === 'tool') {
    const outcome = outcomeOf(request, outcomes)
    if (outcome === undefined) return `The call of the tool '${request.tool ?? ''}' has no message with its outcome.`
    const { error, content } = outcome.fields
    if (typeof error === 'string' && error !== '') return { error }
    return { output: outputIn(content) }
  }
  const id = interruptIdOf(run_id, requestId(request))
  const answer = answers.get(id)
  if (answer === undefined) return `resume has no answer to '${id}': ${prompt}`
  const { isResolved, payload } = answer
  if (kindOf(request) === 'input') {
    if (!isResolved) return undefined
    return payload === undefined ? `The answer to '${id}' has no payload: ${prompt}` : { input: payload }
  }
  const reason = isFields(payload) && typeof payload.reason === 'string' ? { reason: payload.reason } : {}
  if (!isResolved) return { approved: false, ...reason }
  const approved = isFields(payload) ? payload.approved : payload
  if (typeof approved === 'boolean') return { approved, ...reason }
  return `The answer to '${id}' must have the payload {"approved": true} or {"approved": false}.`
}

/** Text, also of a list of parts. */
function outputIn(content: unknown): Json {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : ((content ?? '') as Json)
  const texts = content.flatMap((part) => (isFields(part) && typeof part.text === 'string' ? [part.text] : []))
  return texts.length === content.length ? texts.join('\n') : (content as Json)
}

function resumptionOf(read: ReadonlyMap<Asked, CallAnswer>): Pick<ResumeAnswer, 'approved' | 'input' | 'answers'> {
  const answers: Record<string, CallAnswer> = {}
  const all: { approved?: boolean; input?: Json } = {}
  for (const [{ call_id }, answer] of read) {
    if (call_id !== undefined) answers[call_id] = answer
    else if (answer.input !== undefined) all.input = answer.input
    else if (answer.approved !== undefined) all.approved = answer.approved
  }
  return { ...all, ...(Object.keys(answers).length > 0 && { answers }) }
}

function isSame(read: ReadonlyMap<Asked, CallAnswer>, resumed: RunResumedEvent): boolean {
  return [...read].every(([request, answer]) => {
    const { approved, input, output, error, reason } = answerTo(request.call_id, resumed)
    switch (kindOf(request)) {
      case 'approval':
        return answer.approved === approved && (answer.reason ?? undefined) === (reason ?? undefined)
      case 'input':
        return isDeepStrictEqual(answer.input, input)
      case 'tool':
        return isDeepStrictEqual([answer.output, answer.error], [output, error])
    }
    return false
  })
}

async function pausesOf({ sessions }: AgUiServices, { run_id, session_id }: RunRecord): Promise<Pause[]> {
  const pauses: Pause[] = [{ asked: [] }]
  const { events } = await sessions.history(session_id, 1, true)
  for await (const page of events?.(run_id, ['input_required', 'run_resumed']) ?? []) {
    for (const event of page) {
      if (event.type === 'input_required') pauses.at(-1)?.asked.push(event)
      if (event.type !== 'run_resumed' || event.from !== 'input_required') continue
      Object.assign(pauses.at(-1) as Pause, { resumed: event })
      pauses.push({ asked: [] })
    }
  }
  // The last one is none when the run goes on.
  return pauses.filter(({ asked }) => asked.length > 0)
}

async function ownRun({ runs }: AgUiServices, runId: string, threadId: string): Promise<RunRecord | undefined> {
  try {
    const run = await runs.get(runId)
    return run.session_id === threadId && run.parent_run_id === null ? run : undefined
  } catch (error) {
    if (isAppError(error) && (error.code === 'run_not_found' || error.code === 'session_not_found')) return undefined
    throw error
  }
}

function shortened(id: string): string {
  return id.length > 100 ? `${id.slice(0, 100)}…` : id
}
