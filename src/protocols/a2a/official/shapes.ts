import type { Json, JsonObject } from '../../../core/json.ts'

/* The objects of A2A 1.0, as they are sent. `version03` makes those of 0.3 from them. */

export interface Part {
  text?: string
  /** Base64. */
  raw?: string
  url?: string
  data?: Json
  filename?: string
  mediaType?: string
}

export interface Message {
  messageId: string
  contextId: string
  taskId: string
  role: 'ROLE_USER' | 'ROLE_AGENT'
  parts: Part[]
}

export type TaskState =
  | 'TASK_STATE_SUBMITTED'
  | 'TASK_STATE_WORKING'
  | 'TASK_STATE_INPUT_REQUIRED'
  | 'TASK_STATE_COMPLETED'
  | 'TASK_STATE_FAILED'
  | 'TASK_STATE_CANCELED'

export interface TaskStatus {
  state: TaskState
  message?: Message
  timestamp: string
}

export interface Artifact {
  artifactId: string
  parts: Part[]
  metadata?: JsonObject
}

export interface Task {
  id: string
  contextId: string
  status: TaskStatus
  artifacts?: Artifact[]
  history?: Message[]
}

export interface StatusUpdate {
  taskId: string
  contextId: string
  status: TaskStatus
  metadata?: JsonObject
}

export interface ArtifactUpdate {
  taskId: string
  contextId: string
  artifact: Artifact
  append: boolean
  lastChunk: boolean
}

/** One event of a stream. */
export type Update = { task: Task } | { statusUpdate: StatusUpdate } | { artifactUpdate: ArtifactUpdate }

/** Whether the stream of a task ends in this state: it is over, or a person has to answer. */
export function endsStream(state: TaskState): boolean {
  return state !== 'TASK_STATE_SUBMITTED' && state !== 'TASK_STATE_WORKING'
}

/** Whether the task never changes again. */
export function isTerminal(state: TaskState): boolean {
  return endsStream(state) && state !== 'TASK_STATE_INPUT_REQUIRED'
}
