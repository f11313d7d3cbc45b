import {
  type InputRequired,
  isFinalEvent,
  type RunEvent,
  type RunResumedEvent,
  type SourceEvent,
  type Stamp,
} from '../../../core/event.ts'
import type { JsonObject } from '../../../core/json.ts'
import { addToParts, type Part as RunPart } from '../../../core/message.ts'
import type { RunRecord } from '../../../core/run.ts'
import { toWaiting } from '../../../core/waiting.ts'
import type { SentFile } from '../../files.ts'
import type { Projection, ShownEvent } from '../../projection.ts'
import type { Part, StatusUpdate, Task, TaskStatus, Update } from './shapes.ts'
import { artifactId, artifactOf, type FileUrl, historyOf, lastOf, statusOf, toPart } from './task.ts'

/** How updates and errors leave. */
export interface Writer {
  update(update: Update): string
  error(error: unknown): string
}

const mark = '\u0001'

/**
 * A run as the stream of a task: the task, then what is added to it. Before `open` events are only taken in, so that the task has them.
 * The answer is one artifact, whose parts are in nothing else.
 */
export class TaskProjection implements Projection {
  readonly #run: RunRecord
  readonly #writer: Writer
  readonly #fileUrl: FileUrl
  readonly #task: Task
  readonly #sources: SourceEvent[] = []
  /** Of the stretch. */
  #requests: InputRequired[] = []
  #isOpen = false
  /** The answer before `open`. */
  #parts: RunPart[] = []
  #hasAnswer = false
  #texts: [before: string, after: string] | undefined

  /** `run`: only what stays the same from its start to its end counts, and whether it is queued. */
  constructor(run: RunRecord, writer: Writer, fileUrl: FileUrl, historyLength?: number) {
    this.#run = run
    this.#writer = writer
    this.#fileUrl = fileUrl
    const history = lastOf(historyOf(run, fileUrl), historyLength)
    const status = statusOf({ ...run, status: run.status === 'queued' ? 'queued' : 'running' })
    this.#task = { id: run.run_id, contextId: run.session_id, status, ...(history.length > 0 && { history }) }
  }

  /** The parts of the answer that `open` shows. */
  get parts(): readonly RunPart[] {
    return this.#parts
  }

  /** Takes an event in without a frame. */
  fold(event: RunEvent): void {
    const status = this.#follow(event)
    if (status !== undefined) this.#task.status = status
    addToParts(this.#parts, event)
  }

  /** The first frame: the task so far. `contents`: of its files. */
  open(contents: ReadonlyMap<RunPart, SentFile> = new Map()): string {
    this.#isOpen = true
    const task = { ...this.#task }
    if (this.#parts.length > 0) {
      this.#hasAnswer = true
      const parts = this.#parts.map((part) => toPart(contents.get(part) ?? part, task.contextId, this.#fileUrl))
      task.artifacts = [artifactOf(parts, this.#sources)]
    }
    this.#parts = []
    return this.#writer.update({ task })
  }

  add(event: ShownEvent): string {
    if (event.type === 'text_delta') return event.text === '' ? '' : this.#text(event.text)
    if (event.type === 'data' || event.type === 'file') {
      return this.#artifact([toPart(event, this.#task.contextId, this.#fileUrl)], false)
    }
    if (event.type === 'run_start' && !this.#isOpen) {
      this.#task.status = { state: 'TASK_STATE_WORKING', timestamp: event.at }
      return this.open()
    }
    const pause = event.type === 'run_resumed' ? this.#pauseOf(event) : ''
    const status = this.#follow(event)
    if (status === undefined) return pause + this.#step(event)
    const isOver = isFinalEvent(event) && status.state !== 'TASK_STATE_INPUT_REQUIRED'
    const last = isOver && this.#hasAnswer ? this.#artifact([{ text: '' }], true) : ''
    return pause + last + this.#status(status)
  }

  broken(error: unknown): string {
    return this.#writer.error(error)
  }

  /** The status that an event brings. */
  #follow(event: ShownEvent): TaskStatus | undefined {
    if (event.type === 'run_start') return { state: 'TASK_STATE_WORKING', timestamp: event.at }
    if (event.type === 'run_resumed') {
      this.#requests = []
      return { state: 'TASK_STATE_WORKING', timestamp: event.at }
    }
    if (event.type === 'source') this.#sources.push(event)
    else if (event.type === 'input_required') this.#requests.push(event)
    else if (event.type === 'run_error') {
      return statusOf({ ...this.#run, status: 'failed', error: event.error, completed_at: event.at })
    } else if (event.type === 'run_end') {
      const { status, cancellation_reason: reason = null, at } = event
      return this.#ended(status, at, reason)
    }
    return undefined
  }

  #ended(status: RunRecord['status'], at: string, reason: string | null = null): TaskStatus {
    const waiting = status === 'input_required' ? toWaiting(this.#requests) : []
    return statusOf({
      ...this.#run,
      status,
      error: null,
      cancellation_reason: reason,
      waiting,
      completed_at: at,
    })
  }

  /** The end of the stretch before, which the record of a resumed run has no more. */
  #pauseOf({ paused, from }: RunResumedEvent & Stamp): string {
    if (paused === undefined || from !== 'input_required') return ''
    return this.#status(this.#ended('input_required', paused.at))
  }

  #step(event: ShownEvent): string {
    if (event.type !== 'step_start' && event.type !== 'step_end') return ''
    const step: JsonObject = { step_id: event.step_id }
    if (event.type === 'step_start') {
      step.name = event.name
      if (event.parent_id !== undefined) step.parent_id = event.parent_id
    }
    step.status = event.type === 'step_start' ? 'started' : event.status
    return this.#status({ state: 'TASK_STATE_WORKING', timestamp: event.at }, { step })
  }

  #status(status: TaskStatus, metadata?: JsonObject): string {
    const { id: taskId, contextId } = this.#task
    const statusUpdate: StatusUpdate = { taskId, contextId, status, ...(metadata && { metadata }) }
    return this.#writer.update({ statusUpdate })
  }

  #artifact(parts: Part[], lastChunk: boolean): string {
    const { id: taskId, contextId } = this.#task
    const append = this.#hasAnswer
    this.#hasAnswer = true
    const artifact = lastChunk ? artifactOf(parts, this.#sources) : { artifactId, parts }
    return this.#writer.update({ artifactUpdate: { taskId, contextId, artifact, append, lastChunk } })
  }

  /** Most events are texts, and differ in nothing else. */
  #text(text: string): string {
    if (!this.#hasAnswer) return this.#artifact([{ text }], false)
    if (this.#texts === undefined) {
      const frame = this.#artifact([{ text: mark }], false)
      const quoted = JSON.stringify(mark)
      // The id of the request comes earlier, and may be the mark too.
      const at = frame.lastIndexOf(quoted)
      this.#texts = [frame.slice(0, at), frame.slice(at + quoted.length)]
    }
    return this.#texts[0] + JSON.stringify(text) + this.#texts[1]
  }
}
