import type { SourceEvent } from '../../../core/event.ts'
import type { Json, JsonObject } from '../../../core/json.ts'
import type { FilePart, Part as RunPart } from '../../../core/message.ts'
import type { Run, RunRecord, RunStatus, Waiting } from '../../../core/run.ts'
import { explainEnd } from '../../explain-end.ts'
import type { SentFile } from '../../files.ts'
import type { Artifact, Message, Part, Task, TaskState, TaskStatus } from './shapes.ts'

const states: Record<RunStatus, TaskState> = {
  queued: 'TASK_STATE_SUBMITTED',
  running: 'TASK_STATE_WORKING',
  input_required: 'TASK_STATE_INPUT_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  interrupted: 'TASK_STATE_FAILED',
  cancelled: 'TASK_STATE_CANCELED',
}

/** The statuses of runs that are this state. */
export function statusesOf(state: TaskState): RunStatus[] {
  return (Object.keys(states) as RunStatus[]).filter((status) => states[status] === state)
}

/** A run with an error ends with it, whatever its status. */
function statusWithError({ status, error }: Pick<Run, 'status' | 'error'>): RunStatus {
  return error === null ? status : 'failed'
}

export function stateOf(run: Pick<Run, 'status' | 'error'>): TaskState {
  return states[statusWithError(run)]
}

/** Where a file of a session is read; absolute. */
export type FileUrl = (sessionId: string, fileId: string) => string

type StatusFields = Pick<
  Run,
  | 'run_id'
  | 'session_id'
  | 'status'
  | 'error'
  | 'cancellation_reason'
  | 'waiting'
  | 'created_at'
  | 'started_at'
  | 'completed_at'
>

/** Ids of messages are derived, so that they are the same whenever the task is read. */
export function statusOf(run: StatusFields): TaskStatus {
  const { created_at: createdAt, started_at: startedAt } = run
  const status = statusWithError(run)
  const state = states[status]
  if (status === 'queued') return { state, timestamp: createdAt }
  if (status === 'running') return { state, timestamp: startedAt ?? createdAt }
  const timestamp = run.completed_at ?? createdAt
  if (status === 'completed') return { state, timestamp }
  const isPaused = status === 'input_required'
  const parts = isPaused ? run.waiting.flatMap(toQuestion) : [{ text: explainEnd({ ...run, status }) }]
  const messageId = isPaused ? `msg_wait_${run.run_id}_${Date.parse(timestamp)}` : `msg_end_${run.run_id}`
  const message: Message = {
    messageId,
    contextId: run.session_id,
    taskId: run.run_id,
    role: 'ROLE_AGENT',
    // A record of an earlier version does not say what it waits for.
    parts: parts.length > 0 ? parts : [{ text: 'The task is waiting for input.' }],
  }
  return { state, message, timestamp }
}

/** The question as text, and what a program needs to answer it. */
function toQuestion({ prompt, child_run_id: _child, ...request }: Waiting): Part[] {
  return [{ text: prompt }, { data: request as unknown as JsonObject }]
}

/** The input message. Files are named by their address. */
export function historyOf(run: RunRecord, fileUrl: FileUrl): Message[] {
  const { run_id: taskId, session_id: contextId } = run
  return run.messages.flatMap(({ message_id: messageId, role, parts }): Message[] =>
    role === 'user'
      ? [
          {
            messageId,
            contextId,
            taskId,
            role: 'ROLE_USER',
            parts: parts.map((part) => toPart(part, contextId, fileUrl)),
          },
        ]
      : [],
  )
}

/** A part of a message or answer; a file with its content if that is here. */
export function toPart(part: Exclude<RunPart, FilePart> | SentFile, sessionId: string, fileUrl: FileUrl): Part {
  if (part.type === 'text') return { text: part.text }
  if (part.type === 'data') return { data: part.data }
  const { media_type: mediaType, name, data, file_id: fileId, url } = part
  const about = { ...(name !== undefined && { filename: name }), mediaType }
  if (data !== undefined) return { raw: data, ...about }
  return { url: url ?? fileUrl(sessionId, fileId ?? ''), ...about }
}

/** The whole answer is one artifact. */
export const artifactId = 'response'

export function artifactOf(parts: Part[], sources: readonly SourceEvent[]): Artifact {
  return { artifactId, parts, ...(sources.length > 0 && { metadata: { sources: toSources(sources) } }) }
}

function toSources(sources: readonly SourceEvent[]): Json {
  const fields = ['index', 'source', 'document_id', 'chunk_id', 'line_start', 'line_end', 'page'] as const
  return sources.map((source) => {
    const shown: JsonObject = {}
    for (const field of fields) {
      const value = source[field]
      if (value !== undefined) shown[field] = value
    }
    return shown
  })
}

/** The parts of the answer, so far. */
export function answerParts({ messages }: RunRecord): RunPart[] {
  return messages.flatMap(({ role, parts }) => (role === 'assistant' ? parts : []))
}

export interface TaskView {
  /** How many of the latest messages; undefined: all. */
  historyLength?: number | undefined
  artifacts: boolean
  /** Contents of its files. */
  contents: ReadonlyMap<RunPart, SentFile>
  fileUrl: FileUrl
}

export function toTask(run: RunRecord, { historyLength, artifacts, contents, fileUrl }: TaskView): Task {
  const task: Task = { id: run.run_id, contextId: run.session_id, status: statusOf(run) }
  const parts = artifacts ? answerParts(run) : []
  if (parts.length > 0) {
    const shown = parts.map((part) => toPart(contents.get(part) ?? part, run.session_id, fileUrl))
    task.artifacts = [artifactOf(shown, run.sources)]
  }
  const history = lastOf(historyOf(run, fileUrl), historyLength)
  if (history.length > 0) task.history = history
  return task
}

export function lastOf<T>(items: readonly T[], count: number | undefined): T[] {
  return items.slice(count === undefined ? 0 : Math.max(0, items.length - count))
}
