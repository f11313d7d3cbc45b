import { isSessionId } from '../../../core/id.ts'
import type { Json } from '../../../core/json.ts'
import type { GivenPart } from '../../../core/message.ts'
import { invalidParams } from './error.ts'
import type { TaskState } from './shapes.ts'

/*
 * What requests say. Fields may have their snake_case names, as ProtoJSON has it, and parts those of either version: a client of
 * 0.3 is understood in 1.0, and unknown fields are ignored.
 */

export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The field of this camelCase name, or of its snake_case one. Null and empty text count as absent, as in ProtoJSON. */
export function field(fields: Fields, name: string): unknown {
  const value =
    own(fields, name) ??
    own(
      fields,
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    )
  return value === null || value === '' ? undefined : value
}

function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

export interface SendParams {
  messageId: string
  parts: GivenPart[]
  taskId: string | undefined
  contextId: string | undefined
  historyLength: number | undefined
  /** Whether the answer comes at once, with the task as it is. */
  returnsAtOnce: boolean
  /** Media types that the client takes; undefined: all. */
  acceptedOutputModes: string[] | undefined
  /** Push notifications that the request asks for. */
  push: Fields | undefined
}

const maxIdLength = 1024

export function readSend(params: Fields): SendParams {
  const message = field(params, 'message')
  if (!isFields(message)) throw invalidParams('message is required', 'message')
  const messageId = textField(message, 'messageId', 'message.messageId')
  if (messageId === undefined) throw invalidParams('message.messageId is required', 'message.messageId')
  const role = field(message, 'role')
  // 1 is the number of ROLE_USER, which ProtoJSON allows.
  if (role !== 'ROLE_USER' && role !== 'user' && role !== 1) {
    throw invalidParams("message.role must be ROLE_USER ('user' in 0.3)", 'message.role')
  }
  const contextId = field(message, 'contextId')
  if (contextId !== undefined && !isSessionId(contextId)) {
    throw invalidParams('message.contextId must be 1 to 128 of A-Z a-z 0-9 . _ : -', 'message.contextId')
  }
  const configuration = field(params, 'configuration') ?? {}
  if (!isFields(configuration)) throw invalidParams('configuration must be an object', 'configuration')
  const push = field(configuration, 'taskPushNotificationConfig') ?? field(configuration, 'pushNotificationConfig')
  if (push !== undefined && !isFields(push)) {
    throw invalidParams('the push config must be an object', 'configuration.taskPushNotificationConfig')
  }
  return {
    messageId,
    parts: readParts(own(message, 'parts')),
    taskId: textField(message, 'taskId', 'message.taskId'),
    contextId,
    historyLength: readCount(configuration, 'historyLength'),
    returnsAtOnce: field(configuration, 'returnImmediately') === true || field(configuration, 'blocking') === false,
    acceptedOutputModes: readModes(configuration),
    push,
  }
}

const mostModes = 64

function readModes(configuration: Fields): string[] | undefined {
  const name = 'acceptedOutputModes'
  const modes = field(configuration, name) ?? []
  const path = `configuration.${name}`
  if (!Array.isArray(modes) || modes.length > mostModes) {
    throw invalidParams(`${path} must be a list of at most ${mostModes} media types`, path)
  }
  const read = modes.flatMap((mode: unknown) => textField({ mode }, 'mode', path) ?? [])
  return read.length === 0 ? undefined : read
}

/** The id of a task, from `id` or another field. */
export function readTaskId(params: Fields, name = 'id'): string {
  const id = textField(params, name, name)
  if (id === undefined) throw invalidParams(`${name} is required`, name)
  return id
}

/** A count that is not negative; undefined: not given. */
export function readCount(fields: Fields, name: string): number | undefined {
  const given = field(fields, name)
  if (given === undefined) return undefined
  // A query has texts only.
  const count = typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : given
  if (Number.isSafeInteger(count) && Number(count) >= 0) return Number(count)
  throw invalidParams(`${name} must be a whole number that is not negative`, name)
}

const states: Readonly<Record<string, TaskState>> = {
  TASK_STATE_SUBMITTED: 'TASK_STATE_SUBMITTED',
  TASK_STATE_WORKING: 'TASK_STATE_WORKING',
  TASK_STATE_INPUT_REQUIRED: 'TASK_STATE_INPUT_REQUIRED',
  TASK_STATE_COMPLETED: 'TASK_STATE_COMPLETED',
  TASK_STATE_FAILED: 'TASK_STATE_FAILED',
  TASK_STATE_CANCELED: 'TASK_STATE_CANCELED',
}
/** States of the specification in which no task of ours is. */
const otherStates = ['TASK_STATE_REJECTED', 'TASK_STATE_AUTH_REQUIRED']

