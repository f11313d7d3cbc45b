import type { InputRequired, RunEvent } from './event.ts'
import type { Json } from './json.ts'
import { refusedData } from './refusal.ts'
import type { CallAnswer, Waiting, WaitingKind } from './run.ts'
import type { Resumption } from './runnable.ts'

/*
 * What a paused run waits for, and what answers it. A parent asks the requests of its child runs again under ids that
 * name the child, so that two children may ask by the same name. Each level of child runs adds one run id.
 */

/** The answer to everything that a paused run waits for. */
export type Answer = Pick<Resumption, 'approved' | 'input' | 'answers'>

/** What answers a request. Records of earlier versions don't say it. */
export function kindOf(request: Pick<InputRequired, 'kind' | 'call_id' | 'schema'>): WaitingKind {
  return request.kind ?? (request.call_id === undefined || request.schema !== undefined ? 'input' : 'approval')
}

/** What a run asked for since it started or was last resumed. */
export function openRequests(events: readonly RunEvent[]): InputRequired[] {
  const last = events.findLastIndex((event) => event.type === 'run_resumed')
  return events.slice(last + 1).filter((event) => event.type === 'input_required')
}

/** The answer to one request. What `answers` has for it takes precedence over what is said of all. */
export function answerTo(callId: string | undefined, { approved, input, answers }: Answer): CallAnswer {
  const own = atId(answers, callId)
  const decision = typeof approved === 'object' ? atId(approved, callId) : approved
  return { ...own, approved: own?.approved ?? decision, input: own?.input ?? input }
}

/** `data` and schemas in `waiting`, as JSON; the events have all of them. */
const maxPieceBytes = 64 * 1024
const maxBytes = 256 * 1024

/** The requests as a run shows them. Data and schemas that are too large are left out. */
export function toWaiting(requests: readonly InputRequired[]): Waiting[] {
  let left = maxBytes
  const fits = (value: unknown) => {
    if (value === undefined) return false
    const bytes = new TextEncoder().encode(JSON.stringify(value)).length
    const isSmall = bytes <= Math.min(left, maxPieceBytes)
    if (isSmall) left -= bytes
    return isSmall
  }
  return requests.map((request) => {
    const { call_id, child_run_id, tool, prompt, data, schema } = request
    const waiting: Waiting = { kind: kindOf(request), prompt }
    if (call_id !== undefined) waiting.call_id = call_id
    if (child_run_id !== undefined) waiting.child_run_id = child_run_id
    if (tool !== undefined) waiting.tool = tool
    if (data !== undefined && fits(data)) waiting.data = data
    if (schema !== undefined && fits(schema)) waiting.schema = schema
    return waiting
  })
}

/** In place of a task of a remote agent, in the checkpoint of a copied run. */
const taskOfAnother = { copied: true }

/**
 * The event in a copy of its run: a task of a remote agent belongs to the original alone. Otherwise two runs, or one that somebody
 * has made up, would go on with it.
 */
export function withoutRemoteTask(event: RunEvent): RunEvent {
  if (event.type !== 'input_required' || remoteTaskOf(event) === undefined) return event
  return { ...event, messages: { remote: taskOfAnother } }
}

/** What an agent keeps of the task of a remote agent that it waits for. */
export function remoteTaskOf({ messages }: Pick<InputRequired, 'messages'>): Json | undefined {
  return typeof messages === 'object' && messages !== null && !Array.isArray(messages) ? messages.remote : undefined
}

/** Whether the run is a copy, which has no part in the task. */
export function isTaskOfAnother(remote: Json | undefined): boolean {
  return typeof remote === 'object' && remote !== null && 'copied' in remote
}

/** Without what may repeat a refused input. */
export function refuseWaiting(waiting: readonly Waiting[]): Waiting[] {
  return waiting.map((one) => (one.data === undefined ? one : { ...one, data: refusedData }))
}

/** The request of a child run as its parent emits it. Without a `call_id`, its id is the child's run id. */
export function requestOfChild(
  childRunId: string,
  { messages: _messages, after: _after, ...request }: InputRequired,
): InputRequired {
  const { call_id: own } = request
  return {
    ...request,
    call_id: own === undefined ? childRunId : `${childRunId}/${own}`,
    child_run_id: childRunId,
    kind: kindOf(request),
  }
}

/**
 * The part of an answer that is for one child run, with the child's own ids. `asked` are the parent's requests that the
 * answer is for. What is said of all is said to each child. A parent that paused before ids named the child passes on the
 * whole answer.
 */
export function answerForChild(childRunId: string, answer: Answer, asked: readonly InputRequired[]): Answer {
  const theirs = new Set(asked.flatMap((request) => (request.child_run_id === childRunId ? [request.call_id] : [])))
  if (theirs.size === 0) return answer
  const { approved, input, answers } = answer
  const decisions = Object.entries(typeof approved === 'object' ? approved : {})
  const given: Record<string, CallAnswer> = {
    ...Object.fromEntries(decisions.map(([id, yes]) => [id, { approved: yes }])),
    ...answers,
  }
  const whole = atId(given, childRunId)
  const prefix = `${childRunId}/`
  // A model may give a call of the parent an id that begins like theirs.
  const inside = Object.entries(given).filter(([id]) => id.startsWith(prefix) && theirs.has(id))
  return {
    approved: whole?.approved ?? (typeof approved === 'boolean' ? approved : undefined),
    input: whole?.input ?? input,
    ...(inside.length > 0 && {
      answers: Object.fromEntries(inside.map(([id, value]) => [id.slice(prefix.length), value])),
    }),
  }
}

function atId<T>(byId: Readonly<Record<string, T>> | undefined, id: string | undefined): T | undefined {
  return byId !== undefined && id !== undefined && Object.hasOwn(byId, id) ? byId[id] : undefined
}
