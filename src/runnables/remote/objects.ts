import { createHash } from 'node:crypto'
import { AppError } from '../../core/error.ts'
import type { Json } from '../../core/json.ts'
import { isDeeper } from '../../runtime/json-size.ts'
import { isObject } from '../../schema/field.ts'

/* What a server of A2A 1.0 or 0.3 sends, in one form. All of it is checked, and what is not known is left out. */

export type TaskState =
  | 'working'
  | 'completed'
  | 'failed'
  | 'canceled'
  | 'rejected'
  | 'input_required'
  | 'auth_required'

export type PeerPart =
  | { type: 'text'; text: string }
  | { type: 'data'; data: Json }
  | { type: 'file'; raw?: string; url?: string; name?: string; mediaType?: string }

export interface PeerStatus {
  state: TaskState
  /** Of its message. */
  parts: PeerPart[]
  /** Equal for a status that says the same. */
  key: string
  at: string | undefined
}

export interface PeerArtifact {
  id: string
  parts: PeerPart[]
}

export type PeerEvent =
  | {
      type: 'task'
      taskId: string
      contextId: string | undefined
      status: PeerStatus
      artifacts: PeerArtifact[]
      /** The last thing that the agent said in its history. */
      said: PeerPart[]
    }
  | { type: 'status'; taskId: string | undefined; contextId: string | undefined; status: PeerStatus }
  | {
      type: 'artifact'
      taskId: string | undefined
      contextId: string | undefined
      artifact: PeerArtifact
      append: boolean
    }
  | { type: 'message'; contextId: string | undefined; parts: PeerPart[] }

/** Half of what a run's events may have. */
const deepest = 250
const maxArtifacts = 1000
const longestId = 512
const longestTime = 64

/** The error for what a peer sent; `what` follows "it sent". */
export function wrongAnswer(what: string): AppError {
  return new AppError('run_failed', `it sent ${what}`)
}

/** One event of a stream, or the answer to a message. Throws `run_failed`. */
export function readEvent(value: unknown): PeerEvent {
  const event = objectOf(value, 'an event')
  if (isDeeper(event, deepest)) throw wrongAnswer(`an event that is nested deeper than ${deepest} levels`)
  if (isObject(event.task)) return readTask(event.task)
  if (isObject(event.message)) return readReply(event.message)
  if (isObject(event.statusUpdate)) return readStatusUpdate(event.statusUpdate)
  if (isObject(event.artifactUpdate)) return readArtifactUpdate(event.artifactUpdate)
  switch (event.kind) {
    case 'task':
      return readTask(event)
    case 'message':
      return readReply(event)
    case 'status-update':
      return readStatusUpdate(event)
    case 'artifact-update':
      return readArtifactUpdate(event)
  }
  if ('status' in event && 'id' in event) return readTask(event)
  throw wrongAnswer('neither a task nor a message')
}

function readTask(task: Record<string, unknown>): PeerEvent {
  const artifacts = listOf(task.artifacts, 'artifacts')
  if (artifacts.length > maxArtifacts) throw wrongAnswer(`a task with more than ${maxArtifacts} artifacts`)
  const said = listOf(task.history, 'history').findLast((one) => isObject(one) && isAgent(one.role))
  const taskId = idOf(task.id)
  if (taskId === undefined) throw wrongAnswer('a task without an id')
  return {
    type: 'task',
    taskId,
    contextId: idOf(task.contextId),
    status: readStatus(task.status),
    artifacts: artifacts.map(readArtifact),
    said: isObject(said) ? readParts(said.parts) : [],
  }
}

function readReply(message: Record<string, unknown>): PeerEvent {
  return { type: 'message', contextId: idOf(message.contextId), parts: readParts(message.parts) }
}

function readStatusUpdate(event: Record<string, unknown>): PeerEvent {
  const { taskId, contextId, status } = event
  return { type: 'status', taskId: idOf(taskId), contextId: idOf(contextId), status: readStatus(status) }
}

function readArtifactUpdate(event: Record<string, unknown>): PeerEvent {
  return {
    type: 'artifact',
    taskId: idOf(event.taskId),
    contextId: idOf(event.contextId),
    artifact: readArtifact(event.artifact),
    append: event.append === true,
  }
}

function readArtifact(value: unknown): PeerArtifact {
  const { artifactId, parts } = objectOf(value, 'an artifact')
  return { id: idOf(artifactId) ?? '', parts: readParts(parts) }
}

function readStatus(value: unknown): PeerStatus {
  const { state, message, timestamp } = objectOf(value, "a task's status")
  const parts = isObject(message) ? readParts(message.parts) : []
  const key = hashOf(JSON.stringify([state, parts]))
  return {
    state: stateOf(state),
    parts,
    key,
    at: typeof timestamp === 'string' ? timestamp.slice(0, longestTime) : undefined,
  }
}

const states: Readonly<Record<string, TaskState>> = {
  completed: 'completed',
  failed: 'failed',
  canceled: 'canceled',
  cancelled: 'canceled',
  rejected: 'rejected',
  input_required: 'input_required',
  auth_required: 'auth_required',
}

/** A state that is not known is no end. */
function stateOf(state: unknown): TaskState {
  if (typeof state !== 'string') throw wrongAnswer('a task whose state is not a text')
  const name = state
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('-', '_')
  return Object.hasOwn(states, name) ? (states[name] ?? 'working') : 'working'
}

function isAgent(role: unknown): boolean {
  return role === 'ROLE_AGENT' || role === 'agent'
}

function readParts(value: unknown): PeerPart[] {
  return listOf(value, 'parts').map(readPart)
}

function readPart(value: unknown): PeerPart {
  const part = objectOf(value, 'a part')
  if (typeof part.text === 'string') return { type: 'text', text: part.text }
  if (isObject(part.file)) return readFile(part.file.bytes, part.file.uri, part.file.name, part.file.mimeType)
  if (typeof part.raw === 'string' || typeof part.url === 'string')
    return readFile(part.raw, part.url, part.filename, part.mediaType)
  if ('data' in part) return { type: 'data', data: unwrapped(part) }
  throw wrongAnswer('a part that is neither text, data nor a file')
}

/** What 0.3 can't have as data is the `value` of an object, as the official SDK marks it. */
function unwrapped({ data, metadata }: Record<string, unknown>): Json {
  const isWrapped = isObject(metadata) && metadata.data_part_compat === true && isObject(data) && 'value' in data
  return (isWrapped ? data.value : data) as Json
}

function readFile(raw: unknown, url: unknown, name: unknown, mediaType: unknown): PeerPart {
  return {
    type: 'file',
    ...(typeof raw === 'string' ? { raw } : typeof url === 'string' ? { url } : {}),
    ...(typeof name === 'string' && { name }),
    ...(typeof mediaType === 'string' && { mediaType }),
  }
}

function objectOf(value: unknown, what: string): Record<string, unknown> {
  if (!isObject(value)) throw wrongAnswer(`${what} that is not an object`)
  return value
}

function listOf(value: unknown, what: string): unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw wrongAnswer(`${what} that are not a list`)
  return value
}

/** Ids go into addresses, headers and the record. */
function idOf(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string' || value.length > longestId) {
    throw wrongAnswer(`an id that is not a text of at most ${longestId} characters`)
  }
  return value
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text, 'utf16le').digest('base64url').slice(0, 22)
}