export interface ListParams {
  contextId: string | undefined
  /** `none`: one that no task has. */
  state: TaskState | 'none' | undefined
  pageSize: number
  pageToken: string | undefined
  historyLength: number | undefined
  /** Milliseconds. */
  changedAfter: number | undefined
  artifacts: boolean
}

export function readList(params: Fields): ListParams {
  const pageSize = readCount(params, 'pageSize') ?? 50
  if (pageSize < 1 || pageSize > 100) throw invalidParams('pageSize must be from 1 to 100', 'pageSize')
  const token = field(params, 'pageToken')
  if (token !== undefined && typeof token !== 'string') throw invalidParams('pageToken must be a text', 'pageToken')
  const after = field(params, 'statusTimestampAfter')
  const changedAfter = after === undefined ? undefined : Date.parse(String(after))
  if (Number.isNaN(changedAfter)) throw invalidParams('statusTimestampAfter must be a time', 'statusTimestampAfter')
  const artifacts = field(params, 'includeArtifacts')
  return {
    contextId: textField(params, 'contextId', 'contextId'),
    state: readState(field(params, 'status')),
    pageSize,
    pageToken: token,
    historyLength: readCount(params, 'historyLength'),
    changedAfter,
    artifacts: artifacts === true || artifacts === 'true',
  }
}

function readState(given: unknown): ListParams['state'] {
  if (given === undefined || given === 'TASK_STATE_UNSPECIFIED') return undefined
  const state = typeof given === 'string' && Object.hasOwn(states, given) ? states[given] : undefined
  if (state !== undefined) return state
  if (otherStates.includes(String(given))) return 'none'
  throw invalidParams('status must be a TASK_STATE_…', 'status')
}

export function textField(fields: Fields, name: string, path: string, most = maxIdLength): string | undefined {
  const value = field(fields, name)
  if (value === undefined) return undefined
  // A database can't keep half a character, nor NUL.
  const isPlain = typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
  if (isPlain && value.length <= most) return value
  throw invalidParams(`${path} must be a text of at most ${most} characters`, path)
}

function readParts(value: unknown): GivenPart[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw invalidParams('message.parts must have at least one part', 'message.parts')
  }
  return value.map((part: unknown, index) => {
    const path = `message.parts.${index}`
    if (!isFields(part)) throw invalidParams(`${path} must be an object`, path)
    return readPart(part, path)
  })
}

const contents = ['text', 'raw', 'url', 'data'] as const

function readPart(part: Fields, path: string): GivenPart {
  if (own(part, 'kind') === 'file') return readFile03(part, path)
  const present = contents.filter((name) => (own(part, name) ?? undefined) !== undefined)
  // The value of `data` may be null.
  const isNull = present.length === 0 && own(part, 'data') === null
  const [content] = isNull ? (['data'] as const) : present
  if (content === undefined || present.length > 1) {
    throw invalidParams(`${path} must have exactly one of text, raw, url and data`, path)
  }
  const value = part[content]
  if (content === 'data') return { type: 'data', data: unwrapped(part, value) }
  if (typeof value !== 'string') throw invalidParams(`${path}.${content} must be a text`, `${path}.${content}`)
  if (content === 'text') return { type: 'text', text: value }
  return toFile(content, value, field(part, 'mediaType'), field(part, 'filename'), path)
}

/** What 0.3 can't have in a data part comes as the `value` of an object. */
function unwrapped(part: Fields, value: unknown): Json {
  const metadata = own(part, 'metadata')
  const isWrapped = isFields(metadata) && metadata.data_part_compat === true && isFields(value) && 'value' in value
  return (isWrapped ? value.value : value) as Json
}

function readFile03(part: Fields, path: string): GivenPart {
  const file = own(part, 'file')
  if (!isFields(file)) throw invalidParams(`${path}.file must be an object`, `${path}.file`)
  const bytes = own(file, 'bytes')
  const uri = own(file, 'uri')
  if ((typeof bytes === 'string') === (typeof uri === 'string')) {
    throw invalidParams(`${path}.file must have either bytes or uri`, `${path}.file`)
  }
  const isRaw = typeof bytes === 'string'
  return toFile(isRaw ? 'raw' : 'url', String(isRaw ? bytes : uri), field(file, 'mimeType'), field(file, 'name'), path)
}

function toFile(content: 'raw' | 'url', value: string, mediaType: unknown, name: unknown, path: string): GivenPart {
  if (mediaType !== undefined && typeof mediaType !== 'string') {
    throw invalidParams(`${path}.mediaType must be a text`, `${path}.mediaType`)
  }
  if (name !== undefined && typeof name !== 'string') {
    throw invalidParams(`${path}.filename must be a text`, `${path}.filename`)
  }
  const about = { media_type: mediaType ?? 'application/octet-stream', ...(name !== undefined && { name }) }
  return content === 'raw' ? { type: 'file', ...about, data: value } : { type: 'file', ...about, url: value }
}
