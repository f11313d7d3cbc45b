import { stripVTControlCharacters } from 'node:util'
import { AppError } from '../../core/error.ts'
import type { InputRequired } from '../../core/event.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { type CallAnswer, type WaitingKind, waitingKinds } from '../../core/run.ts'
import type { Resumption } from '../../core/runnable.ts'
import { answerTo, isTaskOfAnother, kindOf, remoteTaskOf } from '../../core/waiting.ts'
import { isObject } from '../../schema/field.ts'
import { assertJsonSchema } from '../../schema/json-schema.ts'
import { type PeerPart, type PeerStatus, wrongAnswer } from './objects.ts'
import { TaskAnswer } from './task-answer.ts'

/* A task that waits for input is a pause of our run; the answer to our run is a message to the task. */

const longestPrompt = 4000
const longestCallId = 1000
const copied =
  'This run is a copy, and the task of the remote agent that it waits for belongs to the original. Start a new run.'
const noPrompt = 'The remote agent needs input.'
const longestTool = 200
const maxRequests = 100

/** The requests of a task of the peer `target` that waits. The first one's `messages` have what is needed to go on. */
export async function toRequests(status: PeerStatus, answer: TaskAnswer, target: string): Promise<InputRequired[]> {
  const described = await describedIn(status.parts)
  if (described.length > maxRequests) throw wrongAnswer(`more than ${maxRequests} requests for input`)
  const data = status.parts.flatMap((part) => (part.type === 'data' ? [part.data] : []))
  const prompt = textIn(status.parts) || noPrompt
  const inWords: InputRequired = { type: 'input_required', kind: 'input', prompt, ...dataOf(data) }
  const [first = inWords, ...others] = described
  const ids = described.flatMap(({ call_id }) => (call_id === undefined ? [] : [call_id]))
  if (new Set(ids).size < ids.length) throw wrongAnswer('two requests for input with the same `call_id`')
  const own = { ...answer.toJson(), target, described: described.length > 0 }
  return [{ ...first, messages: { remote: own } }, ...others]
}

/** What an agentserve asks: each request is its prompt and data that says what it waits for. */
async function describedIn(parts: readonly PeerPart[]): Promise<InputRequired[]> {
  const requests: InputRequired[] = []
  let before: PeerPart[] = []
  for (const part of parts) {
    if (part.type === 'data' && isRequest(part.data)) {
      requests.push(await toRequest(part.data, textIn(before) || noPrompt))
      before = []
    } else before.push(part)
  }
  return requests
}

/** A task as it was when this run paused, and the answer to it. Undefined in a run that has not paused for its task. */
export function resumedTask(resumed: Resumption | undefined): { answer: TaskAnswer; reply: PeerPart[] } | undefined {
  const events = resumed?.events.slice(0, -1) ?? []
  const start = events.findLastIndex((event) => event.type === 'input_required' && isObject(remoteTaskOf(event)))
  const first = events[start]
  if (resumed === undefined || first?.type !== 'input_required') return undefined
  const task = remoteTaskOf(first)
  if (isTaskOfAnother(task)) throw new AppError('run_failed', copied)
  const answer = TaskAnswer.from(task)
  if (answer === undefined) throw new AppError('run_failed', 'the record of its pause is not sound')
  const requests = events.slice(start).filter((event) => event.type === 'input_required')
  const { described } = task as JsonObject
  return { answer, reply: described === true ? [toAnswers(requests, resumed)] : toReply(first, resumed) }
}

type Described = JsonObject & { kind: WaitingKind }

function isRequest(data: Json): data is Described {
  return isObject(data) && waitingKinds.some((kind) => kind === data.kind)
}

async function toRequest({ kind, call_id, tool, data, schema }: Described, prompt: string): Promise<InputRequired> {
  const request: InputRequired = { type: 'input_required', kind, prompt }
  if (typeof call_id === 'string') {
    if (call_id.length > longestCallId) throw wrongAnswer(`a \`call_id\` of more than ${longestCallId} characters`)
    request.call_id = call_id
  } else if (kind === 'tool') throw wrongAnswer('a call of a tool without `call_id`')
  if (typeof tool === 'string') request.tool = plain(tool).slice(0, longestTool)
  if (data !== undefined) request.data = data
  if (isObject(schema) && (await isSchema(schema as JsonObject))) request.schema = schema as JsonObject
  return request
}

/** What can't be read is no help for the person who answers. */
async function isSchema(schema: JsonObject): Promise<boolean> {
  try {
    await assertJsonSchema(schema, 'schema')
    return true
  } catch {
    return false
  }
}

function dataOf(data: readonly Json[]): { data?: Json } {
  const [first] = data
  if (first === undefined) return {}
  return { data: data.length === 1 ? first : [...data] }
}

const fieldsOf: Record<WaitingKind, readonly (keyof CallAnswer)[]> = {
  approval: ['approved', 'input', 'reason'],
  input: ['input'],
  tool: ['output', 'error'],
}

/** For an agentserve, as its own runs are resumed. */
function toAnswers(requests: readonly InputRequired[], resumed: Resumption): PeerPart {
  const answers: [callId: string, answer: JsonObject][] = []
  const all: JsonObject = {}
  for (const request of requests) {
    const given = answerTo(request.call_id, resumed)
    const kind = kindOf(request)
    const fields = fieldsOf[kind].flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]] as const]))
    // A decision is enough where no particular input is asked for.
    if (kind === 'input' && fields.length === 0 && given.approved !== undefined) all.approved = given.approved
    else if (request.call_id === undefined) Object.assign(all, Object.fromEntries(fields))
    else answers.push([request.call_id, Object.fromEntries(fields)])
  }
  return { type: 'data', data: answers.length === 0 ? all : { ...all, answers: Object.fromEntries(answers) } }
}

function toReply({ call_id }: InputRequired, resumed: Resumption): PeerPart[] {
  const { approved, input } = answerTo(call_id, resumed)
  if (typeof input === 'string') return [{ type: 'text', text: input }]
  if (input !== undefined) return [{ type: 'data', data: input }]
  return [
    { type: 'text', text: approved === true ? 'approve' : 'deny' },
    { type: 'data', data: { approved: approved === true } },
  ]
}

/** The texts of a status, for people: bounded, without control codes. */
export function textIn(parts: readonly PeerPart[]): string {
  return plain(parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'))
}

function plain(text: unknown): string {
  if (typeof text !== 'string') return ''
  return stripVTControlCharacters(text.slice(0, longestPrompt * 2))
    .replace(/[^\P{Cc}\n]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, ' ')
    .trim()
    .slice(0, longestPrompt)
}
